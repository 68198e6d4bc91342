/** The arguments that say best what a call of a known tool does. */
const telling: Partial<Record<string, readonly string[]>> = {
  read: ['path'],
  write: ['path'],
  edit: ['path'],
  ls: ['path'],
  glob: ['pattern', 'path'],
  grep: ['pattern', 'path'],
  tool_output: ['artifact_id', 'pattern'],
  ask_user: ['title', 'message'],
  todo: [],
};

/**
 * A tool call in one line for people: `$ command`, `write path`, or the name and its arguments, never JSON. What it quotes may hold
 * anything, so it must be made printable before it is shown.
 */
export function toolHeadline(name: string, args: Record<string, unknown>): string {
  if (name === 'bash' && typeof args.command === 'string') return `$ ${args.command}`;
  const known = telling[name];
  if (known) return [name, ...known.flatMap((key) => (args[key] === undefined ? [] : [toWords(args[key])]))].join(' ');
  const said = Object.entries(args).map(([key, value]) => `${key}: ${toWords(value)}`);
  return [name, ...(said.length === 0 ? [] : [said.join(', ')])].join(' ');
}

function toWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(toWords).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, inner]) => `${key}: ${toWords(inner)}`)
    .join(', ');
}
