import type { Subcommand } from '../subcommand.js';
import { toCommandWords, toOptionWords, type ArgumentWord, type CommandWords, type OptionWord } from './command-words.js';
import { globalOptions, groupSummaries, helpOption, versionOption } from './help-text.js';

/** Kinds of words that `berth __complete KIND WORD` lists. */
export const askedKinds = ['session', 'mode', 'model', 'request'] as const;
export type AskedKind = (typeof askedKinds)[number];

/**
 * What a value or an argument can be, for a completion script: kinds to ask for, separated by spaces, `dir` or `file`, or `words` and the
 * words that are there. Empty for a text of one's own.
 */
type ValueKind = string;

/** A word to choose and what it means. */
export interface CompletionWord {
  word: string;
  text: string;
}

/** What completion scripts know, by the name of a command: of all of them (empty), a group, or one. */
export interface CompletionTable {
  commands: Map<string, CompletionWord[]>;
  options: Map<string, CompletionWord[]>;
  /** By the name of a command and an option, or the number of an argument, from 1; `*` is for all further ones. */
  values: Map<string, ValueKind>;
}

const valueKinds: Record<string, ValueKind> = {
  session: 'session',
  mode: 'mode',
  model: 'model',
  'provider/model': 'model',
  request: 'request',
  dir: 'dir',
  path: 'file',
  place: 'words last',
  provider: 'words anthropic openai',
  shell: 'words bash zsh fish',
  action: 'words edit rm hold release move clear resume',
};
/** Commands whose session can be left out before another word. */
const sessionOr: Record<string, ValueKind> = { mode: 'session mode', model: 'session model' };

export function createCompletionTable(subcommands: readonly Subcommand[]): CompletionTable {
  const all = subcommands.map(toCommandWords);
  const groups = Object.entries(groupSummaries);
  const everywhere = [...toOptionWords(globalOptions), ...toOptionWords(Object.fromEntries([helpOption]))];
  const table: CompletionTable = { commands: new Map(), options: new Map(), values: new Map() };
  const alone = all.filter(({ name }) => !name.includes(' '));
  table.commands.set('', [...alone, ...groups.map(([name, summary]) => ({ name, summary }))].map(toWord));
  table.options.set('', [...everywhere, ...toOptionWords(Object.fromEntries([versionOption]))].flatMap(toWords));
  for (const [group] of groups) {
    table.commands.set(
      group,
      all
        .filter(({ name }) => name.startsWith(`${group} `))
        .map(({ name, summary }) => toWord({ name: name.slice(group.length + 1), summary })),
    );
    table.options.set(group, everywhere.flatMap(toWords));
  }
  for (const command of all) {
    const options = [...command.options, ...everywhere];
    table.options.set(command.name, options.flatMap(toWords));
    for (const [key, kind] of [...optionValues(command, options), ...argumentValues(command)]) table.values.set(key, kind);
  }
  for (const { flags, value } of everywhere) {
    for (const flag of flags) if (value !== undefined) table.values.set(` ${flag}`, kindOf(value));
  }
  return table;
}

function toWord({ name, summary }: { name: string; summary: string }): CompletionWord {
  return { word: name, text: summary };
}

function toWords({ flags, text }: OptionWord): CompletionWord[] {
  return flags.map((word) => ({ word, text }));
}

function kindOf(value: string): ValueKind {
  return value.includes('|') ? `words ${value.replaceAll('|', ' ')}` : (valueKinds[value] ?? '');
}

function optionValues({ name }: CommandWords, options: readonly OptionWord[]): [key: string, kind: ValueKind][] {
  return options.flatMap(({ flags, value }) =>
    value === undefined ? [] : flags.map((flag): [string, ValueKind] => [`${name} ${flag}`, kindOf(value)]),
  );
}

function argumentValues({ name, args }: CommandWords): [key: string, kind: ValueKind][] {
  return args.flatMap(({ name: argument, isVariadic }: ArgumentWord, at): [string, ValueKind][] => {
    const kind = at === 0 ? (sessionOr[name] ?? kindOf(argument)) : kindOf(argument);
    return [[`${name} ${at + 1}`, kind], ...(isVariadic ? [[`${name} *`, kind] as [string, ValueKind]] : [])];
  });
}
