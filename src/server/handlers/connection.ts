import type { ReplyPayload } from '../../protocol/commands/commands.js';
import { limits } from '../../protocol/limits.js';
import type { HandlerContext } from '../handler-context.js';
import { rejected, reply, sessionNotFound, type Handlers } from '../handler.js';
import { jsonBytes } from '../pages.js';
import { readMessages, withMessages } from './history.js';

/** The limits that the reply to hello advertises. */
const advertisedLimits = {
  line_bytes_max: limits.lineBytesMax,
  message_inline_bytes_max: limits.messageInlineBytesMax,
  queued_inputs_max: limits.queuedInputsMax,
  queued_text_bytes_max: limits.queuedTextBytesMax,
  page_rows_max: limits.pageRowsMax,
  stalled_reader_ms: limits.stalledReaderMs,
};

export function createConnectionHandlers(deps: HandlerContext): Pick<Handlers, 'ping' | 'hello' | 'attach' | 'detach' | 'list_clients'> {
  const { engine, clients, viewState, daemon } = deps;
  return {
    ping: () => reply<'ping'>('pong', { message: 'pong' }),
    hello(payload, client) {
      // Privilege escalation: a second hello must not turn an observer into a controller.
      if (client.role === 'observer' && payload.role !== 'observer')
        return rejected('read_only_client', 'this connection said hello as an observer and stays one; open another to be a controller');
      client.saidHello = true;
      client.name = payload.client.name;
      client.version = payload.client.version;
      client.kind = payload.client.kind;
      client.role = payload.role;
      client.uiCapabilities = payload.ui_capabilities;
      return reply<'hello'>('hello', {
        server: { name: 'berth', version: daemon.version },
        protocol: '1',
        client_id: client.id,
        log_id: daemon.logId,
        capabilities: ['subscribe', 'attach', 'input_id', 'resume_run', 'ui_request', 'search'],
        limits: advertisedLimits,
        state_dir: daemon.stateDir,
        config_dir: daemon.configDir,
      });
    },
    attach(payload, client) {
      const state = engine.store.load(payload.session_id);
      if (!state || state.deleting) return sessionNotFound(payload.session_id);
      clients.attach(client, state.id);
      const view = viewState(state);
      // State and messages share a line: a long state leaves fewer bytes for messages.
      const bytesMax = Math.min(limits.pageBytesMax, limits.lineBytesMax - jsonBytes(view) - limits.replyMarginBytes);
      const request = { leafId: state.leafId, limit: payload.limit ?? limits.pageRowsDefault, bytesMax };
      const { facts, messages } = readMessages(engine, state, request);
      const path_count = engine.store.sessions.pathCount(state.id);
      const fields: Omit<ReplyPayload<'attach'>, 'messages'> = { ...facts, path_count, log_id: daemon.logId, state: view };
      return { ok: true, type: 'attached', payload: withMessages(fields, messages) };
    },
    detach(_payload, client) {
      const { sessionId } = client;
      clients.attach(client, '');
      return reply<'detach'>('accepted', { command: 'detach', session_id: sessionId });
    },
    list_clients: () => reply<'list_clients'>('clients', { clients: clients.all() }),
  };
}
