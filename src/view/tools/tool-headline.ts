import type { EventPayload } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import { clipLine, clipText } from '../clip-text.js';

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
 * A tool call in one printable line for people: `$ command`, `write path`, or the name and its arguments, never JSON. Long ones are cut, so
 * it is not what a person approves a call by.
 */
export function toolHeadline(name: string, args: Record<string, unknown>): string {
  return toLine(callText(name, args));
}

/** The headline of a call that has started: its title, unless its arguments say more. */
export function startedHeadline({
  title,
  tool_name,
  args,
}: Pick<EventPayload<'tool_execution_start'>, 'title' | 'tool_name' | 'args'>): string {
  // A call that never began was not given a title, and that of a command does not look like one.
  return title === tool_name || (tool_name === 'bash' && 'command' in args) ? toolHeadline(tool_name, args) : toLine(title);
}

function callText(name: string, args: Record<string, unknown>): string {
  if (name === 'bash' && typeof args.command === 'string') return `$ ${cut(args.command)}`;
  const known = telling[name];
  if (known) return [name, ...known.flatMap((key) => (args[key] === undefined ? [] : [toWords(args[key])]))].join(' ');
  const said = Object.entries(args).map(([key, value]) => `${key}: ${toWords(value)}`);
  return [name, ...(said.length === 0 ? [] : [said.join(', ')])].join(' ');
}

function toWords(value: unknown): string {
  if (Array.isArray(value)) return cut(value.map(toWords).join(', '));
  if (typeof value !== 'object' || value === null) return cut(String(value));
  const words = Object.entries(value).map(([key, inner]) => `${key}: ${toWords(inner)}`);
  return cut(words.join(', '));
}

/** Enough for a headline, before it is read character by character. */
function cut(text: string): string {
  return clipText(text, 2 * limits.headlineCharsMax);
}

function toLine(text: string): string {
  return clipLine(text, limits.headlineCharsMax);
}
