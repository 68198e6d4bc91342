import { utf8Bytes } from '../protocol/content.js';
import { refusal } from '../protocol/errors.js';
import { limits } from '../protocol/limits.js';
import { refuse, type Decision } from './decision.js';
import type { SessionState } from './session.js';

/** A new text of a draft; an empty text deletes it. */
export interface DraftChange {
  draftId: string;
  /** The name of the client, and its connection. */
  by: string;
  clientId: string;
  text: string;
}

/** Stores a draft beside the log: no decision depends on one. */
export function setDraft(_state: SessionState, draft: DraftChange): Decision {
  // A longer text would not fit the line of a reply.
  const bytesMax = limits.lineBytesMax - limits.replyMarginBytes;
  if (draft.text.length * 6 > bytesMax && utf8Bytes(JSON.stringify(draft.text)) > bytesMax) {
    return refuse(refusal('invalid_payload', `text: a draft has at most ${bytesMax} bytes of JSON`, { field: 'text' }));
  }
  return { ok: true, facts: [], draft, reply: undefined };
}
