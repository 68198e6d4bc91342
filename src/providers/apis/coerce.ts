/** Coercion of loosely typed fields: compatible servers send numbers for strings, null for empty and parts for text. */

export function isFilledText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A string or number as text; empty for anything else. */
export function coerceText(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** A string, or the joined text of content parts. */
export function coerceParts(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.map((part: unknown) => (isRecord(part) ? coerceText(part.text) : coerceText(part))).join('');
}

/** Tool arguments as JSON text, when they came as an object. */
export function coerceJson(value: unknown): string {
  return isRecord(value) ? JSON.stringify(value) : coerceText(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
