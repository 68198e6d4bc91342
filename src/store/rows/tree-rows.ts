import { limits } from '../../protocol/limits.js';
import type { Role } from '../../protocol/messages.js';
import type { Database } from '../sqlite.js';

export interface TreeNode {
  id: string;
  parent_id: string | null;
  role: Role;
  snippet: string;
}

/** The tree of a session: its own entries, and those that it shares with the session it was branched from. */
export function createTreeRows(db: Database) {
  const tree = db.prepare<[Record<string, unknown>], TreeNode>(
    `WITH RECURSIVE shared (no, parent_id) AS (
       SELECT no, parent_id FROM entry WHERE id = :base
       UNION SELECT e.no, e.parent_id FROM shared JOIN entry e ON e.id = shared.parent_id)
     SELECT id, parent_id, role, substr(text, 1, :chars) AS snippet FROM (
       SELECT no, id, parent_id, role, text FROM entry WHERE session_id = :session
       UNION SELECT e.no, e.id, e.parent_id, e.role, e.text FROM shared JOIN entry e USING (no))
       WHERE :before IS NULL OR no < (SELECT no FROM entry WHERE id = :before)
       ORDER BY no DESC LIMIT :limit`,
  );
  return {
    /** The newest nodes, or those before one of them; oldest first. */
    nodes(sessionId: string, baseId: string | null, before?: string): { nodes: TreeNode[]; hasMore: boolean } {
      const rows = tree.all({
        ...{ session: sessionId, base: baseId, before: before ?? null },
        ...{ chars: limits.snippetCharsMax, limit: limits.treeNodesMax + 1 },
      });
      return { nodes: rows.slice(0, limits.treeNodesMax).reverse(), hasMore: rows.length > limits.treeNodesMax };
    },
  };
}
