import { limits } from '../../protocol/limits.js';
import type { ContentBlock, CompactionTrigger } from '../../protocol/messages.js';
import type { HistoryEntry } from '../../store/rows/history-rows.js';
import { contextSize, entrySize, keptTokensMax } from './context-size.js';

/** Which part of a history a summary is to replace. */
export interface CompactionPlan {
  /** The summary before this one, whose words go into the new one. */
  earlier: string | undefined;
  replaced: HistoryEntry[];
  kept: HistoryEntry[];
  tokensBefore: number;
}

/**
 * Where to cut: the newest entries within a bound are kept whole, and never a result without its call. Undefined when there is
 * nothing that a summary could replace, or too little for it to be worth one.
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
 * The index of the first entry that is kept. Whoever asks for a summary gets one even if everything would fit: then only what
 * follows the last message of a person is kept.
 */
function findCut(entries: readonly HistoryEntry[], tokensMax: number, insists: boolean): number | undefined {
  let tokens = 0;
  let cut: number | undefined;
  for (let index = entries.length - 1; index > 0; index--) {
    const entry = entries[index];
    if (!entry) break;
    tokens += entrySize(entry.content);
    if (entry.message.role === 'tool_result') continue;
    // The newest place where a cut is possible is always taken, however long what follows it is.
    if (cut !== undefined && tokens > tokensMax) return cut;
    cut = index;
  }
  if (!insists) return tokens + entrySize(entries[0]?.content ?? []) > tokensMax ? cut : undefined;
  const lastUser = entries.findLastIndex(({ message }) => message.role === 'user');
  return lastUser > 0 ? lastUser : cut === undefined || entries.length < 3 ? undefined : cut;
}

const nobody = '(nothing)';

/** The part that is replaced, as a record to summarise: long results are cut, and the oldest is left out when it does not fit. */
export function toRecord(replaced: readonly HistoryEntry[], charsMax: number): string {
  const lines: string[] = [];
  let left = charsMax;
  for (const { message, content } of replaced.toReversed()) {
    const who =
      message.role === 'tool_result' ? `result of ${message.tool_name ?? 'a tool'}` : message.role === 'user' ? 'person' : 'agent';
    const line = `[${who}]\n${content.map(toWords).filter(Boolean).join('\n') || nobody}`;
    left -= line.length;
    if (left < 0) {
      lines.push('[the oldest part of the record was left out]');
      break;
    }
    lines.push(line);
  }
  // Whatever stands in it, the record ends where it ends.
  return lines.reverse().join('\n\n').replaceAll('</record>', '< /record>');
}

function toWords(block: ContentBlock): string {
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

/** The beginning and the end say most. */
function clip(text: string): string {
  const max = limits.compactResultCharsMax;
  if (text.length <= max) return text;
  const half = max / 2;
  return `${text.slice(0, half)}\n… ${text.length - max} characters were left out …\n${text.slice(-half)}`.toWellFormed();
}
