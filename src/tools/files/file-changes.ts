import { limits } from '../../protocol/limits.js';
import type { Target } from './pinned-targets.js';
import { toolText, type ToolResult } from '../port.js';
import { isSameVersion, type ReadMarks } from './read-marks.js';
import { truncateDiff, type TextDiff } from './unified-diff.js';

export interface ChangeDeps {
  marks: ReadMarks;
}

/** Whether a session has read a file, and whether its read mark still fits: nothing read, the current version, or an outdated one. */
export function knowledgeOf(marks: ReadMarks, sessionId: string, { current, realPath }: Target): 'unread' | 'known' | 'outdated' {
  if (current === undefined || current.stat.size === 0n) return 'known';
  const mark = marks.find(sessionId, realPath);
  if (mark === undefined) return 'unread';
  return isSameVersion(mark, current.mark) ? 'known' : 'outdated';
}

export function unreadFile(shown: string): string {
  return `${shown} exists and was not read in this session. Read it first.`;
}

export function outdatedFile(shown: string): string {
  return `${shown} was changed since it was read. Read it again.`;
}

export function staleApproval(shown: string): string {
  return `${shown} is not what it was when this call was approved. Read it again and repeat the call.`;
}

/** The result of a file change: words and a truncated diff for the model, the whole diff for people. */
export function changeResult(words: string, change: TextDiff | undefined, withDiff: boolean): ToolResult {
  if (change === undefined) return toolText(words);
  const { diff, added, removed } = change;
  const details = { diff, counts: { added, removed } };
  return toolText(withDiff ? `${words}\n\n${truncateDiff(diff, limits.diffToldBytesMax)}` : words, false, details);
}
