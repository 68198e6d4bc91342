import { textOf } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { CompactionFacts, ContentBlock, Message } from '../../protocol/messages.js';
import { contentOf, factsOf, type EntryRow } from './entry-row.js';
import type { Database } from '../sqlite.js';

/** An entry for a model request. Its message is never truncated. */
export interface HistoryEntry {
  message: Message;
  content: ContentBlock[];
  /** Written before the newest summary: its thinking signatures are invalid now. */
  isBeforeSummary: boolean;
}

/** A history that can be extended when its leaf has moved. */
export interface ReadHistory {
  leafId: string | null;
  entries: readonly HistoryEntry[];
  /** Bytes of the stored content of its entries. */
  bytes: number;
  /** Entries that were read, also summaries. */
  walked: number;
}

/** Reads histories for model requests. */
export function createHistoryRows(db: Database) {
  // The text column is read only where content is NULL: otherwise the content has the text. Models are not told the details of a call.
  const byId = db.prepare<[string], EntryRow>(
    `SELECT no, id, session_id, parent_id, role, run_id, turn_kind, content, iif(content IS NULL, text, '') AS text, bytes, model,
       stop_reason, usage, tool_call_id, tool_name, is_error, skipped, NULL AS details, compaction, at_ms FROM entry WHERE id = ?`,
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
   * The newest messages of the path within the limits, oldest first. The newest summary comes first and replaces the messages before the
   * oldest one that it kept; older summaries are part of it.
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

  /** Extends a cached history to a later leaf: only new entries are read. Undefined when the leaf is no descendant of the cached leaf. */
  function extendHistory(cached: ReadHistory, leafId: string | null): ReadHistory | undefined {
    if (cached.leafId === null) return undefined;
    const rows: EntryRow[] = [];
    let { bytes, walked } = cached;
    for (const row of pathUp(leafId)) {
      if (row.id === cached.leafId) {
        return { leafId, entries: [...cached.entries, ...rows.reverse().map((newer) => toEntry(newer, false))], bytes, walked };
      }
      bytes += row.bytes;
      walked++;
      // A new summary replaces cached entries, and at the limits the oldest would have to be removed: read the history anew.
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
