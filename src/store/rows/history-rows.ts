import { textOf } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { CompactionFacts, ContentBlock, Message } from '../../protocol/messages.js';
import { contentOf, factsOf, type EntryRow } from './entry-row.js';
import type { Database } from '../sqlite.js';

/** An entry as a model is given it. Its message is whole, however long it is. */
export interface HistoryEntry {
  message: Message;
  content: ContentBlock[];
  /** It was kept when the newest summary was made: what follows the summary was said in other company. */
  isBeforeSummary: boolean;
}

/** A history that can be extended when its leaf has moved on. */
export interface ReadHistory {
  leafId: string | null;
  entries: readonly HistoryEntry[];
  /** Of the stored content of its entries. */
  bytes: number;
  /** Entries that were looked at, also those that a summary stands for. */
  walked: number;
}

/** The histories that models are given. */
export function createHistoryRows(db: Database) {
  // The text of a message with content of its own is in that content already.
  const byId = db.prepare<[string], EntryRow>(
    `SELECT no, id, session_id, parent_id, role, run_id, turn_kind, content, iif(content IS NULL, text, '') AS text, bytes, model,
       stop_reason, usage, tool_call_id, tool_name, is_error, skipped, compaction, at_ms FROM entry WHERE id = ?`,
  );

  function* pathUp(leafId: string | null): Generator<EntryRow, void> {
    let walked = 0;
    for (let id = leafId; id !== null && walked < limits.contextMessagesMax; walked++) {
      const row = byId.get(id);
      if (!row) return;
      yield row;
      id = row.parent_id;
    }
  }

  /**
   * What a model is given: the newest messages of the path, whole, oldest first. The newest summary comes first and stands for
   * what was before the oldest message that it kept; older summaries are part of it.
   */
  function readHistory(leafId: string | null): ReadHistory {
    const rows: EntryRow[] = [];
    let summary: EntryRow | undefined;
    let firstKept: string | undefined;
    let bytes = 0;
    let walked = 0;
    for (const row of pathUp(leafId)) {
      walked++;
      if (row.compaction !== null) {
        summary ??= row;
        firstKept ??= (JSON.parse(row.compaction) as CompactionFacts).first_kept_entry_id;
        continue;
      }
      if (bytes + row.bytes > limits.contextBytesMax && rows.length > 0) break;
      bytes += row.bytes;
      rows.push(row);
      if (row.id === firstKept) break;
    }
    const all = [...(summary ? [summary] : []), ...rows.reverse()];
    return { leafId, entries: all.map((row) => toEntry(row, summary !== undefined && row.no < summary.no)), bytes, walked };
  }

  /** The history at a later leaf, of which only what is new is read. Undefined when it is not the known one with more at its end. */
  function extendHistory(known: ReadHistory, leafId: string | null): ReadHistory | undefined {
    if (known.leafId === null) return undefined;
    const rows: EntryRow[] = [];
    let { bytes, walked } = known;
    for (const row of pathUp(leafId)) {
      if (row.id === known.leafId) {
        return { leafId, entries: [...known.entries, ...rows.reverse().map((newer) => toEntry(newer, false))], bytes, walked };
      }
      bytes += row.bytes;
      walked++;
      // A summary stands for what is known, and at the bounds the oldest would have to go.
      if (row.compaction !== null || bytes > limits.contextBytesMax || walked > limits.contextMessagesMax) return undefined;
      rows.push(row);
    }
    return undefined;
  }

  return { readHistory, extendHistory, history: (leafId: string | null): readonly HistoryEntry[] => readHistory(leafId).entries };
}

function toEntry(row: EntryRow, isBeforeSummary: boolean): HistoryEntry {
  const content = contentOf(row);
  return { message: { ...factsOf(row), text: textOf(content), content }, content, isBeforeSummary };
}
