import { newId } from './failures.js';

/** What the server gave out and knows again when it comes back: all that a client must keep to the letter. */
export interface Issued {
  /** The signature of a thought, new if none is given. */
  sign(model: string, thinking: string, signature?: string): string;
  isSigned(model: string, thinking: string, signature: string): boolean;
  redact(model: string, data: string): void;
  isRedacted(model: string, data: string): boolean;
  /** The encrypted content of a reasoning item, new if none is given. */
  encrypt(model: string, item: { id: string; stored: boolean }, content?: string): string;
  /** What is known of a reasoning item: whether it was stored, and whether this is its content for this model. */
  reasoning(model: string, id: string, content: string | undefined): { stored: boolean; intact: boolean } | undefined;
}

export function createIssued(): Issued {
  const thoughts = new Set<string>();
  const redacted = new Set<string>();
  const items = new Map<string, { model: string; content: string; stored: boolean }>();
  const key = (...parts: string[]): string => JSON.stringify(parts);
  return {
    sign(model, thinking, signature = newId('Er', 120)) {
      thoughts.add(key(model, thinking, signature));
      return signature;
    },
    isSigned: (model, thinking, signature) => thoughts.has(key(model, thinking, signature)),
    redact: (model, data) => void redacted.add(key(model, data)),
    isRedacted: (model, data) => redacted.has(key(model, data)),
    encrypt(model, { id, stored }, content = newId('gAAAAAB', 160)) {
      items.set(id, { model, content, stored });
      return content;
    },
    reasoning(model, id, content) {
      const item = items.get(id);
      return item && { stored: item.stored, intact: item.model === model && (content === undefined || content === item.content) };
    },
  };
}
