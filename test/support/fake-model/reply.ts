export type Api = 'anthropic' | 'openai-responses' | 'openai-chat';

/** Why the model stopped; each API says it in its own words. */
export type Stop = 'stop' | 'length' | 'tool_use' | 'refusal' | 'content_filter';

/** In tokens. `input` is what the cache had no part in: the OpenAI forms report the sum of the three. */
export interface Usage {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  /** A part of `output`. */
  reasoning?: number;
}

export interface ToolCall {
  name: string;
  /** A string is sent as it is, be it JSON or not. */
  args?: unknown;
  id?: string;
  /** In so many fragments of arguments. */
  pieces?: number;
}

export interface StreamError {
  /** The `type` of the error, or its `code` in the Responses API. */
  type?: string;
  message: string;
  /** The Responses API has three ways to say it: as documented, as seen in the wild, and as the end of the response. */
  form?: 'flat' | 'nested' | 'failed';
}

/**
 * A part of an answer. Text that follows text goes on with the same block, thinking likewise, whatever waits in between. A block is
 * closed when another one begins or when the answer is over, so that what is cut, stalled or ended stays open.
 */
export type Step =
  /** In so many deltas, cut anywhere, also inside a surrogate pair; one a word if not said. `everyMs` is for benchmarks. */
  | { text: string; pieces?: number; everyMs?: number }
  /** A signature closes the block; without one it gets one when it is closed. The Responses API calls it encrypted content. */
  | { thinking: string; signature?: string; pieces?: number }
  | { redacted: string }
  | { call: string; args?: unknown; id?: string; pieces?: number }
  /** Several calls at once; with `interleaved` the Chat Completions API sends their fragments in turns. */
  | { calls: ToolCall[]; interleaved?: boolean }
  /** Sends nothing until it resolves. As the first step it holds back even the headers. */
  | { gate: Promise<unknown> }
  | { ping: true }
  /** As it is. As the first step it stands in for the opening events. */
  | { raw: string | Uint8Array }
  /** After this the closing events are left out. */
  | { error: StreamError }
  /** The connection ends in the middle of the stream. */
  | { cut: true }
  /** The response ends cleanly, but without its closing events. */
  | { end: true }
  /** Nothing more, until the peer leaves. */
  | { stall: true };

export interface Answer {
  steps: readonly Step[];
  usage?: Usage;
  stop?: Stop;
  /** Written in chunks of so many bytes, which fall inside of UTF-8 sequences too. */
  chunkBytes?: number;
}

export interface Failure {
  status: number;
  headers?: Record<string, string>;
  /** What the provider says with this status, if not said. A string is sent as it is. */
  body?: unknown;
}

/** `reset` is a connection reset before any byte. */
export type Reply = readonly Step[] | Answer | Failure | 'reset';

export function isFailure(reply: Reply): reply is Failure {
  return typeof reply === 'object' && 'status' in reply;
}

export function isSteps(reply: Reply): reply is readonly Step[] {
  return Array.isArray(reply);
}

export function splitWords(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text]);
}

/** Pieces of about the same length in UTF-16 units: a surrogate pair may be torn. */
export function splitEvenly(text: string, pieces: number): string[] {
  const cuts = Array.from({ length: pieces + 1 }, (_, i) => Math.round((i * text.length) / pieces));
  return cuts.slice(1).flatMap((end, i) => (end > cuts[i]! ? [text.slice(cuts[i], end)] : []));
}
