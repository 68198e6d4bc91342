/** A tool call of the offline guide. */
export interface WantedCall {
  name: string;
  args: Record<string, unknown>;
}

const file = String.raw`("[^"\n]+"|'[^'\n]+'|\S+)`;

function unquoted(name: string | undefined): string {
  return name?.replace(/^(["'])(.*)\1$/, '$2') ?? '';
}

/** Phrases for tool calls in the session's directory, matched as a whole. */
const toolPhrases: [RegExp, (match: RegExpExecArray) => WantedCall[]][] = [
  [/^run (\S[^]*) in the background$/i, ([, command]) => [{ name: 'bash', args: { command, background: true } }]],
  [/^run (\S[^]*) with the network$/i, ([, command]) => [{ name: 'bash', args: { command, network: true } }]],
  [/^run (\S[^]*) outside the sandbox$/i, ([, command]) => [{ name: 'bash', args: { command, unsandboxed: true } }]],
  [/^run (\S[^]*)$/i, ([, command]) => [{ name: 'bash', args: { command } }]],
  [/^(?:poll|look at) (bg_\S+)$/i, ([, id]) => [{ name: 'bash', args: { id } }]],
  [/^kill (bg_\S+)$/i, ([, id]) => [{ name: 'bash', args: { id, kill: true } }]],
  [new RegExp(`^read ${file}$`, 'i'), ([, path]) => [{ name: 'read', args: { path: unquoted(path) } }]],
  [
    new RegExp(`^write (\\S[^]*) to ${file}$`, 'i'),
    ([, content, path]) => [{ name: 'write', args: { path: unquoted(path), content: `${content}\n` } }],
  ],
  [
    new RegExp(`^edit ${file}:\\s*(\\S[^]*?)\\s*->\\s*([^]*)$`, 'i'),
    ([, path, from, to]) => [
      // A file must be read before an edit.
      { name: 'read', args: { path: unquoted(path?.replace(/:$/, '')) } },
      { name: 'edit', args: { path: unquoted(path?.replace(/:$/, '')), edits: [{ old_text: from, new_text: to }] } },
    ],
  ],
  [/^list(?: the)? files$/i, () => [{ name: 'ls', args: {} }]],
  [new RegExp(`^list(?: the)? files in ${file}$`, 'i'), ([, path]) => [{ name: 'ls', args: { path: unquoted(path) } }]],
  [new RegExp(`^find ${file}$`, 'i'), ([, pattern]) => [{ name: 'glob', args: { pattern: unquoted(pattern) } }]],
  [new RegExp(`^search for ${file}$`, 'i'), ([, pattern]) => [{ name: 'grep', args: { pattern: unquoted(pattern), literal: true } }]],
  [
    new RegExp(`^search for ${file} in ${file}$`, 'i'),
    ([, pattern, path]) => [{ name: 'grep', args: { pattern: unquoted(pattern), path: unquoted(path), literal: true } }],
  ],
  [
    /^plan (\S[^]*)$/i,
    ([, list = '']) => [
      {
        name: 'todo',
        args: {
          items: list
            .split(/\s*,\s*/)
            .filter(Boolean)
            .map((text) => ({ text, state: 'pending' })),
        },
      },
    ],
  ],
];

export const toolCallHelp = `    run ls                     a command: you are asked first
    run sleep 100              one to abort, or to leave and come back to
    read README.md             also: list files, find README.md, search for boats
    write ahoy to notes.txt    you see the change before it is made
    edit notes.txt: ahoy -> hello`;

/** The syntax of an edit request, as an answer to one that does not match. */
export const editHint = 'Say what to change: edit notes.txt: old words -> new words';

/** The tool calls for a phrase; undefined when no phrase matches. */
export function wantedToolCalls(text: string): WantedCall[] | undefined {
  for (const [pattern, toCalls] of toolPhrases) {
    const match = pattern.exec(text);
    if (match) return toCalls(match);
  }
  return undefined;
}
