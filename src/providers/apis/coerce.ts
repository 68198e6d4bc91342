/** Compatible servers send numbers for words, nulls for nothing and parts for texts, whatever the types of their API say. */

export function isFilledText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A name or an id; empty when there is none. */
export function toWord(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** The words of a text, or of the parts of one. */
export function toWords(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.map((part: unknown) => (isRecord(part) ? toWord(part.text) : toWord(part))).join('');
}

/** Arguments as the JSON text that they should be. */
export function toJson(value: unknown): string {
  return isRecord(value) ? JSON.stringify(value) : toWord(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
