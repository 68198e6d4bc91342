import { limits } from '../../protocol/limits.js';

/** The text of a response that failed, as far as it is worth reading, in the one form that both SDKs understand. */
export async function readErrorBody(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let left: number = limits.modelErrorBytesMax;
  for await (const chunk of body) {
    const kept = chunk.subarray(0, left);
    chunks.push(kept);
    left -= kept.length;
    // Leaving the loop hangs up on errors that do not end.
    if (left === 0) break;
  }
  return toPlainError(Buffer.concat(chunks).toString('utf8'));
}

/** An error in the form of an event, if this is one. */
export function toErrorEvent(text: string): string | undefined {
  const value = parseObject(toPlainError(text));
  return value && 'error' in value ? `event: error\ndata: ${JSON.stringify(value)}\n\n` : undefined;
}

/** Errors are objects under `error`; servers also send their fields bare, or a text under `error` or `detail`. */
function toPlainError(text: string): string {
  const value = parseObject(text);
  if (!value) return /^\s*</.test(text) ? titleOf(text) : text;
  const { error, detail, message } = value;
  if (typeof error === 'object' && error !== null) return text;
  const said = [message, error, detail].find((part) => part !== undefined && part !== null);
  if (said === undefined) return text;
  return JSON.stringify({ error: { type: value.type, code: value.code, message: typeof said === 'string' ? said : JSON.stringify(said) } });
}

function titleOf(page: string): string {
  return /<title>\s*([^<]{1,200}?)\s*<\/title>/i.exec(page)?.[1] ?? 'a web page';
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
