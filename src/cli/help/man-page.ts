import type { Subcommand } from '../subcommand.js';
import { toCommandWords, toOptionWords, type OptionWord } from './command-words.js';
import { exitCodes, globalOptions, groupSummaries, helpOption, programSummary, sessionHelp, versionOption } from './help-text.js';

const environment: Record<string, string> = {
  BERTH_SOCKET: 'Where the daemon listens, like --socket.',
  BERTH_STATE_DIR: 'Where its data and log are, like --state-dir.',
  BERTH_CONFIG_DIR: 'Where its config is, like --config-dir.',
  BERTH_LOG_LEVEL: 'The level of the log of a daemon that is started: debug, info, warn or error.',
  BERTH_OFFLINE_WPS: 'The speed of the offline guide in words a second; 0 is as fast as possible.',
  'ANTHROPIC_API_KEY, OPENAI_API_KEY': 'Keys of providers, if the daemon is started with them; berth auth set keeps one.',
  NO_COLOR: 'No colours, if it is set and not empty.',
  TERM: 'With dumb, views print lines and no escape sequences.',
};

const files: Record<string, string> = {
  '~/.config/berth/config.json': 'The config; every key is optional.',
  '~/.config/berth/auth.json': 'Keys that berth auth set has kept, readable by you alone.',
  '~/.local/state/berth/': 'Sessions (berth.db), long outputs (artifacts) and the log (berth.log, rotated to berth.log.1 and so on).',
  '$XDG_RUNTIME_DIR/berth/berth.sock': 'Where the daemon listens, with berth.sock.events beside it.',
};

/** A man page of the whole program, in roff. */
export function toManPage(subcommands: readonly Subcommand[], version: string): string {
  const groups = Object.keys(groupSummaries);
  const lines = [
    `'\\" -*- coding: UTF-8 -*-`,
    `.TH BERTH 1 "" "berth ${escape(version)}" "User Commands"`,
    '.nh',
    '.ad l',
    '.SH NAME',
    `berth \\- ${escape('tmux for coding agents: they run on while you come and go')}`,
    '.SH SYNOPSIS',
    '.B berth',
    '.RI [ command ]\n.RI [ arguments ]\n.RI [ options ]',
    '.SH DESCRIPTION',
    ...paragraphs(`${programSummary}\n\n${sessionHelp}`),
    '.PP',
    text('Every command has --help, and --json where a program would want it.'),
    '.SH COMMANDS',
    ...subcommands.filter(({ usage }) => !groups.includes(firstWord(usage))).flatMap(commandLines),
    ...groups.flatMap((group) => [
      `.SH ${escape(group.toUpperCase())}`,
      text(groupSummaries[group] ?? ''),
      ...subcommands.filter(({ usage }) => firstWord(usage) === group).flatMap(commandLines),
    ]),
    '.SH OPTIONS',
    ...toOptionWords({ ...globalOptions, ...Object.fromEntries([helpOption, versionOption]) }).flatMap(optionLines),
    '.SH EXIT STATUS',
    ...exitCodes.flatMap(([code, meaning]) => item(String(code), meaning)),
    '.PP',
    text('berth run, berth wait and berth permissions test have more, which are named there.'),
    '.SH ENVIRONMENT',
    ...Object.entries(environment).flatMap(([name, meaning]) => item(name, meaning)),
    '.SH FILES',
    ...Object.entries(files).flatMap(([name, meaning]) => item(name, meaning)),
  ];
  return `${lines.join('\n')}\n`;
}

function firstWord(usage: string): string {
  return usage.split(' ')[0] ?? '';
}

function commandLines(subcommand: Subcommand): string[] {
  const { name, args, options, summary } = toCommandWords(subcommand);
  const shown = args.map(({ name: argument, isRequired, isVariadic }) => {
    const word = `\\fI${escape(argument)}\\fR${isVariadic ? '...' : ''}`;
    return isRequired ? word : `[${word}]`;
  });
  const { notes, examples = {} } = subcommand;
  return [
    `.SS ${[`berth ${escape(name)}`, ...shown].join(' ')}`,
    text(summary),
    ...options.flatMap(optionLines),
    ...(notes === undefined ? [] : ['.PP', ...paragraphs(notes)]),
    ...(Object.keys(examples).length === 0 ? [] : ['.PP', 'Examples:']),
    ...Object.entries(examples).flatMap(([command, meaning]) => item(command, meaning)),
  ];
}

function optionLines({ flags, value, text: meaning }: OptionWord): string[] {
  const names = flags.map((flag) => `\\fB${escape(flag)}\\fR`).join(', ');
  return ['.TP', value === undefined ? names : `${names} \\fI${escape(value)}\\fR`, text(meaning)];
}

function item(name: string, meaning: string): string[] {
  return ['.TP', `\\fB${escape(name)}\\fR`, text(meaning)];
}

/** Prose: consecutive lines are one paragraph, indented lines stay as they are. */
function paragraphs(prose: string): string[] {
  const lines: string[] = [];
  let isVerbatim = false;
  for (const line of prose.split('\n')) {
    const isIndented = line.startsWith(' ');
    if (isIndented !== isVerbatim) lines.push(isIndented ? '.nf' : '.fi');
    isVerbatim = isIndented;
    lines.push(line === '' ? '.PP' : text(line));
  }
  return isVerbatim ? [...lines, '.fi'] : lines;
}

/** A line of text, which is no request even if it begins with a dot. */
function text(line: string): string {
  const escaped = escape(line);
  return /^[.' ]/.test(escaped) ? `\\&${escaped}` : escaped;
}

/** Characters that roff would take for something else, or print as something that cannot be copied. */
const escapes: Record<string, string> = { '\\': '\\e', '-': '\\-', "'": '\\(aq', '`': '\\(ga', '^': '\\(ha', '~': '\\(ti', '"': '\\(dq' };

function escape(line: string): string {
  return line.replaceAll(/[\\\-'`^~"]/g, (character) => escapes[character] ?? character);
}
