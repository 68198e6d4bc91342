import type { Fact, QueuedImage } from '../protocol/events.js';
import { refusal, type Refusal, type RejectionWord } from '../protocol/errors.js';
import type { ContentBlock } from '../protocol/messages.js';
import { evolve, type SessionState } from './session.js';

/** Ids, the time and stored bodies, handed in so that decisions stay pure. */
export interface Fresh {
  nowMs: number;
  /** The content that an input was sent with; it never changes. A session's state has its text and a list of its images only. */
  contentOf(inputId: string): ContentBlock[] | null;
  id(prefix: 'run' | 'msg' | 'inp' | 'req' | 'art' | 'ses'): string;
}

/** An input as it was acknowledged. Kept beside the log for as long as the session, so that a retry is answered the same. */
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

/** Who decided about a call, and why. Kept beside the log. */
export interface AuditEntry {
  runId: string;
  toolCallId: string;
  toolName: string;
  /** What it was about, such as the command. */
  subject: string;
  action: 'allow' | 'deny';
  by: string;
  why: string;
}

/** What a decision says: facts to commit in one transaction with a reply, or a refusal and nothing. */
export type Decision<Reply = undefined> =
  | {
      ok: true;
      facts: readonly Fact[];
      admit?: Admission;
      /** The session that commands mean which name none. */
      activate?: string;
      /** The session that this makes has what was set while there was none. */
      usesFirstSettings?: true;
      audit?: AuditEntry;
      /** As JSON: what the next session that is made in place of none begins with. */
      firstSettings?: string;
      reply: Reply;
    }
  | { ok: false; refusal: Refusal };

export function accept<Reply>(facts: readonly Fact[], reply: Reply, admit?: Admission): Decision<Reply> {
  return { ok: true, facts, reply, ...(admit ? { admit } : {}) };
}

/** The decision with a record of who decided it, if it stands. */
export function recorded<Reply>(decision: Decision<Reply>, audit: AuditEntry | undefined): Decision<Reply> {
  return decision.ok && audit ? { ...decision, audit } : decision;
}

export function reject(word: RejectionWord, cause?: string): Decision<never> {
  return { ok: false, refusal: refusal('command_rejected', word, {}, cause) };
}

export function refuse(why: Refusal): Decision<never> {
  return { ok: false, refusal: why };
}

/** Facts being said one after the other, each seen by the next. */
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
