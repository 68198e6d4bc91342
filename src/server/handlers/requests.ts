import { answerRequest } from '../../core/requests.js';
import { byOf } from '../clients.js';
import type { HandlerContext } from '../handler-context.js';
import { accepted, rejected, reply, sessionNotFound, type Handlers } from '../handler.js';
import { fitting } from '../pages.js';

export function createRequestHandlers({ engine }: HandlerContext): Pick<Handlers, 'ui_response' | 'list_ui_requests'> {
  const { store, commit } = engine;
  return {
    ui_response({ request_id, result, error, cancelled }, client) {
      const sessionId = store.requests.sessionOf(request_id);
      if (sessionId === undefined || !store.sessions.exists(sessionId))
        return rejected('already_resolved', `there is no open request ${request_id}`);
      const response = { by: byOf(client), result, error: error ?? null, cancelled };
      const outcome = commit.decide(sessionId, (state) => answerRequest(state, request_id, response, store.permissions));
      return accepted<'ui_response'>(outcome, { command: 'ui_response', session_id: sessionId, request_id });
    },
    list_ui_requests({ session_id }) {
      if (session_id !== undefined && !store.sessions.exists(session_id)) return sessionNotFound(session_id);
      const open = session_id === undefined ? store.requests.allOpen() : store.requests.open(session_id);
      return reply<'list_ui_requests'>('requests', { requests: fitting(open) });
    },
  };
}
