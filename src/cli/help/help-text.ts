import { alignColumns, columnsOf } from '../terminal/columns.js';
import type { Subcommand } from '../subcommand.js';

const layout = { exampleColumnsMax: 44 } as const;

/** What `--help`, the man page and the completions say of the whole program. */
export const programSummary =
  'Keeps coding agents running while you come and go. With no command: talk to the newest session of this directory.';

/** Options of every command. */
export const globalOptions: Record<string, string> = {
  '--host <host>': 'the daemon of another machine, through ssh: user@box, or a name of hosts in config.json (BERTH_HOST)',
  '--socket <path>': 'where the daemon listens (BERTH_SOCKET)',
  '--state-dir <dir>': 'where its data and log are (BERTH_STATE_DIR)',
  '--config-dir <dir>': 'where its config is (BERTH_CONFIG_DIR)',
};
export const helpOption = ['-h, --help', 'say how this is used'] as const;
export const versionOption = ['-V, --version', 'say which version this is'] as const;

/** The groups of subcommands. */
export const groupSummaries: Record<string, string> = {
  permissions: 'Say what agents may do: list, add, remove and try rules, and see who decided what.',
  auth: 'Keep, list and remove the API keys of providers.',
  config: 'Read, change and check config.json.',
  daemon: 'Run, start, stop and look at the daemon.',
};

export const sessionHelp =
  'A SESSION is named by a unique prefix of its id or of what berth ls calls it, or by . for the newest of this directory ' +
  '(or of the nearest one around it that has any, up to the root of the git repository). With --host, . is the newest session there.';

export const exitCodes: [code: number, meaning: string][] = [
  [0, 'done'],
  [1, 'refused'],
  [64, 'wrong usage'],
  [69, 'no daemon or none that answers'],
  [70, 'a fault of berth'],
];

export const exitHelp =
  `Exit codes: ${exitCodes.map(([code, meaning]) => `${code} ${meaning}`).join(', ')}. ` +
  'With --json an error is one line on standard error: {"error":{"code":"...","message":"..."}}; ' +
  'what is worth knowing beside is {"notice":{"message":"..."}}.';

/** Notes and examples of a subcommand, as they stand below its options. Empty without any. */
export function notesOf({ notes, examples = {} }: Subcommand): string {
  const lines = exampleLines(Object.entries(examples)).map((line) => `  ${line}`);
  const paragraphs = [...(notes === undefined ? [] : [notes]), ...(lines.length === 0 ? [] : [['Examples:', ...lines].join('\n')])];
  return paragraphs.join('\n\n');
}

/** Short examples in a table; long ones have their meaning on the next line. */
function exampleLines(examples: [command: string, meaning: string][]): string[] {
  const isWide = examples.some(([command]) => columnsOf(command) > layout.exampleColumnsMax);
  return isWide ? examples.flatMap(([command, meaning]) => [command, `    ${meaning}`]) : alignColumns(examples);
}
