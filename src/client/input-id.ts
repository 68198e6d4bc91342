import { makeId } from '../protocol/ids.js';

/** An id for a new input. */
export function newInputId(): string {
  // node:crypto would be a tenth of the start of a client, and most of them send nothing.
  return makeId('inp', Date.now(), globalThis.crypto.getRandomValues(new Uint8Array(12)));
}
