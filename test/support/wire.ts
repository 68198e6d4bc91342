import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { TestDaemon } from './daemon.js';
import type { RawClient, RawLine } from './raw-client.js';

/** What came over a socket: looked at with expect(), not with types. */
export type Told = ReturnType<typeof JSON.parse>;

/** The payload of a reply that must be a success. */
export function done(line: RawLine): Record<string, Told> {
  if (line.ok !== true) throw new Error(`refused: ${JSON.stringify(line).slice(0, 500)}`);
  return line.payload;
}

/** The error of a reply that must be a refusal. */
export function refusalOf(line: RawLine): NonNullable<RawLine['error']> {
  if (line.type !== 'error' || line.ok !== false || !line.error) throw new Error(`not refused: ${JSON.stringify(line).slice(0, 500)}`);
  return line.error;
}

export async function newSession(client: RawClient, fields: object = {}): Promise<string> {
  return done(await client.call('new_session', fields)).session_id as string;
}

/** Prompts and waits for the run's end. */
export async function say(client: RawClient, sessionId: string, text: string): Promise<Record<string, Told>> {
  return done(await client.call('prompt', { text, session_id: sessionId }));
}

/** Prompts and does not wait. */
export async function begin(client: RawClient, sessionId: string, text: string, more: object = {}): Promise<string> {
  return done(await client.call('prompt', { text, session_id: sessionId, wait: false, ...more })).run_id as string;
}

/** A connection to the event socket with a subscription of its own. */
export async function listenTo(daemon: TestDaemon, payload: object): Promise<RawClient & { subscribed: RawLine }> {
  const client = await daemon.rawEvents();
  client.send({ id: 'sub', type: 'subscribe', payload });
  const subscribed = await client.until((line) => line.id === 'sub');
  done(subscribed);
  // On a busy machine the stream of a client that says nothing may have begun before: it is not ours.
  client.lines.splice(0, client.lines.indexOf(subscribed));
  return Object.assign(client, { subscribed });
}

export function isEvent(type: string, fields: object = {}): (line: RawLine) => boolean {
  const wanted = Object.entries(fields);
  return (line) => line.ok === undefined && line.type === type && wanted.every(([key, value]) => line.payload[key] === value);
}

/** Durable events only, oldest first as they came. */
export function durable(lines: readonly RawLine[]): RawLine[] {
  return lines.filter((line) => line.ok === undefined && line.seq !== undefined);
}

/** Events after the reply to `subscribe`. */
export function heard(client: RawClient): RawLine[] {
  const at = client.lines.findIndex((line) => line.type === 'subscribed');
  return client.lines.slice(at + 1);
}

/** What deltas make of each block of a message, written by offset as the contract says. Holes fail. */
export function writtenText(lines: readonly RawLine[], messageId: string): string[] {
  const blocks: string[] = [];
  for (const line of lines) {
    if (line.type !== 'message_update' || line.payload.message_id !== messageId) continue;
    const { block, offset, delta, thinking_delta, tool_call_delta } = line.payload as Record<string, Told>;
    const before = blocks[block as number] ?? '';
    expect(offset).toBeLessThanOrEqual(before.length);
    const text = (delta ?? thinking_delta ?? tool_call_delta) as string;
    expect(text.isWellFormed()).toBe(true);
    blocks[block as number] = before.slice(0, offset as number) + text;
  }
  return blocks;
}

/** The words that "stream N words" says. */
export function streamed(count: number): string {
  return Array.from({ length: count }, (_, i) => `word${i + 1}`).join(' ');
}

/** The daemon is there and answers. */
export async function expectAlive(daemon: TestDaemon): Promise<void> {
  const client = await daemon.raw();
  expect((await client.call('ping')).payload).toEqual({ message: 'pong' });
  client.close();
}

/** What the daemon logged as an error or worse. */
export function complaints(daemon: TestDaemon): string[] {
  const lines = readFileSync(join(daemon.paths.stateDir, 'berth.log'), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && (JSON.parse(line) as { level: number }).level >= 50);
}

/** Looks again and again until what must become true is true: as long as a test may take, on a machine that is busy. */
export async function eventually(check: () => unknown, withinMs = 40_000): Promise<void> {
  const until = performance.now() + withinMs;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** Measures what a connection is sent: the bytes of the longest line so far. */
export function measureLines(client: RawClient): () => number {
  let longest = 0;
  let bytes = 0;
  client.socket.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      longest = Math.max(longest, bytes + at - from);
      bytes = 0;
      from = at + 1;
    }
    bytes += chunk.length - from;
    longest = Math.max(longest, bytes);
  });
  return () => longest;
}
