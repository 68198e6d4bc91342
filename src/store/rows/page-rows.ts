import { limits } from '../../protocol/limits.js';
import type { Message } from '../../protocol/messages.js';
import { pathUpward } from './entry-row.js';
import type { Database } from '../sqlite.js';

/** A message as the wire shows it, encoded. */
export interface EncodedMessage {
  id: string;
  json: string;
}

export interface MessagePage {
  messages: EncodedMessage[];
  hasMore: boolean;
}

export interface PageRequest {
  leafId: string | null;
  limit: number;
  before?: string;
  after?: string;
  /** How much of a line the page may take. */
  bytesMax?: number;
}

/** The `json` is NULL for an entry that is too long for a line: it has to be cut. */
type PageRow = [id: string, parentId: string | null, bytes: number, json: string | null];

// Encoded by SQLite: a message of eighteen columns costs four times as much when each of them becomes a value of JavaScript first.
const columns = `id, parent_id, bytes, iif(bytes > ${limits.messageInlineBytesMax}, NULL,
  '{"type":"message","id":' || json_quote(id) || ',"parent_id":' || json_quote(parent_id) || ',"role":' || json_quote(role)
  || ',"run_id":' || json_quote(run_id) || ',"turn_kind":' || json_quote(turn_kind)
  || ',"created_at":"' || strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') || '","usage":' || ifnull(usage, 'null')
  || ',"stop_reason":' || json_quote(stop_reason) || ',"model":' || json_quote(model)
  || iif(tool_call_id IS NULL, '', ',"tool_call_id":' || json_quote(tool_call_id))
  || iif(tool_name IS NULL, '', ',"tool_name":' || json_quote(tool_name))
  || iif(is_error IS NULL, '', ',"is_error":' || iif(is_error, 'true', 'false'))
  || iif(skipped, ',"skipped":true', '')
  || iif(compaction IS NULL, '', ',"compaction":' || compaction)
  || ',"text":' || json_quote(text) || ',"content":' || ifnull(content, '[{"type":"text","text":' || json_quote(text) || '}]') || '}')`;

/** Pages of the path to a leaf, as they are sent. `find` reads a message that has to be cut. */
export function createPageRows(db: Database, find: (id: string) => Message | undefined) {
  const byId = db.prepare<[string], PageRow>(`SELECT ${columns} FROM entry WHERE id = ?`).raw();
  const placeOf = db.prepare<[string], [sessionId: string, no: number]>('SELECT session_id, no FROM entry WHERE id = ?').raw();
  const backwards = db
    .prepare<[string, number], PageRow>(`SELECT ${columns} FROM entry WHERE session_id = ? AND no <= ? ORDER BY no DESC`)
    .raw();
  const parentOf = db.prepare<[string], string | null>('SELECT parent_id FROM entry WHERE id = ?').pluck();
  const children = db.prepare<[string], string>('SELECT id FROM entry WHERE parent_id = ? LIMIT 2').pluck();
  const pathIds = db
    .prepare<[string, number], string>(`${pathUpward} SELECT e.id FROM path JOIN entry e USING (no) ORDER BY depth`)
    .pluck();

  /**
   * The path from an entry towards the root, read an entry at a time: whoever has enough has read no more than that. A parent mostly is
   * the entry before in its session, where it is found without looking for it.
   */
  function* pathUp(fromId: string | null): Generator<PageRow> {
    for (let wanted = fromId; wanted !== null;) {
      const place = placeOf.get(wanted);
      if (!place) return;
      for (const row of backwards.iterate(...place)) {
        const [id, parentId] = row;
        if (id !== wanted) break;
        yield row;
        wanted = parentId;
      }
    }
  }

  /** The path from the child of `afterId` to the leaf. Where it forks, the way is found from the leaf. */
  function* pathDown(leafId: string, afterId: string): Generator<PageRow> {
    for (let id = afterId; id !== leafId;) {
      const [child, sibling] = children.all(id);
      if (child === undefined) return;
      if (sibling !== undefined) {
        yield* pathFromFork(leafId, id);
        return;
      }
      const row = byId.get(child);
      if (row) yield row;
      id = child;
    }
  }

  function* pathFromFork(leafId: string, forkId: string): Generator<PageRow> {
    const path = pathIds.all(leafId, limits.pathEntriesMax);
    for (let i = path.indexOf(forkId) - 1; i >= 0; i--) {
      const row = byId.get(path[i] ?? '');
      if (row) yield row;
    }
  }

  function encode([id, , , json]: PageRow): EncodedMessage {
    return { id, json: json ?? JSON.stringify(find(id)) };
  }

  /** As many as fit a line, walking from `fromId` towards the root; returned oldest first. */
  function pageUp(fromId: string | null, limit: number, bytesMax: number): MessagePage {
    const messages: EncodedMessage[] = [];
    let bytes = 0;
    for (const row of pathUp(fromId)) {
      bytes += wireBytes(row);
      if (messages.length === limit || (bytes > bytesMax && (messages.length > 0 || bytesMax < limits.pageBytesMax))) {
        return { messages: messages.reverse(), hasMore: true };
      }
      messages.push(encode(row));
    }
    return { messages: messages.reverse(), hasMore: false };
  }

  /** As many as fit a line, from the child of `afterId` on the path towards the leaf. */
  function pageDown(leafId: string | null, afterId: string, limit: number, bytesMax: number): MessagePage {
    const messages: EncodedMessage[] = [];
    let bytes = 0;
    for (const row of leafId === null ? [] : pathDown(leafId, afterId)) {
      bytes += wireBytes(row);
      if (messages.length === limit || (messages.length > 0 && bytes > bytesMax)) return { messages, hasMore: true };
      messages.push(encode(row));
    }
    return { messages, hasMore: false };
  }

  return {
    page({ leafId, limit, before, after, bytesMax = limits.pageBytesMax }: PageRequest): MessagePage {
      if (after !== undefined) return pageDown(leafId, after, limit, bytesMax);
      return pageUp(before === undefined ? leafId : (parentOf.get(before) ?? null), limit, bytesMax);
    },
  };
}

/** About what a row costs on the wire: its content and its text again. */
function wireBytes([, , bytes]: PageRow): number {
  return 2 * Math.min(bytes, limits.messageInlineBytesMax) + 500;
}
