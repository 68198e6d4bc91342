import { limits } from '../../protocol/limits.js';
import type { ContentBlock, CompactionTrigger } from '../../protocol/messages.js';
import type { HistoryEntry } from '../../store/rows/history-rows.js';
import { contextSize, entrySize, keptTokensMax } from './context-size.js';

/** Which part of a history a summary is to replace. */
export interface CompactionPlan {
  /** The text of the previous summary, which the new summary includes. */
  earlier: string | undefined;
  replaced: HistoryEntry[];
  kept: HistoryEntry[];
  tokensBefore: number;
}

/**
 * Where to cut the history: the newest entries within a bound are kept whole, and never a result without its call. Undefined when a
 * summary would replace nothing, or too little.
 */
export function planCompaction(
  history: readonly HistoryEntry[],
  trigger: CompactionTrigger,
  window: number | null,
): CompactionPlan | undefined {
  const [first, ...rest] = history;
  const earlier = first?.message.role === 'compaction' ? first.message.text : undefined;
  const entries = earlier === undefined ? history : rest;
  const cut = findCut(entries, keptTokensMax(window), trigger !== 'threshold');
  if (cut === undefined) return undefined;
  const replaced = entries.slice(0, cut);
  const gain = replaced.reduce((sum, { content }) => sum + entrySize(content), 0);
  if (trigger === 'threshold' && gain < limits.compactGainTokensMin) return undefined;
  return { earlier, replaced, kept: entries.slice(cut), tokensBefore: contextSize(history) };
}

/**
 * The index of the first entry that is kept. A manual compaction cuts even if the whole history would fit: then only the entries from
 * the last message of a person on are kept.
 */
function findCut(entries: readonly HistoryEntry[], tokensMax: number, insists: boolean): number | undefined {
  let tokens = 0;
  let cut: number | undefined;
  for (let index = entries.length - 1; index > 0; index--) {
    const entry = entries[index];
    if (!entry) break;
    tokens += entrySize(entry.content);
    if (entry.message.role === 'tool_result') continue;
    // The newest index where a cut is possible is always accepted, however long the kept entries are.
    if (cut !== undefined && tokens > tokensMax) return cut;
    cut = index;
  }
  if (!insists) return tokens + entrySize(entries[0]?.content ?? []) > tokensMax ? cut : undefined;
  const lastUser = entries.findLastIndex(({ message }) => message.role === 'user');
  return lastUser > 0 ? lastUser : cut === undefined || entries.length < 3 ? undefined : cut;
}

const emptyContent = '(nothing)';

/** The replaced entries as a record to summarise: long results are truncated, and the oldest entries that do not fit are left out. */
export function toRecord(replaced: readonly HistoryEntry[], charsMax: number): string {
  const lines: string[] = [];
  let left = charsMax;
  for (const { message, content } of replaced.toReversed()) {
    const who =
      message.role === 'tool_result' ? `result of ${message.tool_name ?? 'a tool'}` : message.role === 'user' ? 'person' : 'agent';
    const line = `[${who}]\n${content.map(toRecordText).filter(Boolean).join('\n') || emptyContent}`;
    left -= line.length;
    if (left < 0) {
      lines.push('[the oldest part of the record was left out]');
      break;
    }
    lines.push(line);
  }
  // Escape the closing tag: no text in the record can end it.
  return lines.reverse().join('\n\n').replaceAll('</record>', '< /record>');
}

function toRecordText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return clip(block.text);
    case 'tool_call':
      return `(calls ${block.name} with ${clip(JSON.stringify(block.arguments))})`;
    case 'image':
      return '(an image)';
    case 'thinking':
      return '';
  }
}

/** Truncates the middle of a text: its beginning and end are most informative. */
function clip(text: string): string {
  const max = limits.compactResultCharsMax;
  if (text.length <= max) return text;
  const half = max / 2;
  return `${text.slice(0, half)}\n… ${text.length - max} characters were left out …\n${text.slice(-half)}`.toWellFormed();
}
