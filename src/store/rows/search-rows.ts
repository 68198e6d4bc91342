import { limits } from '../../protocol/limits.js';
import type { Role } from '../../protocol/messages.js';
import type { MetaRows } from './meta-rows.js';
import type { IndexedEntry, PromptRows } from './prompt-rows.js';
import type { Database } from '../sqlite.js';

export interface SearchHit {
  session_id: string;
  message_id: string;
  role: Role;
  snippet: string;
  created_at: string;
}

/**
 * The full-text index (FTS5) of ended messages, and with it the list of prompts. It is updated behind the log, in batches: indexing a message costs more than writing it,
 * and no commit waits for the index. Callers own the transaction.
 */
export function createSearchRows(db: Database, meta: MetaRows, prompts: PromptRows['write']) {
  const unindexed = db.prepare<[number, number, number], IndexedEntry>(
    `SELECT no, role, session_id, (SELECT cwd FROM session WHERE id = session_id AND deleted = 0) AS cwd, substr(text, 1, ?) AS text
     FROM entry WHERE no > ? ORDER BY no LIMIT ?`,
  );
  const add = db.prepare<[number, string]>('INSERT INTO entry_search (rowid, text) VALUES (?, ?)');
  const drop = db.prepare<[number]>('DELETE FROM entry_search WHERE rowid = ?');
  const newest = db.prepare<[], number>('SELECT coalesce(max(no), 0) FROM entry').pluck();
  const find = db.prepare<[Record<string, unknown>], { session_id: string; id: string; role: Role; text: string; at_ms: number }>(
    `SELECT e.session_id, e.id, e.role, substr(e.text, 1, :chars) AS text, e.at_ms
     FROM entry_search JOIN entry e ON e.no = entry_search.rowid JOIN session s ON s.id = e.session_id AND s.deleted = 0
     WHERE entry_search MATCH :words AND (:session IS NULL OR e.session_id = :session)
     ORDER BY rank LIMIT :limit`,
  );
  const mark = (): number => Number(meta.read.get('search_mark') ?? 0);
  const moveMark = (no: number): void => meta.write.set('search_mark', String(no));

  return {
    read: {
      /** True when entries are not indexed yet. */
      isBehind: (): boolean => (newest.get() ?? 0) > mark(),
      search(query: string, sessionId: string | undefined, limit: number): { hits: SearchHit[]; hasMore: boolean } {
        const words = toMatch(query);
        if (words === '') return { hits: [], hasMore: false };
        const rows = find.all({ words, session: sessionId ?? null, chars: limits.searchTextCharsMax, limit: limit + 1 });
        const hits = rows.slice(0, limit).map(({ session_id, id, role, text, at_ms }) => ({
          session_id,
          message_id: id,
          role,
          snippet: snippetAround(text, query),
          created_at: new Date(at_ms).toISOString(),
        }));
        return { hits, hasMore: rows.length > limit };
      },
    },
    write: {
      /** Indexes a batch of entries. */
      indexBatch(): void {
        let chars = 0;
        for (const entry of unindexed.all(limits.searchTextCharsMax, mark(), limits.searchBatchRows)) {
          const { no, text } = entry;
          add.run(no, text);
          prompts.add(entry);
          moveMark(no);
          chars += text.length;
          if (chars > limits.searchBatchCharsMax) break;
        }
      },
      /** Removes deleted entries from the index: their numbers may be reused. */
      forget(nos: number[]): void {
        const read = mark();
        for (const no of nos) {
          if (no > read) continue;
          drop.run(no);
          prompts.forget(no);
        }
        moveMark(Math.min(read, newest.get() ?? 0));
      },
    },
  };
}
export type SearchRows = ReturnType<typeof createSearchRows>;

/** Quotes words as FTS5 phrases: the input is never query syntax. */
function toMatch(query: string): string {
  const words = query.normalize('NFC').match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  return words.map((word) => `"${word}"`).join(' ');
}

function snippetAround(text: string, query: string): string {
  const first = (/[\p{L}\p{N}\p{M}_]+/u.exec(query) ?? [''])[0].toLowerCase();
  const at = Math.max(0, text.toLowerCase().indexOf(first) - limits.snippetCharsMax / 2);
  return text.slice(at, at + 2 * limits.snippetCharsMax).toWellFormed();
}
