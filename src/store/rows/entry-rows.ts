import { artifactIdOf, clipContent } from '../../protocol/clip.js';
import { isPlain, textOf } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { ContentBlock, Message } from '../../protocol/messages.js';
import { contentOf, factsOf, pathUpward, type EntryRow } from './entry-row.js';
import { createHistoryRows } from './history-rows.js';
import { createPageRows } from './page-rows.js';
import type { Database } from '../sqlite.js';

/** Ended messages: an append-only tree. Callers own the transaction. */
export function createEntryRows(db: Database) {
  const insert = db.prepare(`INSERT INTO entry
    (id, session_id, parent_id, role, run_id, turn_kind, content, text, bytes, model, stop_reason, usage, tool_call_id, tool_name, is_error,
     skipped, details, compaction, at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const insertArtifact = db.prepare(
    `INSERT INTO artifact (id, session_id, entry_id, mime_type, bytes, at_ms) VALUES (?, ?, ?, 'text/plain', ?, ?)`,
  );
  const byId = db.prepare<[string], EntryRow>('SELECT * FROM entry WHERE id = ?');
  const roleById = db.prepare<[string], { role: string; parent_id: string | null }>('SELECT role, parent_id FROM entry WHERE id = ?');
  const pathLength = db.prepare<[string, number], number>(`${pathUpward} SELECT count(*) FROM path`).pluck();
  // A child has a higher number than its parent, so the walk ends at the number of the wanted entry.
  const inPath = db
    .prepare<[string, string], number>(
      `WITH RECURSIVE wanted (no) AS MATERIALIZED (SELECT no FROM entry WHERE id = ?),
       path (no, parent_id) AS (
         SELECT no, parent_id FROM entry WHERE id = ?
         UNION ALL SELECT e.no, e.parent_id FROM path JOIN entry e ON e.id = path.parent_id WHERE e.no >= (SELECT no FROM wanted))
       SELECT 1 FROM path WHERE no = (SELECT no FROM wanted)`,
    )
    .pluck();

  function find(id: string): Message | undefined {
    const row = byId.get(id);
    return row && toMessage(row);
  }

  return {
    read: {
      find,
      /** The whole content, however long. */
      contentOf(id: string): ContentBlock[] | undefined {
        const row = byId.get(id);
        return row && contentOf(row);
      },
      ...createPageRows(db, find),
      ...createHistoryRows(db),
      /** The entry that a retry starts from: the last user message, or the summary right after it. */
      retryPoint(leafId: string | null): string | undefined {
        let summaryId: string | undefined;
        for (let id = leafId; id !== null;) {
          const entry = roleById.get(id);
          if (!entry) return undefined;
          if (entry.role === 'user') return summaryId ?? id;
          summaryId = entry.role === 'compaction' ? (summaryId ?? id) : undefined;
          id = entry.parent_id;
        }
        return undefined;
      },
      pathLength: (leafId: string | null): number => (leafId === null ? 0 : (pathLength.get(leafId, limits.pathEntriesMax) ?? 0)),
      isOnPath: (leafId: string | null, id: string): boolean => leafId !== null && inPath.get(id, leafId) !== undefined,
      sessionOf: (id: string): string | undefined => byId.get(id)?.session_id,
    },
    write: {
      insert(sessionId: string, message: Message, atMs: number): void {
        const plain = isPlain(message.content);
        const json = plain ? null : JSON.stringify(message.content);
        const bytes = Buffer.byteLength(json ?? JSON.stringify(message.text));
        insert.run(
          message.id,
          sessionId,
          message.parent_id,
          message.role,
          message.run_id,
          message.turn_kind,
          json,
          message.text,
          bytes,
          message.model,
          message.stop_reason,
          message.usage ? JSON.stringify(message.usage) : null,
          message.tool_call_id ?? null,
          message.tool_name ?? null,
          message.is_error === undefined ? null : Number(message.is_error),
          message.skipped === true ? 1 : null,
          message.details ? JSON.stringify(message.details) : null,
          message.compaction ? JSON.stringify(message.compaction) : null,
          atMs,
        );
        if (bytes > limits.messageInlineBytesMax) {
          insertArtifact.run(artifactIdOf(message.id), sessionId, message.id, Buffer.byteLength(message.text), atMs);
        }
      },
    },
  };
}
export type EntryRows = ReturnType<typeof createEntryRows>;

/** An entry as clients see it: truncated, with an artifact for the whole text, when it is too long for a line. */
function toMessage(row: EntryRow): Message {
  const whole = contentOf(row);
  const facts = factsOf(row);
  if (row.bytes <= limits.messageInlineBytesMax) return { ...facts, text: row.text, content: whole };
  const content = clipContent(whole);
  return { ...facts, text: textOf(content), content, truncated: true, artifact_id: artifactIdOf(row.id) };
}
