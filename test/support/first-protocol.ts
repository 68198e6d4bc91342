import { expect } from 'vitest';
import type { TestDaemon } from './daemon.js';
import type { RawClient, RawLine } from './raw-client.js';
import { done, isEvent, writtenText, type Told } from './wire.js';

// Clients of the first protocol, as they are known to behave: a connection for each command, an event connection that says nothing.

/** Sends one command on a connection of its own. */
export async function send(daemon: TestDaemon, type: string, payload: object = {}): Promise<RawLine> {
  const connection = await daemon.raw();
  const line = await connection.call(type, payload);
  connection.close();
  return line;
}

/** Prompts, dials after the reply, and reads until the end of the run that the reply names. */
export async function dialAfterPrompt(daemon: TestDaemon, text: string): Promise<{ runId: string; trace: RawLine[] }> {
  const runId = done(await send(daemon, 'prompt', { text, wait: false })).run_id as string;
  const events = await daemon.rawEvents();
  await events.until(isEvent('agent_end', { run_id: runId }));
  events.close();
  return { runId, trace: events.lines };
}

/** Dials, prompts, and follows the first run that it hears until that ends: it ignores every other. */
export async function dialBeforePrompt(daemon: TestDaemon, text: string): Promise<{ runId: string; followed: string; trace: RawLine[] }> {
  const events = await daemon.rawEvents();
  const runId = done(await send(daemon, 'prompt', { text, wait: false })).run_id as string;
  const followed = await firstRun(events);
  await events.until(isEvent('agent_end', { run_id: followed }));
  events.close();
  return { runId, followed, trace: events.lines };
}

async function firstRun(events: RawClient): Promise<string> {
  return (await events.until(isEvent('agent_start'))).payload.run_id!;
}

/** What a run said, as its deltas tell it. */
export function saidIn(trace: readonly RawLine[], runId: string): string {
  const ended = trace.filter(isEvent('message_end', { run_id: runId, role: 'assistant' }));
  return ended.flatMap(({ payload }) => writtenText(trace, payload.message_id!)).join('');
}

/** Fails unless the trace tells of this run as the contract promises: each thing begun is ended once, in order, and its text adds up. */
export function expectWholeRun(trace: readonly RawLine[], runId: string): void {
  const lines = trace.filter(({ payload }) => payload.run_id === runId);
  const seqs = lines.flatMap(({ seq }) => seq ?? []);
  expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
  const open: string[] = [];
  const seen = new Set<string>();
  function begin(name: string, within: string): void {
    expect({ name, within: open.at(-1)?.split(' ')[0], seen: seen.has(name) }).toEqual({ name, within, seen: false });
    seen.add(name);
    open.push(name);
  }
  function end(name: string): void {
    expect(open.pop()).toBe(name);
  }
  open.push('nothing');
  for (const { type, payload } of lines) {
    const { turn_id, message_id, tool_call_id, tool_name } = payload as Record<string, Told>;
    const call = `call ${tool_call_id as string} ${tool_name as string} ${turn_id as string}`;
    if (type === 'agent_start') begin('run', 'nothing');
    else if (type === 'turn_start') begin(`turn ${turn_id as string}`, 'run');
    else if (type === 'message_start') begin(`message ${message_id!}`, 'turn');
    else if (type === 'message_update') expect(open.at(-1)).toBe(`message ${message_id!}`);
    else if (type === 'message_end') end(`message ${message_id!}`);
    else if (type === 'tool_execution_start') begin(call, 'turn');
    else if (type === 'tool_execution_update') expect(open.at(-1)).toBe(call);
    else if (type === 'tool_execution_end') end(call);
    else if (type === 'turn_end') end(`turn ${turn_id as string}`);
    else if (type === 'agent_end') end('run');
    else expect(open.length).toBeGreaterThan(1);
  }
  expect(open).toEqual(['nothing']);
  expect(seen.has('run')).toBe(true);
  for (const { payload } of lines.filter(isEvent('message_end', { role: 'assistant' }))) {
    const message = payload.message as Told;
    if (payload.discarded === true) continue;
    const texts = (message.content as Told[]).flatMap((block, at) => (block.type === 'text' ? [[at, block.text]] : []));
    const written = writtenText(trace, payload.message_id!);
    expect(texts.map(([at]) => [at, written[at as number]])).toEqual(texts);
    expect(texts.map(([, text]) => text as string).join('')).toBe(message.text);
  }
}
