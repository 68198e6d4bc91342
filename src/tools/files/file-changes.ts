import { limits } from '../../protocol/limits.js';
import type { Target } from './pinned-targets.js';
import { toolText, type ToolResult } from '../port.js';
import { isSame, type ReadMarks } from './read-marks.js';
import { cutLines, type TextDiff } from './unified-diff.js';

export interface ChangeDeps {
  marks: ReadMarks;
}

/** What a session knows of a file: nothing, what is in it now, or what was in it before somebody changed it. */
export function knowledgeOf(marks: ReadMarks, sessionId: string, { current, realPath }: Target): 'unread' | 'known' | 'outdated' {
  if (current === undefined || current.stat.size === 0n) return 'known';
  const mark = marks.find(sessionId, realPath);
  if (mark === undefined) return 'unread';
  return isSame(mark, current.mark) ? 'known' : 'outdated';
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

/** The result of a change: words and a short diff for the model, the whole one for people. */
export function changeResult(words: string, change: TextDiff | undefined, told: boolean): ToolResult {
  if (change === undefined) return toolText(words);
  const { diff, added, removed } = change;
  const details = { diff, counts: { added, removed } };
  return toolText(told ? `${words}\n\n${cutLines(diff, limits.diffToldBytesMax)}` : words, false, details);
}
