import { createConnection, type Socket } from 'node:net';
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import type { RawLine } from './raw-client.js';

/** A reader of events that keeps count and not the lines: for many readers of much text. */
export interface Tally {
  readonly socket: Socket;
  readonly seqs: number[];
  /** How far each message has been told, without a hole and as expected. */
  readonly told: Map<string, number>;
  /** Runs of which the end was heard. */
  readonly ended: Set<string>;
  /** What was not as it should be. */
  readonly wrong: string[];
  bytes(): number;
  subscribed(): RawLine | undefined;
  /** Resolves when `enough` is true; looked at after every piece that comes. */
  until(enough: () => boolean): Promise<void>;
}

/** Subscribes, and from then on compares every delta with the text that every message is expected to have. */
export async function tallyEvents(
  path: string,
  payload: object,
  expected: string,
  onBytes?: (bytes: number, socket: Socket) => void,
): Promise<Tally> {
  const socket = createConnection(path);
  await once(socket, 'connect');
  const decoder = new StringDecoder('utf8');
  const seqs: number[] = [];
  const told = new Map<string, number>();
  const ended = new Set<string>();
  const wrong: string[] = [];
  let subscribed: RawLine | undefined;
  let rest = '';
  let bytes = 0;
  let over = false;
  let wake: (() => void)[] = [];

  function take(line: RawLine): void {
    if (line.ok !== undefined) subscribed = line;
    // On a busy machine the stream of a client that says nothing may have begun before: it is not ours.
    else if (subscribed === undefined) return;
    else if (line.seq !== undefined) takeDurable(line, line.seq);
    else if (line.type === 'message_update') takeDelta(line);
    else if (line.type === 'goodbye') wrong.push(`goodbye ${String(line.payload.reason)}`);
  }
  function takeDurable({ type, payload }: RawLine, seq: number): void {
    if (seq <= (seqs.at(-1) ?? 0)) wrong.push(`seq ${seq} after ${seqs.at(-1)}`);
    seqs.push(seq);
    if (type === 'agent_end') ended.add(payload.run_id!);
    const id = payload.message_id ?? '';
    if (type === 'message_start' && payload.role === 'assistant') told.set(id, 0);
    if (type === 'message_end' && payload.role === 'assistant' && told.has(id) && told.get(id) !== expected.length) {
      wrong.push(`the end of ${id} at ${told.get(id)} of ${expected.length}`);
    }
  }
  function takeDelta({ payload }: RawLine): void {
    const { message_id: id = '', offset, delta } = payload as { message_id?: string; offset: number; delta: string };
    const at = told.get(id);
    if (at === undefined) wrong.push(`a delta of ${id} before its start`);
    else if (offset !== at) wrong.push(`a delta of ${id} at ${offset}, not ${at}`);
    else if (!expected.startsWith(delta, offset)) wrong.push(`another text at ${offset} of ${id}`);
    told.set(id, offset + delta.length);
  }

  function wakeAll(): void {
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  }
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    onBytes?.(bytes, socket);
    const lines = decoder.write(chunk).split('\n');
    lines[0] = rest + lines[0]!;
    rest = lines.pop()!;
    for (const line of lines) take(JSON.parse(line) as RawLine);
    wakeAll();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    over = true;
    wakeAll();
  });

  async function until(enough: () => boolean): Promise<void> {
    while (!enough()) {
      if (over) throw new Error(`the connection is closed; ${wrong.join('; ')}`);
      await new Promise<void>((resolve) => wake.push(resolve));
    }
  }

  socket.write(`${JSON.stringify({ id: 'sub', type: 'subscribe', payload })}\n`);
  await until(() => subscribed !== undefined);
  return { socket, seqs, told, ended, wrong, bytes: () => bytes, subscribed: () => subscribed, until };
}
