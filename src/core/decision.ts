import type { Fact, QueuedImage } from '../protocol/events.js';
import { refusal, type Refusal, type RejectionWord } from '../protocol/errors.js';
import type { ContentBlock } from '../protocol/messages.js';
import type { DirectoryParams } from '../protocol/requests/requests.js';
import type { DraftChange } from './drafts.js';
import type { NamedCursorChange } from './named-cursors.js';
import { evolve, type SessionState } from './session.js';

/** New ids, the clock and stored content, injected so that decisions stay pure. */
export interface Fresh {
  nowMs: number;
  /** The immutable content that an input was sent with. A session's state has only the text and a list of the images. */
  contentOf(inputId: string): ContentBlock[] | null;
  id(prefix: 'run' | 'msg' | 'inp' | 'req' | 'art' | 'ses'): string;
}

/** An acknowledged input, stored as long as its session: an idempotent retry gets the same reply. */
export interface Admission {
  inputId: string;
  command: 'prompt' | 'steer' | 'follow_up';
  kind: 'prompt' | 'steer' | 'follow_up';
  state: 'waiting' | 'taken';
  text: string;
  content: ContentBlock[] | null;
  images: QueuedImage[];
  client: string | null;
  runId: string;
  forNextRun: boolean;
}

/** An entry of the audit log: who decided about a call, and why. */
export interface AuditEntry {
  runId: string;
  toolCallId: string;
  toolName: string;
  /** The subject of the decision, such as the command. */
  subject: string;
  action: 'allow' | 'deny';
  by: string;
  why: string;
}

/** The result of a decision: events to commit in one transaction with a reply, or a refusal and no change. */
export type Decision<Reply = undefined> =
  | {
      ok: true;
      facts: readonly Fact[];
      admit?: Admission;
      /** The new active session, for commands without a session id. */
      activate?: string;
      /** The session that is created has the settings of `firstSettings`. */
      usesFirstSettings?: true;
      /** The identity of the directory of the session that is created. */
      anchor?: DirectoryParams['anchor'] | undefined;
      audit?: AuditEntry;
      /** A draft of a person, which is no fact of the log. */
      draft?: DraftChange;
      /** A named cursor, which is no fact of the log either. */
      namedCursor?: NamedCursorChange;
      /** Settings for the first session, as JSON. */
      firstSettings?: string;
      reply: Reply;
    }
  | { ok: false; refusal: Refusal };

export function accept<Reply>(facts: readonly Fact[], reply: Reply, admit?: Admission): Decision<Reply> {
  return { ok: true, facts, reply, ...(admit ? { admit } : {}) };
}

/** Adds an audit entry to an accepted decision. */
export function recorded<Reply>(decision: Decision<Reply>, audit: AuditEntry | undefined): Decision<Reply> {
  return decision.ok && audit ? { ...decision, audit } : decision;
}

export function reject(word: RejectionWord, cause?: string): Decision<never> {
  return { ok: false, refusal: refusal('command_rejected', word, {}, cause) };
}

export function refuse(why: Refusal): Decision<never> {
  return { ok: false, refusal: why };
}

/** Events that are decided one after the other: each is folded into the state for the next. */
export interface Draft {
  readonly facts: Fact[];
  state: SessionState;
  say(fact: Fact): void;
}

export function createDraft(state: SessionState): Draft {
  const facts: Fact[] = [];
  return {
    facts,
    state,
    say(fact) {
      facts.push(fact);
      this.state = evolve(this.state, fact);
    },
  };
}
