import type { ApprovalParams } from '../protocol/requests.js';
import { printableLine } from '../view/printable.js';
import { shortId } from '../view/short-ids.js';
import { clipLines, paintDiff, type ClippedLines } from './clipped-lines.js';
import { shortenHome } from './home-path.js';
import type { Style } from './style.js';

/** What a call that waits for a person's yes would do, below its title. */
export function describeApproval(params: ApprovalParams, style: Style, linesMax: number): ClippedLines {
  const { subject, diff, diff_is_cut: isCut, args, why, notes, sandbox } = params;
  const parts: ClippedLines[] = [
    toLines([describeAsker(params)]),
    subject.kind === 'command' ? describeCommand(subject.command, style, linesMax) : describeCall(params, linesMax),
    ...(diff === undefined ? [] : [describeDiff(diff, style, linesMax)]),
    ...(isCut && linesMax === Infinity ? [describeArguments(args)] : []),
    describeReasons([why, ...notes].join('\n'), linesMax),
    toLines(sandbox ? [describeSandbox(sandbox, style)] : []),
  ];
  return {
    lines: parts.flatMap(({ lines }) => lines),
    missing: parts.flatMap(({ missing }) => (missing === '' ? [] : [missing])).join(', '),
  };
}

function describeAsker({ asked_by: { session_id: id, title, model }, workspace }: ApprovalParams): string {
  const named = title === '' ? shortId(id) : `${title} (${shortId(id)})`;
  const where = workspace === '' ? '' : ` in ${shortenHome(workspace)}`;
  return printableLine(`asked by ${named}, ${model}${where}`);
}

/** Each line has a mark, so that nothing in a command looks like a line of ours. */
function describeCommand(command: string, style: Style, linesMax: number): ClippedLines {
  const { lines, missing } = clipLines(command, linesMax);
  const more = missing === '' ? [] : [style.red(`  [this is not the whole command: ${missing}]`)];
  return { lines: [...lines.map((line, at) => style.bold(`${at === 0 ? '$' : '|'} ${line}`)), ...more], missing };
}

/** A diff says what becomes of a file, so of the arguments only the path is left to be said. */
function describeCall({ tool_name: tool, args, subject, diff, workspace }: ApprovalParams, linesMax: number): ClippedLines {
  if (subject.kind === 'paths' && diff !== undefined) {
    const paths = subject.paths.filter(({ access }) => access === 'write').map(({ path }) => withinWorkspace(path, workspace));
    return toLines([printableLine(`${tool} ${[...new Set(paths)].join(', ')}`)]);
  }
  return clipLines(`${tool} ${JSON.stringify(args)}`, linesMax);
}

function withinWorkspace(path: string, workspace: string): string {
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
}

function describeDiff(diff: string, style: Style, linesMax: number): ClippedLines {
  const { lines, missing } = clipLines(diff, linesMax);
  const more = missing === '' ? [] : [style.red(`  [this is not the whole change: ${missing}]`)];
  return { lines: [...lines.map((line) => paintDiff(line, style)), ...more], missing };
}

/** All of the arguments, each line with a mark: for a diff that leaves something out. */
function describeArguments(args: ApprovalParams['args']): ClippedLines {
  const each = Object.entries(args);
  return toLines(
    each.flatMap(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
      return [`all of ${printableLine(name)}:`, ...clipLines(text, Infinity).lines.map((line) => `| ${line}`)];
    }),
  );
}

/** Why it is asked and what else is to be known. */
function describeReasons(reasons: string, linesMax: number): ClippedLines {
  return reasons.trim() === '' ? toLines([]) : clipLines(reasons, linesMax);
}

function describeSandbox({ kind, network }: NonNullable<ApprovalParams['sandbox']>, style: Style): string {
  const net = network ? 'with the network' : 'without the network';
  return kind === 'sandbox' ? `[in a sandbox, ${net}]` : style.red(`[not in a sandbox, ${net}]`);
}

function toLines(lines: string[]): ClippedLines {
  return { lines, missing: '' };
}
