import type { DurableEvent, DurableType } from '../../protocol/events.js';
import { encodeDurable } from '../../protocol/encode.js';
import { limits } from '../../protocol/limits.js';

/** An encoded durable event, with the fields that cursors read. */
export interface LogLine {
  seq: number;
  sessionId: string;
  type: DurableType;
  messageId: string | undefined;
  role: string | undefined;
  runId: string | undefined;
  turnId: string | undefined;
  deleted: boolean;
  /** The line with its newline. Each piece is a Buffer of its own, so that a queued piece does not retain the memory of the others. */
  pieces: readonly Buffer[];
  bytes: number;
}

const utf8 = new TextEncoder();

export function toLogLine(event: DurableEvent): LogLine {
  const payload = event.payload as Partial<Record<'message_id' | 'role' | 'run_id' | 'turn_id', string>> & { deleted?: true };
  const pieces = toPieces(encodeDurable(event));
  return {
    seq: event.seq,
    sessionId: event.payload.session_id,
    type: event.type,
    messageId: payload.message_id,
    role: payload.role,
    runId: payload.run_id,
    turnId: payload.turn_id,
    deleted: payload.deleted === true,
    pieces,
    bytes: pieces.reduce((sum, piece) => sum + piece.length, 0),
  };
}

function toPieces(line: string): Buffer[] {
  if (isShort(line)) return [toOwnBytes(`${line}\n`)];
  const pieces: Buffer[] = [];
  let rest = line;
  while (!isShort(rest)) {
    const piece = Buffer.allocUnsafeSlow(limits.eventPieceBytes);
    const { read, written } = utf8.encodeInto(rest, piece);
    pieces.push(piece.subarray(0, written));
    rest = rest.slice(read);
  }
  pieces.push(toOwnBytes(`${rest}\n`));
  return pieces;
}

/** Unpooled: a small Buffer from Node's pool would retain the whole pool. */
function toOwnBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

function isShort(text: string): boolean {
  if (text.length >= limits.eventPieceBytes) return false;
  // A unit of UTF-16 takes three bytes at most.
  return text.length * 3 < limits.eventPieceBytes || Buffer.byteLength(text) < limits.eventPieceBytes;
}
