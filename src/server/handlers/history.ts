import type { SessionState } from '../../core/session.js';
import type { ServedEngine } from '../../engine/engine.js';
import type { ReplyPayload } from '../../protocol/commands/commands.js';
import { limits } from '../../protocol/limits.js';
import type { EncodedMessage, PageRequest } from '../../store/rows/page-rows.js';
import { sessionIdFor, stateFor, type HandlerContext } from '../handler-context.js';
import { EncodedPayload, refusedWith, rejected, reply, sessionNotFound, type Answer, type Handlers } from '../handler.js';
import { fitting } from '../pages.js';
import { isInTree } from './tree.js';

/** A page of messages, encoded as JSON by the store, and the other fields of the reply. */
interface MessagesView {
  facts: Omit<ReplyPayload<'get_messages'>, 'messages'>;
  messages: EncodedMessage[];
}

export function readMessages({ store }: ServedEngine, state: SessionState, request: PageRequest): MessagesView {
  const { messages, hasMore } = store.entries.page(request);
  return { facts: { session_id: state.id, leaf_id: request.leafId, seq: store.log.head(), has_more: hasMore }, messages };
}

/** The payload of a reply with encoded messages and other fields. */
export function withMessages(fields: object, messages: readonly EncodedMessage[]): EncodedPayload {
  return new EncodedPayload(`${JSON.stringify(fields).slice(0, -1)},"messages":[${messages.map(({ json }) => json).join(',')}]}`);
}

function notOnPath(field: string, id: string): Answer {
  return refusedWith('invalid_payload', `${field}: ${id} is not a message on the path to the leaf`, { field });
}

/** The length without an incomplete UTF-8 character at the end. */
function wholeCharacters(data: Buffer): number {
  let end = data.length;
  for (let back = 1; back <= Math.min(4, data.length); back++) {
    const byte = data[data.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      if (needs > back) end = data.length - back;
      break;
    }
  }
  return end;
}

export function createHistoryHandlers(
  deps: HandlerContext,
): Pick<Handlers, 'get_state' | 'get_messages' | 'get_tree' | 'search_messages' | 'get_artifact' | 'list_runs'> {
  const { engine, viewState } = deps;
  const { store } = engine;
  /** Cache of the first and last messages of recent pages: the next page needs no walk from the leaf to check them. */
  const pageEnds = new Set<string>();

  function remember(leafId: string | null, messages: readonly EncodedMessage[]): void {
    for (const message of [messages[0], messages.at(-1)]) if (message) pageEnds.add(`${leafId ?? ''} ${message.id}`);
    for (const oldest of pageEnds) if (pageEnds.size > limits.pageEndsMax) pageEnds.delete(oldest);
  }

  function isOnPath(leafId: string | null, id: string): boolean {
    return pageEnds.has(`${leafId ?? ''} ${id}`) || store.entries.isOnPath(leafId, id);
  }

  return {
    get_state(payload, client) {
      const state = stateFor(deps, payload.session_id, client);
      if (!state && payload.session_id !== undefined) return sessionNotFound(payload.session_id);
      return reply<'get_state'>('state', viewState(state));
    },
    get_messages(payload, client) {
      const state = stateFor(deps, payload.session_id, client);
      if (!state) {
        if (payload.session_id !== undefined) return sessionNotFound(payload.session_id);
        return reply<'get_messages'>('messages', { session_id: '', messages: [], leaf_id: null, seq: store.log.head(), has_more: false });
      }
      const { leaf_id, before, after, limit } = payload;
      if (leaf_id !== undefined && !isInTree(engine, state.id, leaf_id)) return rejected('leaf_not_found');
      if (before !== undefined && after !== undefined) {
        return refusedWith('invalid_payload', 'after: before and after exclude each other', { field: 'after' });
      }
      const leafId = leaf_id ?? state.leafId;
      if (before !== undefined && !isOnPath(leafId, before)) return notOnPath('before', before);
      if (after !== undefined && !isOnPath(leafId, after)) return notOnPath('after', after);
      const range = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
      const { facts, messages } = readMessages(engine, state, { leafId, limit: limit ?? limits.pageRowsMax, ...range });
      remember(leafId, messages);
      return { ok: true, type: 'messages', payload: withMessages(facts, messages) };
    },
    get_tree(payload, client) {
      const state = stateFor(deps, payload.session_id, client);
      if (!state) {
        if (sessionIdFor(deps, payload.session_id, client) !== undefined) return sessionNotFound(payload.session_id);
        return reply<'get_tree'>('tree', { session_id: '', nodes: [], leaf_id: null, has_more: false });
      }
      const { before } = payload;
      if (before !== undefined && !isInTree(engine, state.id, before)) {
        return refusedWith('invalid_payload', `before: ${before} is not a message of the session`, { field: 'before' });
      }
      const { nodes, hasMore } = store.tree.nodes(state.id, store.sessions.baseOf(state.id), before);
      // The newest nodes are kept.
      const shown = fitting(nodes.reverse()).reverse();
      const has_more = hasMore || shown.length < nodes.length;
      return reply<'get_tree'>('tree', { session_id: state.id, nodes: shown, leaf_id: state.leafId, has_more });
    },
    search_messages(payload) {
      if (payload.session_id !== undefined && !store.sessions.exists(payload.session_id)) return sessionNotFound(payload.session_id);
      engine.housekeeping.indexAll();
      const { hits, hasMore } = store.search.search(payload.query, payload.session_id, payload.limit ?? limits.pageRowsDefault);
      const shown = fitting(hits);
      return reply<'search_messages'>('messages', { messages: shown, has_more: hasMore || shown.length < hits.length });
    },
    get_artifact({ artifact_id, offset, limit, content }) {
      const piece = engine.artifacts.read(artifact_id, offset, limit, content);
      if (!piece) return refusedWith('invalid_payload', `artifact_id: there is no artifact ${artifact_id}`, { field: 'artifact_id' });
      const end = wholeCharacters(piece.data);
      const next = offset + end;
      return reply<'get_artifact'>('artifact', {
        artifact_id,
        mime_type: piece.mimeType,
        offset,
        data: piece.data.toString('utf8', 0, end),
        next_offset: next,
        total_bytes: piece.totalBytes,
        dropped_bytes: piece.droppedBytes,
        has_more: next < piece.totalBytes,
      });
    },
    list_runs(payload, client) {
      const state = stateFor(deps, payload.session_id, client);
      if (!state) return sessionNotFound(payload.session_id);
      if (payload.before !== undefined && store.runs.find(payload.before)?.session_id !== state.id) return rejected('run_not_found');
      const page = store.runs.page(state.id, payload.before, payload.limit ?? limits.pageRowsDefault);
      const runs = fitting(page.runs);
      return reply<'list_runs'>('runs', { runs, has_more: page.hasMore || runs.length < page.runs.length });
    },
  };
}
