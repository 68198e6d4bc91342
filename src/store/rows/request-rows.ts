import assert from 'node:assert/strict';
import type { EventPayload } from '../../protocol/events.js';
import { currentParams } from '../../protocol/requests/old-requests.js';
import type { UiAnswer } from '../../protocol/requests/request-answers.js';
import type { RequestParams, UiMethod, UiRequest } from '../../protocol/requests/requests.js';
import type { Database } from '../sqlite.js';

interface RequestRow {
  id: string;
  session_id: string;
  run_id: string;
  turn_id: string;
  tool_call_id: string;
  ask_key: string;
  method: UiMethod;
  params: string;
  expires_ms: number | null;
  outcome: string | null;
  resolved_by: string | null;
  result: string | null;
}

export interface AskedRequest {
  requestId: string;
  expiresAtMs: number | null;
  /** Undefined while the request is open. */
  resolved: { outcome: string; by: string; result: UiAnswer } | undefined;
}

/** Requests to people and their answers, which stay as an audit trail. Callers own the transaction. */
export function createRequestRows(db: Database) {
  const insert = db.prepare(
    `INSERT INTO ui_request (id, session_id, run_id, turn_id, tool_call_id, ask_key, method, params, expires_ms, at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const resolve = db.prepare(
    'UPDATE ui_request SET outcome = ?, resolved_by = ?, result = ?, resolved_ms = ? WHERE id = ? AND outcome IS NULL',
  );
  const open = db.prepare<[string], RequestRow>('SELECT * FROM ui_request WHERE session_id = ? AND outcome IS NULL ORDER BY rowid');
  const allOpen = db.prepare<[], RequestRow>('SELECT * FROM ui_request WHERE outcome IS NULL ORDER BY rowid');
  const asking = db.prepare<[], string>('SELECT DISTINCT session_id FROM ui_request WHERE outcome IS NULL').pluck();
  const byKey = db.prepare<[string, string, string, string], RequestRow>(
    'SELECT * FROM ui_request WHERE run_id = ? AND turn_id = ? AND tool_call_id = ? AND ask_key = ?',
  );
  const byId = db.prepare<[string], RequestRow>('SELECT * FROM ui_request WHERE id = ?');
  const sessionOf = db.prepare<[string], string>('SELECT session_id FROM ui_request WHERE id = ?').pluck();
  const asked = db
    .prepare<[string, string], string>('SELECT DISTINCT tool_call_id FROM ui_request WHERE run_id = ? AND turn_id = ?')
    .pluck();
  return {
    read: {
      open: (sessionId: string): UiRequest[] => open.all(sessionId).map(toRequest),
      /** The sessions with an open request. */
      askingSessions: (): string[] => asking.all(),
      allOpen: (): UiRequest[] => allOpen.all().map(toRequest),
      find(runId: string, turnId: string, toolCallId: string, askKey: string): AskedRequest | undefined {
        const row = byKey.get(runId, turnId, toolCallId, askKey);
        if (!row) return undefined;
        const resolved =
          row.outcome === null
            ? undefined
            : {
                outcome: row.outcome,
                by: row.resolved_by ?? '',
                result: row.result === null ? null : (JSON.parse(row.result) as UiAnswer),
              };
        return { requestId: row.id, expiresAtMs: row.expires_ms, resolved };
      },
      /** The calls of a turn that have made a request. */
      askedCalls: (runId: string, turnId: string): Set<string> => new Set(asked.all(runId, turnId)),
      sessionOf: (requestId: string): string | undefined => sessionOf.get(requestId),
      /** The params of a request; undefined when there is no such request. */
      paramsOf(requestId: string): RequestParams | undefined {
        const row = byId.get(requestId);
        return row && toParams(row);
      },
    },
    write: {
      insert(request: UiRequest, atMs: number): void {
        const expiresMs = request.expires_at === null ? null : Date.parse(request.expires_at);
        const { request_id, session_id, run_id, turn_id, tool_call_id, ask_key, method, params } = request;
        insert.run(request_id, session_id, run_id, turn_id, tool_call_id, ask_key, method, JSON.stringify(params), expiresMs, atMs);
      },
      resolve({ request_id, by, outcome, result }: EventPayload<'ui_resolved'>, atMs: number): void {
        const { changes } = resolve.run(outcome, by, result === undefined ? null : JSON.stringify(result), atMs, request_id);
        assert.equal(changes, 1, 'a request is resolved once');
      },
    },
  };
}
export type RequestRows = ReturnType<typeof createRequestRows>;

/** Converts params of earlier versions to the current shape, so that old requests can be shown and answered. */
function toParams({ session_id, method, params }: RequestRow): RequestParams {
  return currentParams({ session_id, method, params: JSON.parse(params) as Record<string, unknown> });
}

function toRequest(row: RequestRow): UiRequest {
  return {
    session_id: row.session_id,
    run_id: row.run_id,
    turn_id: row.turn_id,
    request_id: row.id,
    tool_call_id: row.tool_call_id,
    ask_key: row.ask_key,
    method: row.method,
    params: toParams(row),
    expires_at: row.expires_ms === null ? null : new Date(row.expires_ms).toISOString(),
  };
}
