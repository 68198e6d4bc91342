import type { ApprovalParams } from '../protocol/requests/requests.js';
import { printable, printableLine } from './printable.js';

/** A part of a request card, in reading order. Every text is sanitized; some have several lines. */
export type CardPart =
  | { kind: 'message'; text: string }
  /** The session that asks, its model and workspace. */
  | { kind: 'asker'; sessionId: string; title: string; model: string; workspace: string }
  /** A shell command: the frontend must prefix its lines, so that it cannot imitate the frontend. */
  | { kind: 'command'; text: string }
  /** A tool call that is no command: the tool name with changed files, or with its arguments. */
  | { kind: 'call'; text: string }
  /** The change of a file as a unified diff. */
  | { kind: 'diff'; text: string }
  /** All arguments, for a truncated diff. */
  | { kind: 'arguments'; each: { name: string; text: string }[] }
  /** Why an approval is needed, and notes. */
  | { kind: 'reasons'; text: string }
  | { kind: 'sandbox'; isConfined: boolean; text: string };

/** The parts of an approval: what the tool call would do. */
export function approvalParts(params: ApprovalParams): CardPart[] {
  const { asked_by: asker, workspace, subject, diff, diff_is_cut: isCut, args, why, notes, sandbox } = params;
  const reasons = [why, ...notes].join('\n');
  return [
    {
      kind: 'asker',
      sessionId: asker.session_id,
      title: printableLine(asker.title),
      model: printableLine(asker.model),
      workspace: printableLine(workspace),
    },
    subject.kind === 'command' ? { kind: 'command', text: printable(subject.command) } : { kind: 'call', text: describeCall(params) },
    ...(diff === undefined ? [] : [{ kind: 'diff' as const, text: printable(diff) }]),
    ...(isCut ? [{ kind: 'arguments' as const, each: Object.entries(args).map(toArgument) }] : []),
    ...(reasons.trim() === '' ? [] : [{ kind: 'reasons' as const, text: printable(reasons) }]),
    ...(sandbox ? [toSandboxPart(sandbox)] : []),
  ];
}

/** Describes a tool call: with a diff, only the tool and the written paths. */
function describeCall({ tool_name: tool, args, subject, diff, workspace }: ApprovalParams): string {
  if (subject.kind !== 'paths' || diff === undefined) return printable(`${tool} ${JSON.stringify(args)}`);
  const written = subject.paths.filter(({ access }) => access === 'write').map(({ path }) => withinWorkspace(path, workspace));
  return printableLine(`${tool} ${[...new Set(written)].join(', ')}`);
}

function withinWorkspace(path: string, workspace: string): string {
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
}

function toArgument([name, value]: [string, unknown]): { name: string; text: string } {
  return { name: printableLine(name), text: printable(typeof value === 'string' ? value : JSON.stringify(value, null, 2)) };
}

function toSandboxPart({ kind, network }: NonNullable<ApprovalParams['sandbox']>): CardPart {
  const isConfined = kind === 'sandbox';
  const text = `${isConfined ? 'in' : 'not in'} a sandbox, ${network ? 'with' : 'without'} the network`;
  return { kind: 'sandbox', isConfined, text };
}
