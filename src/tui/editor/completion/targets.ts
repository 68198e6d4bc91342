import { limits } from '../../../protocol/limits.js';
import { readMention, type MentionSyntax } from '../mentions.js';
import type { Position } from '../text-buffer.js';

export interface CommandEntry {
  /** Without its slash. */
  readonly name: string;
  readonly summary: string;
  readonly aliases?: readonly string[];
  /** Shown behind the name, such as `<model>`. */
  readonly argumentHint?: string;
  /** Candidates for the argument, which are then filtered by the query in text and detail. */
  complete?(query: string): readonly CompletionItem[];
}

export interface CompletionItem {
  readonly text: string;
  readonly detail?: string;
}

/** What is being written at the cursor. */
export type CompletionTarget =
  { kind: 'command'; query: string } | { kind: 'argument'; command: string; query: string } | { kind: 'path'; query: string };

/** A target with the place that a completion replaces, in the line of the cursor. */
export interface PlacedTarget {
  target: CompletionTarget;
  from: number;
  to: number;
  command?: CommandEntry;
  mention?: MentionSyntax;
}

/** Finds what can be completed at the cursor. */
export function findTarget(line: string, cursor: Position, commands: () => readonly CommandEntry[]): PlacedTarget | undefined {
  return (cursor.line === 0 ? findCommand(line, cursor.unit, commands) : undefined) ?? findPath(line, cursor.unit);
}

function findCommand(line: string, unit: number, commands: () => readonly CommandEntry[]): PlacedTarget | undefined {
  if (!line.startsWith('/') || unit === 0) return undefined;
  const word = /^\/\S*/.exec(line)?.[0] ?? '';
  if (unit <= word.length) return { target: { kind: 'command', query: line.slice(1, unit) }, from: 0, to: word.length };
  const name = word.slice(1);
  const command = commands().find((entry) => entry.name === name || entry.aliases?.includes(name));
  if (!command) return undefined;
  const from = word.length + (/^\s*/.exec(line.slice(word.length, unit))?.[0].length ?? 0);
  const target = { kind: 'argument', command: command.name, query: line.slice(from, unit) } as const;
  // A path in an argument is completed as a path.
  return findPath(line, unit) ?? { target, from, to: line.length, command };
}

/** The nearest mention before the cursor that reaches to it. */
function findPath(line: string, unit: number): PlacedTarget | undefined {
  const earliest = Math.max(0, unit - limits.pathBytesMax);
  for (let at = line.lastIndexOf('@', unit - 1); at >= earliest; at = at === 0 ? -1 : line.lastIndexOf('@', at - 1)) {
    const isSpaced = /\s/.test(line.slice(at, unit));
    if (isSpaced && line[at + 1] !== '"') continue;
    const mention = readMention(line, at, line[at + 1] === '"' ? 0 : unit);
    if (!mention || mention.end < unit) continue;
    const query = unit < mention.pathEnd ? (readMention(line.slice(0, unit), at, unit)?.path ?? '') : mention.path;
    return { target: { kind: 'path', query }, from: mention.pathStart, to: mention.pathEnd, mention };
  }
  return undefined;
}
