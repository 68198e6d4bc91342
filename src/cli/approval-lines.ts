import type { UiRequest } from '../protocol/events.js';
import { printableLine } from '../view/printable.js';
import { shortId } from '../view/short-ids.js';
import { clipLines, paintDiff, type ClippedLines } from './clipped-lines.js';
import { shortenHome } from './home-path.js';
import type { Style } from './style.js';

/** What a call that waits for a person's yes would do, below its title. */
export function describeApproval({ params }: UiRequest, style: Style, linesMax: number): ClippedLines {
  const command = textOf(params.command);
  const diff = textOf(params.diff);
  const parts: ClippedLines[] = [
    toLines(describeAsker(params)),
    command === '' ? describeCall(params, diff !== '', linesMax) : describeCommand(command, style, linesMax),
    ...(diff === '' ? [] : [describeDiff(diff, style, linesMax)]),
    ...(params.diff_is_cut === true && linesMax === Infinity ? [describeArguments(params.args)] : []),
    describeReasons(textOf(params.message), command, linesMax),
    toLines(command === '' ? [] : [describeConfinement(params, style)]),
  ];
  return {
    lines: parts.flatMap(({ lines }) => lines),
    missing: parts.flatMap(({ missing }) => (missing === '' ? [] : [missing])).join(', '),
  };
}

function describeAsker({ asked_by: asker, workspace }: UiRequest['params']): string[] {
  if (typeof asker !== 'object' || asker === null) return [];
  const { session_id: id, title, model } = asker as Record<string, unknown>;
  const named = textOf(title) === '' ? shortId(textOf(id)) : `${textOf(title)} (${shortId(textOf(id))})`;
  const where = textOf(workspace) === '' ? '' : ` in ${shortenHome(textOf(workspace))}`;
  return [printableLine(`asked by ${named}, ${textOf(model)}${where}`)];
}

/** Each line has a mark, so that nothing in a command looks like a line of ours. */
function describeCommand(command: string, style: Style, linesMax: number): ClippedLines {
  const { lines, missing } = clipLines(command, linesMax);
  const more = missing === '' ? [] : [style.red(`  [this is not the whole command: ${missing}]`)];
  return { lines: [...lines.map((line, at) => style.bold(`${at === 0 ? '$' : '|'} ${line}`)), ...more], missing };
}

/** A diff says what becomes of a file, so of the arguments only the path is left to be said. */
function describeCall({ tool_name: tool, args }: UiRequest['params'], hasDiff: boolean, linesMax: number): ClippedLines {
  if (textOf(tool) === '') return toLines([]);
  const path = typeof args === 'object' && args !== null ? textOf((args as Record<string, unknown>).path) : '';
  if (hasDiff && path !== '') return toLines([printableLine(`${textOf(tool)} ${path}`)]);
  return clipLines(`${textOf(tool)} ${JSON.stringify(args ?? {})}`, linesMax);
}

function describeDiff(diff: string, style: Style, linesMax: number): ClippedLines {
  const { lines, missing } = clipLines(diff, linesMax);
  const more = missing === '' ? [] : [style.red(`  [this is not the whole change: ${missing}]`)];
  return { lines: [...lines.map((line) => paintDiff(line, style)), ...more], missing };
}

/** All of the arguments, each line with a mark: for a diff that leaves something out. */
function describeArguments(args: unknown): ClippedLines {
  const each = Object.entries(typeof args === 'object' && args !== null ? args : {});
  return toLines(
    each.flatMap(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
      return [`all of ${printableLine(name)}:`, ...clipLines(text, Infinity).lines.map((line) => `| ${line}`)];
    }),
  );
}

/** Why it is asked and what else is to be known. The message begins with the command, which was shown. */
function describeReasons(message: string, command: string, linesMax: number): ClippedLines {
  const rest = command !== '' && message.startsWith(command) ? message.slice(command.length).replace(/^\n/, '') : message;
  return rest.trim() === '' ? toLines([]) : clipLines(rest, linesMax);
}

function describeConfinement({ sandboxed, network }: UiRequest['params'], style: Style): string {
  const net = network === true ? 'with the network' : 'without the network';
  return sandboxed === true ? `[in a sandbox, ${net}]` : style.red(`[not in a sandbox, ${net}]`);
}

function toLines(lines: string[]): ClippedLines {
  return { lines, missing: '' };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
