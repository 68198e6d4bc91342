import { limits } from '../../protocol/limits.js';
import type { StreamKind } from '../transport.js';

/** Why a relay could not open a stream or start a daemon. */
export interface RelayRefusal {
  code: string;
  message: string;
}

/** A frame without bytes. `stream` is absent where a frame is about the daemon as a whole. */
export interface Frame {
  stream?: number;
  /** To the relay: connect to this socket of the daemon. */
  open?: StreamKind;
  opened?: true;
  refused?: RelayRefusal;
  /** So many more bytes may be sent. */
  credit?: number;
  /** No more bytes come, and none are read. */
  close?: true;
  /** To the relay: start a daemon if none runs. */
  start?: true;
  started?: true;
}

/** The first line of a relay. */
export interface Greeting {
  /** The version of these frames. */
  relay: number;
  /** The version of berth there. */
  version: string;
  protocol: string;
  /** The home directory there. */
  home: string;
}

/** The other end does not speak as a relay does. */
export class RelayBroken extends Error {
  override name = 'RelayBroken';
}

export const relayVersion = 1;
const greetingWord = 'berth-relay';
const greetingLine = /(?:^|\n)berth-relay (\{[^\n]*\})\r?\n/;
const newline = 10;

/** The line begins with a newline, because a shell may have printed half a line before it. */
export function encodeGreeting(greeting: Greeting): string {
  return `\n${greetingWord} ${JSON.stringify(greeting)}\n`;
}

export function encodeFrame(frame: Frame): string {
  return `${JSON.stringify(frame)}\n`;
}

export function encodeBytes(stream: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ stream, bytes: bytes.length })}\n`), bytes]);
}

export interface FrameDecoder {
  /** Feeds bytes. Throws RelayBroken, after which nothing more can be read. */
  push(chunk: Buffer): void;
}

interface Hearers {
  onFrame(frame: Frame): void;
  /** A piece of the bytes of a stream; no copy. */
  onBytes(stream: number, piece: Buffer): void;
}

export function createFrameDecoder({ onFrame, onBytes }: Hearers): FrameDecoder {
  let header: Buffer = Buffer.alloc(0);
  let stream = 0;
  let bytesLeft = 0;

  function takeHeader(text: string): void {
    const frame = parseObject(text) as (Frame & { bytes?: number }) | undefined;
    if (!frame || (frame.stream !== undefined && !Number.isSafeInteger(frame.stream))) throw new RelayBroken('a frame is malformed');
    if (frame.bytes === undefined) return onFrame(frame);
    if (frame.stream === undefined || !Number.isInteger(frame.bytes) || frame.bytes < 0 || frame.bytes > limits.relayWindowBytesMax)
      throw new RelayBroken('a frame has an impossible size');
    stream = frame.stream;
    bytesLeft = frame.bytes;
  }

  return {
    push(chunk) {
      for (let at = 0; at < chunk.length;) {
        if (bytesLeft > 0) {
          const piece = chunk.subarray(at, at + bytesLeft);
          at += piece.length;
          bytesLeft -= piece.length;
          onBytes(stream, piece);
          continue;
        }
        const end = chunk.indexOf(newline, at);
        const part = chunk.subarray(at, end === -1 ? chunk.length : end);
        if (header.length + part.length > limits.relayHeaderBytesMax) throw new RelayBroken('the header of a frame is too long');
        header = Buffer.concat([header, part]);
        if (end === -1) return;
        const text = header.toString('utf8');
        header = Buffer.alloc(0);
        at = end + 1;
        takeHeader(text);
      }
    },
  };
}

/** Finds the first line of a relay behind what a shell prints before it (motd, .bashrc). */
export interface GreetingFinder {
  /** The greeting and the bytes behind it, once it was read. Throws RelayBroken when too much else came. */
  push(chunk: Buffer): { greeting: Greeting; rest: Buffer } | undefined;
}

export function createGreetingFinder(): GreetingFinder {
  let read: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      read = Buffer.concat([read, chunk]);
      const text = read.toString('latin1');
      const found = greetingLine.exec(text);
      if (!found) {
        if (read.length <= limits.relayNoiseBytesMax) return undefined;
        throw new RelayBroken(`more than ${limits.relayNoiseBytesMax} bytes came before the first line of berth relay`);
      }
      const end = found.index + found[0].length;
      return { greeting: toGreeting(Buffer.from(found[1] ?? '', 'latin1').toString('utf8')), rest: read.subarray(end) };
    },
  };
}

function toGreeting(text: string): Greeting {
  const { relay, version, protocol, home } = parseObject(text) ?? {};
  if (typeof relay !== 'number') throw new RelayBroken('the first line of berth relay is malformed');
  const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
  return { relay, version: toText(version), protocol: toText(protocol), home: toText(home) };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
