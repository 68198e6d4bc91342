import type { CommandPayload, CommandType, ReplyPayload } from '../protocol/commands/commands.js';
import { refusal, type ErrorCode, type Refusal, type RejectionWord } from '../protocol/errors.js';
import type { Outcome } from '../engine/door/commit.js';
import type { Client } from './clients.js';

/** The result of a handler: a reply as of `seq`, or a refusal. */
export type Answer = { ok: true; type: string; payload: object | EncodedPayload; seq?: number } | { ok: false; refusal: Refusal };

/** A payload that is JSON already: long payloads are encoded row by row, as they are read. */
export class EncodedPayload {
  constructor(readonly json: string) {}
}

/**
 * A deferred reply, which does not block the connection. Undefined when the connection is closed. The reply is built only when the peer
 * reads, so that unread replies take no memory.
 */
export interface Later {
  later(gone: AbortSignal): Promise<(() => Answer) | undefined>;
}

/** Synchronous by type: a handler commits and returns a reply, or a deferred reply. */
export type Handler<T extends CommandType> = (payload: CommandPayload<T>, client: Client) => Answer | Later;
export type Handlers = { [T in CommandType]: Handler<T> };

export function reply<T extends CommandType>(type: string, payload: ReplyPayload<T>, seq?: number): Answer {
  return { ok: true, type, payload, ...(seq === undefined ? {} : { seq }) };
}

/** The refusal of a new run while the daemon drains. */
export const draining = refusal('shutting_down', 'the daemon takes no new runs: it is about to stop; start it again afterwards');

export function refused(why: Refusal): Answer {
  return { ok: false, refusal: why };
}

export function refusedWith(code: ErrorCode, message: string, details: Record<string, unknown> = {}): Answer {
  return refused(refusal(code, message, details));
}

export function rejected(word: RejectionWord, cause?: string): Answer {
  return refused(refusal('command_rejected', word, {}, cause));
}

export function sessionNotFound(sessionId: string | undefined): Answer {
  const message = sessionId === undefined ? 'there is no session yet; make one with new_session' : `there is no session ${sessionId}`;
  return refusedWith('session_not_found', message, { field: 'session_id' });
}

/** The reply of commands that write. */
export function accepted<T extends CommandType>(outcome: Outcome<unknown>, payload: ReplyPayload<T>): Answer {
  return outcome.ok ? { ok: true, type: 'accepted', payload, seq: outcome.seq } : refused(outcome.refusal);
}
