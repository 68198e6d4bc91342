/** The decoder's result for each line. `too_long` is the last: the stream is out of sync. */
export type DecodedLine = { kind: 'json'; value: unknown } | { kind: 'malformed'; reason: string } | { kind: 'too_long' };

export interface LineDecoder {
  /** Feeds bytes and returns the lines they complete. An unterminated last line is never returned. */
  push(chunk: Uint8Array): DecodedLine[];
  /** Buffered bytes of the unfinished line. */
  unfinishedBytes(): number;
  /** Drops the unfinished line and its memory. */
  drop(): void;
}

const newline = 10;
const carriageReturn = 13;
const tuning = {
  blockBytesMin: 1024,
  blockBytesMax: 64 * 1024,
  /** Kept as it came: most of what it was read into. */
  longPieceBytes: 32 * 1024,
} as const;

/**
 * Splits bytes at `\n` only, within a bound. Never splits at U+2028 and never cuts a character in two. A line with more than
 * `membersMax` members of objects and arrays is malformed, and found so before it is parsed: each costs far more than its bytes.
 */
export function createLineDecoder(lineBytesMax: number, depthMax: number, membersMax = Infinity): LineDecoder {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  // Pieces instead of one buffer that doubles: memory follows the bytes. Short ones are gathered in a block, as each by itself costs
  // more than it holds when a peer sends a byte at a time.
  let pieces: Uint8Array[] = [];
  let block = new Uint8Array(0);
  let blockUsed = 0;
  let bytes = 0;
  let dead = false;

  function keep(piece: Uint8Array): void {
    bytes += piece.length;
    if (blockUsed + piece.length > block.length) {
      if (blockUsed > 0) pieces.push(block.slice(0, blockUsed));
      block = new Uint8Array(0);
      blockUsed = 0;
      if (piece.length >= tuning.longPieceBytes) {
        pieces.push(piece);
        return;
      }
      block = new Uint8Array(Math.min(tuning.blockBytesMax, Math.max(tuning.blockBytesMin, 2 * bytes)));
    }
    block.set(piece, blockUsed);
    blockUsed += piece.length;
  }

  function take(last: Uint8Array): Uint8Array {
    if (bytes === 0) return last;
    const line = new Uint8Array(bytes + last.length);
    let at = 0;
    for (const piece of [...pieces, block.subarray(0, blockUsed), last]) {
      line.set(piece, at);
      at += piece.length;
    }
    drop();
    return line;
  }

  function drop(): void {
    pieces = [];
    block = new Uint8Array(0);
    blockUsed = 0;
    bytes = 0;
  }

  function decode(line: Uint8Array): DecodedLine | undefined {
    const end = line[line.length - 1] === carriageReturn ? line.length - 1 : line.length;
    let text: string;
    try {
      text = utf8.decode(line.subarray(0, end));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return { kind: 'malformed', reason: 'the line is not UTF-8' };
    }
    if (text.trim() === '') return undefined;
    if (hasMoreMembers(text, membersMax)) return { kind: 'malformed', reason: `more than ${membersMax} members` };
    try {
      const value: unknown = escapedSurrogate.test(text) ? JSON.parse(text, wellFormed) : JSON.parse(text);
      return cleanNesting(value, depthMax) ? { kind: 'json', value } : { kind: 'malformed', reason: `nested deeper than ${depthMax}` };
    } catch (error) {
      if (error instanceof SyntaxError) return { kind: 'malformed', reason: 'the line is not JSON' };
      if (error instanceof RangeError) return { kind: 'malformed', reason: `nested deeper than ${depthMax}` };
      throw error;
    }
  }

  return {
    push(chunk) {
      const lines: DecodedLine[] = [];
      let from = 0;
      while (!dead) {
        const at = chunk.indexOf(newline, from);
        const length = bytes + (at === -1 ? chunk.length : at) - from;
        if (length > lineBytesMax) {
          dead = true;
          drop();
          lines.push({ kind: 'too_long' });
          break;
        }
        if (at === -1) {
          keep(chunk.subarray(from));
          break;
        }
        const decoded = decode(take(chunk.subarray(from, at)));
        if (decoded) lines.push(decoded);
        from = at + 1;
      }
      return lines;
    },
    unfinishedBytes: () => bytes,
    drop,
  };
}

const quote = 34;
const comma = 44;
const backslash = 92;

/** Counts the commas outside of strings. Invalid JSON may be miscounted; the parser refuses it. */
function hasMoreMembers(text: string, membersMax: number): boolean {
  // Two characters a member at least.
  if (text.length / 2 <= membersMax) return false;
  let members = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === comma && ++members > membersMax) return true;
    if (code !== quote) continue;
    at = endOfString(text, at);
    if (at === -1) return false;
  }
  return false;
}

/** The index of the closing quote of the string that begins at `start`; -1 without one. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

const escapedSurrogate = /\\u[dD][89a-fA-F]/;

/** Replaces lone surrogates by U+FFFD on input, so that store, events and providers agree on every character. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** True when no value is nested deeper than `depthMax`. Drops `__proto__` keys (prototype pollution). */
function cleanNesting(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > depthMax) return false;
    const next: object[] = [];
    for (const node of level) {
      if (Object.hasOwn(node, '__proto__')) Reflect.deleteProperty(node, '__proto__');
      for (const child of Object.values(node) as unknown[]) if (typeof child === 'object' && child !== null) next.push(child);
    }
    level = next;
  }
  return true;
}
