import type { CallDetails, CompactionFacts, ContentBlock, Message, Role, StopReason, TurnKind, Usage } from '../../protocol/messages.js';

export interface EntryRow {
  no: number;
  id: string;
  session_id: string;
  parent_id: string | null;
  role: string;
  run_id: string;
  turn_kind: string;
  content: string | null;
  text: string;
  bytes: number;
  model: string | null;
  stop_reason: string | null;
  usage: string | null;
  tool_call_id: string | null;
  tool_name: string | null;
  is_error: number | null;
  skipped: number | null;
  details: string | null;
  compaction: string | null;
  at_ms: number;
}

/** A common table expression `path`: the entries from a leaf to the root. Parameters: the id of the leaf and a limit. */
export const pathUpward = `WITH RECURSIVE path (no, parent_id, depth) AS (
  SELECT no, parent_id, 0 FROM entry WHERE id = ?
  UNION ALL SELECT e.no, e.parent_id, depth + 1 FROM path JOIN entry e ON e.id = path.parent_id LIMIT ?)`;

/** The whole content, however long. */
export function contentOf(row: EntryRow): ContentBlock[] {
  return row.content === null ? [{ type: 'text', text: row.text }] : (JSON.parse(row.content) as ContentBlock[]);
}

/** The fields of an entry without its text and content. */
export function factsOf(row: EntryRow): Omit<Message, 'text' | 'content'> {
  return {
    type: 'message',
    id: row.id,
    parent_id: row.parent_id,
    role: row.role as Role,
    run_id: row.run_id,
    turn_kind: row.turn_kind as TurnKind,
    created_at: new Date(row.at_ms).toISOString(),
    usage: row.usage === null ? null : (JSON.parse(row.usage) as Usage),
    stop_reason: row.stop_reason as StopReason | null,
    model: row.model,
    ...(row.tool_call_id === null ? {} : { tool_call_id: row.tool_call_id }),
    ...(row.tool_name === null ? {} : { tool_name: row.tool_name }),
    ...(row.is_error === null ? {} : { is_error: row.is_error === 1 }),
    ...(row.skipped === 1 ? { skipped: true as const } : {}),
    ...(row.details === null ? {} : { details: JSON.parse(row.details) as CallDetails }),
    ...(row.compaction === null ? {} : { compaction: JSON.parse(row.compaction) as CompactionFacts }),
  };
}
