import type { Issued } from './issued.js';
import type { StreamError, Stop, Usage } from './reply.js';
import type { Json } from './shape.js';

/** An event as it goes over the wire. */
export interface Said {
  sse: string;
  /** It carries a piece of text. */
  delta: boolean;
}

/** A tool call with its arguments in fragments. */
export interface Fragments {
  id: string;
  name: string;
  pieces: string[];
}

export interface VoiceDeps {
  /** The request that is answered. */
  body: Json;
  issued: Issued;
  /** What has been used before a word is said. */
  usage: Usage;
  /** Text is said as a refusal, where an API has a form for it. */
  refuses: boolean;
}

/** How one API says things: parts of an answer in, events out. */
export interface Voice {
  open(): Iterable<Said>;
  text(pieces: string[]): Iterable<Said>;
  thinking(pieces: string[], signature: string | undefined): Iterable<Said>;
  redacted(data: string): Iterable<Said>;
  call(call: Fragments): Iterable<Said>;
  /** Several calls whose fragments come in turns, where an API can do that. */
  interleave(calls: Fragments[]): Iterable<Said>;
  ping(): Iterable<Said>;
  error(error: StreamError): Iterable<Said>;
  close(stop: Stop, usage: Usage): Iterable<Said>;
}

export function sse(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}
