import { limits } from '../protocol/limits.js';
import type { Role } from '../protocol/messages.js';
import type { Database } from './sqlite.js';

export interface TreeNode {
  id: string;
  parent_id: string | null;
  role: Role;
  snippet: string;
}

export interface SearchHit {
  session_id: string;
  message_id: string;
  role: Role;
  snippet: string;
  created_at: string;
}

/** Reads over many entries: the tree of a session, and the search. */
export function createReading(db: Database) {
  const tree = db.prepare<[Record<string, unknown>], TreeNode>(
    `WITH RECURSIVE shared (no, parent_id) AS (
       SELECT no, parent_id FROM entry WHERE id = :base
       UNION SELECT e.no, e.parent_id FROM shared JOIN entry e ON e.id = shared.parent_id)
     SELECT id, parent_id, role, substr(text, 1, :chars) AS snippet FROM (
       SELECT no, id, parent_id, role, text FROM entry WHERE session_id = :session
       UNION SELECT e.no, e.id, e.parent_id, e.role, e.text FROM shared JOIN entry e USING (no)
       ORDER BY no DESC LIMIT :limit) ORDER BY no`,
  );
  const search = db.prepare<[Record<string, unknown>], { session_id: string; id: string; role: Role; text: string; at_ms: number }>(
    `SELECT e.session_id, e.id, e.role, substr(e.text, 1, :chars) AS text, e.at_ms
     FROM entry_search JOIN entry e ON e.no = entry_search.rowid JOIN session s ON s.id = e.session_id AND s.deleted = 0
     WHERE entry_search MATCH :words AND (:session IS NULL OR e.session_id = :session)
     ORDER BY rank LIMIT :limit`,
  );
  return {
    tree(sessionId: string, baseId: string | null): { nodes: TreeNode[]; hasMore: boolean } {
      const rows = tree.all({ session: sessionId, base: baseId, chars: limits.snippetCharsMax, limit: limits.treeNodesMax + 1 });
      const hasMore = rows.length > limits.treeNodesMax;
      return { nodes: hasMore ? rows.slice(1) : rows, hasMore };
    },
    search(query: string, sessionId: string | undefined, limit: number): { hits: SearchHit[]; hasMore: boolean } {
      const words = toMatch(query);
      if (words === '') return { hits: [], hasMore: false };
      const rows = search.all({ words, session: sessionId ?? null, chars: limits.searchTextCharsMax, limit: limit + 1 });
      const hits = rows.slice(0, limit).map(({ session_id, id, role, text, at_ms }) => ({
        session_id,
        message_id: id,
        role,
        snippet: snippetAround(text, query),
        created_at: new Date(at_ms).toISOString(),
      }));
      return { hits, hasMore: rows.length > limit };
    },
  };
}

/** Words as FTS5 phrases, so that what a person types is never query syntax. */
function toMatch(query: string): string {
  const words = query.normalize('NFC').match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  return words.map((word) => `"${word}"`).join(' ');
}

function snippetAround(text: string, query: string): string {
  const first = (/[\p{L}\p{N}\p{M}_]+/u.exec(query) ?? [''])[0].toLowerCase();
  const at = Math.max(0, text.toLowerCase().indexOf(first) - limits.snippetCharsMax / 2);
  return text.slice(at, at + 2 * limits.snippetCharsMax).toWellFormed();
}
