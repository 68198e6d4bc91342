import { limits } from '../../protocol/limits.js';

/** Reads an error response, truncated, in the JSON form that both SDKs understand. */
export async function readErrorBody(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytesLeft: number = limits.modelErrorBytesMax;
  for await (const chunk of body) {
    const piece = chunk.subarray(0, bytesLeft);
    chunks.push(piece);
    bytesLeft -= piece.length;
    // Leaving the loop closes the connection.
    if (bytesLeft === 0) break;
  }
  return toPlainError(Buffer.concat(chunks).toString('utf8'));
}

/** Converts an error document into an `error` event; undefined for another document. */
export function toErrorEvent(text: string): string | undefined {
  const value = parseObject(toPlainError(text));
  return value && 'error' in value ? `event: error\ndata: ${JSON.stringify(value)}\n\n` : undefined;
}

/** Normalizes errors to an object under `error`; servers also send its fields at the top, or a text under `error` or `detail`. */
function toPlainError(text: string): string {
  const value = parseObject(text);
  if (!value) return /^\s*</.test(text) ? titleOf(text) : text;
  const { error, detail, message } = value;
  if (typeof error === 'object' && error !== null) return text;
  const errorText = [message, error, detail].find((part) => part !== undefined && part !== null);
  if (errorText === undefined) return text;
  return JSON.stringify({
    error: { type: value.type, code: value.code, message: typeof errorText === 'string' ? errorText : JSON.stringify(errorText) },
  });
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
