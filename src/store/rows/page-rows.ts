import { limits } from '../../protocol/limits.js';
import type { Message } from '../../protocol/messages.js';
import { pathUpward } from './entry-row.js';
import type { Database } from '../sqlite.js';

/** A message, encoded as JSON for a reply. */
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
  /** The size limit of the page. */
  bytesMax?: number;
}

/** `json` is NULL for an entry that is too long for a line and must be truncated. */
type PageRow = [id: string, parentId: string | null, bytes: number, detailsBytes: number, json: string | null];

// SQLite encodes the JSON: converting nineteen columns to JavaScript values first takes four times as long.
const columns = `id, parent_id, bytes, ifnull(octet_length(details), 0), iif(bytes > ${limits.messageInlineBytesMax}, NULL,
  '{"type":"message","id":' || json_quote(id) || ',"parent_id":' || json_quote(parent_id) || ',"role":' || json_quote(role)
  || ',"run_id":' || json_quote(run_id) || ',"turn_kind":' || json_quote(turn_kind)
  || ',"created_at":"' || strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') || '","usage":' || ifnull(usage, 'null')
  || ',"stop_reason":' || json_quote(stop_reason) || ',"model":' || json_quote(model)
  || iif(tool_call_id IS NULL, '', ',"tool_call_id":' || json_quote(tool_call_id))
  || iif(tool_name IS NULL, '', ',"tool_name":' || json_quote(tool_name))
  || iif(is_error IS NULL, '', ',"is_error":' || iif(is_error, 'true', 'false'))
  || iif(skipped, ',"skipped":true', '')
  || iif(details IS NULL, '', ',"details":' || details)
  || iif(compaction IS NULL, '', ',"compaction":' || compaction)
  || ',"text":' || json_quote(text) || ',"content":' || ifnull(content, '[{"type":"text","text":' || json_quote(text) || '}]') || '}')`;

/** Pages of messages on the path to a leaf, encoded. `find` reads a message that must be truncated. */
export function createPageRows(db: Database, find: (id: string) => Message | undefined) {
  const byId = db.prepare<[string], PageRow>(`SELECT ${columns} FROM entry WHERE id = ?`).raw();
  const positionOf = db.prepare<[string], [sessionId: string, no: number]>('SELECT session_id, no FROM entry WHERE id = ?').raw();
  const backwards = db
    .prepare<[string, number], PageRow>(`SELECT ${columns} FROM entry WHERE session_id = ? AND no <= ? ORDER BY no DESC`)
    .raw();
  const parentOf = db.prepare<[string], string | null>('SELECT parent_id FROM entry WHERE id = ?').pluck();
  const children = db.prepare<[string], string>('SELECT id FROM entry WHERE parent_id = ? LIMIT 2').pluck();
  const pathIds = db
    .prepare<[string, number], string>(`${pathUpward} SELECT e.id FROM path JOIN entry e USING (no) ORDER BY depth`)
    .pluck();

  /**
   * The path from an entry towards the root, read lazily. A parent mostly is the previous entry of its session, so a range scan finds it
   * without an index lookup.
   */
  function* pathUp(fromId: string | null): Generator<PageRow> {
    for (let wanted = fromId; wanted !== null;) {
      const position = positionOf.get(wanted);
      if (!position) return;
      for (const row of backwards.iterate(...position)) {
        const [id, parentId] = row;
        if (id !== wanted) break;
        yield row;
        wanted = parentId;
      }
    }
  }

  /** The path from the child of `afterId` to the leaf. From a fork on, the path is read from the leaf. */
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

  function encode([id, , , , json]: PageRow): EncodedMessage {
    return { id, json: json ?? JSON.stringify(find(id)) };
  }

  /** Messages that fit a page, from `fromId` towards the root; returned oldest first. */
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

  /** Messages that fit a page, from the child of `afterId` on the path towards the leaf. */
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

/** Estimated bytes of an encoded row, which has its text twice. */
function wireBytes([, , bytes, detailsBytes]: PageRow): number {
  return 2 * Math.min(bytes, limits.messageInlineBytesMax) + detailsBytes + 500;
}
