import type { EventPayload } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import { clipLine, clipText } from '../clip-text.js';

/** The main arguments of built-in tools, for headlines. */
const mainArguments = new Map<string, readonly string[]>(
  Object.entries({
    read: ['path'],
    write: ['path'],
    edit: ['path'],
    ls: ['path'],
    glob: ['pattern', 'path'],
    grep: ['pattern', 'path'],
    tool_output: ['artifact_id', 'pattern'],
    ask_user: ['title', 'message'],
    todo: [],
  }),
);

/**
 * A tool call in one sanitized line: `$ command`, `write path`, or the name and its arguments, never JSON. Truncated, so that a headline must
 * not be the basis of an approval.
 */
export function toolHeadline(name: string, args: Record<string, unknown>): string {
  return toLine(callText(name, args));
}

/** The headline of a started call: its title, unless the arguments say more. */
export function startedHeadline({
  title,
  tool_name,
  args,
}: Pick<EventPayload<'tool_execution_start'>, 'title' | 'tool_name' | 'args'>): string {
  // A title that is only the tool name says nothing, and commands are shown with `$`.
  return title === tool_name || (tool_name === 'bash' && 'command' in args) ? toolHeadline(tool_name, args) : toLine(title);
}

function callText(name: string, args: Record<string, unknown>): string {
  if (name === 'bash' && typeof args.command === 'string') return `$ ${preClip(args.command)}`;
  const keys = mainArguments.get(name);
  if (keys) return [name, ...keys.flatMap((key) => (args[key] === undefined ? [] : [toWords(args[key])]))].join(' ');
  const parts = Object.entries(args).map(([key, value]) => `${key}: ${toWords(value)}`);
  return [name, ...(parts.length === 0 ? [] : [parts.join(', ')])].join(' ');
}

function toWords(value: unknown): string {
  if (Array.isArray(value)) return preClip(value.map(toWords).join(', '));
  if (typeof value !== 'object' || value === null) return preClip(String(value));
  const words = Object.entries(value).map(([key, inner]) => `${key}: ${toWords(inner)}`);
  return preClip(words.join(', '));
}

/** Truncates before sanitizing, which is slower. */
function preClip(text: string): string {
  return clipText(text, 2 * limits.headlineCharsMax);
}

function toLine(text: string): string {
  return clipLine(text, limits.headlineCharsMax);
}
