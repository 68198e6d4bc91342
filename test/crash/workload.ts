import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadSqlite } from '../../src/store/sqlite.js';
import type { TestDaemon } from '../support/daemon.js';
import { createLogMonitor, type LoggedEvent } from '../support/log-monitor.js';
import type { RawClient, RawLine } from '../support/raw-client.js';

/** Longer than any start should take; a hang is what it is for. */
const startMsMax = 10_000;
/** What a client has seen for so long is kept, whatever happens. */
const keptMs = 500;

type InputCommand = 'prompt' | 'steer' | 'follow_up';

interface SentInput {
  command: InputCommand;
  payload: { session_id: string; input_id: string; text: string };
  /** What it was acknowledged with. */
  ack: { runId: string; seq: number } | undefined;
}

interface ShownText {
  text: string;
  /** What was shown when, so that it can be told how much a client had seen at a moment. */
  lengths: { atMs: number; length: number }[];
}

export interface Round {
  /** How long the load goes on before the kill. */
  loadMs: number;
  /** Kill the next daemons too, so many milliseconds after each was started. */
  again?: number[];
  /** Instead of a kill from outside: the place at which the daemon kills itself. */
  fault?: string;
  /** Places at which the daemons that boot afterwards kill themselves. */
  bootFaults?: string[];
}

export interface Figures {
  kills: number;
  acknowledged: number;
  settled: number;
  cutTexts: number;
  parked: number;
  readyMs: number[];
  /** Rounds in which the daemon died at the named place by itself. */
  hits: Map<string, number>;
}

/**
 * Clients that queue, edit, abort, ask and stream flat out, and remember what they were told. After every death of the daemon
 * `round` has checked that it told the truth.
 */
export async function createWorkload(daemon: TestDaemon, random: () => number) {
  const monitor = createLogMonitor();
  const sent = new Map<string, SentInput>();
  const unsure = new Set<string>();
  const edits = new Map<string, string | undefined>();
  const removed = new Set<string>();
  const aborted = new Set<string>();
  const modes = new Map<string, string | undefined>();
  const shown = new Map<string, ShownText>();
  const answered = new Set<string>();
  const figures: Figures = { kills: 0, acknowledged: 0, settled: 0, cutTexts: 0, parked: 0, readyMs: [], hits: new Map() };
  let sessions: string[] = [];
  let streaming = '';
  let asking = '';
  let count = 0;
  let rounds = 0;

  function pick<T>(among: readonly T[]): T {
    return among[Math.floor(random() * among.length)]!;
  }

  async function ask(client: RawClient, type: string, payload: object): Promise<RawLine> {
    const reply = await client.call(type, payload);
    assert(reply.ok === true, `${type} ${JSON.stringify(payload)} is answered ${JSON.stringify(reply.error)}`);
    return reply;
  }

  async function newSession(client: RawClient): Promise<string> {
    return (await ask(client, 'new_session', {})).payload.session_id ?? '';
  }

  /** New ones now and then: a queue that is full would only measure its limit. */
  async function freshSessions(client: RawClient): Promise<void> {
    sessions = [await newSession(client), await newSession(client), await newSession(client)];
    streaming = await newSession(client);
  }

  async function submit(client: RawClient, input: SentInput): Promise<RawLine> {
    const { input_id } = input.payload;
    unsure.add(input_id);
    const reply = await client.call(input.command, { ...input.payload, ...(input.command === 'prompt' ? { wait: false } : {}) });
    unsure.delete(input_id);
    if (!reply.ok) {
      assert(!input.ack, `${input_id} was acknowledged before and is refused now: ${JSON.stringify(reply.error)}`);
      return reply;
    }
    const ack = { runId: reply.payload.run_id ?? '', seq: reply.seq ?? 0 };
    if (input.ack) assert.deepEqual(ack, input.ack, `a retry of ${input_id} is answered the same`);
    else figures.acknowledged++;
    input.ack = ack;
    return reply;
  }

  function newInput(session: string, text: string, command = pick(['prompt', 'steer', 'follow_up', 'follow_up', 'follow_up'] as const)) {
    const more = command === 'prompt' ? { if_busy: pick(['reject', 'steer', 'follow_up']) } : { if_idle: 'prompt' };
    const payload = { session_id: session, input_id: `in-${++count}`, text, ...more };
    const input: SentInput = { command, payload, ack: undefined };
    sent.set(payload.input_id, input);
    return input;
  }

  /** One of the things that people do to a session. */
  async function act(client: RawClient, session: string): Promise<void> {
    const what = random();
    if (what < 0.7) {
      const texts = [
        `say hello ${count}`,
        `say hello ${count}`,
        'call 3 tools',
        `echo e${count} for 1 seconds`,
        'stream 30 words',
        'think',
      ];
      await submit(client, newInput(session, pick(texts)));
      return;
    }
    const mine = [...sent.values()].filter(({ ack, payload }) => ack && payload.session_id === session).slice(-20);
    const inputId = mine.length > 0 ? pick(mine).payload.input_id : undefined;
    if (what < 0.78 && inputId !== undefined) {
      const before = edits.has(inputId) ? edits.get(inputId) : sent.get(inputId)?.payload.text;
      const text = `say edited ${++count}`;
      // Until it is answered nobody knows which of them it is.
      edits.set(inputId, undefined);
      const reply = await client.call('update_queued', { input_id: inputId, revision: 1, text });
      edits.set(inputId, reply.ok ? text : before);
    } else if (what < 0.84 && inputId !== undefined) {
      const reply = await client.call('remove_queued', { input_id: inputId });
      if (reply.ok) removed.add(inputId);
    } else if (what < 0.88) {
      const reply = await client.call('abort', { session_id: session, keep_queue: random() < 0.5 });
      if (reply.ok) aborted.add(reply.payload.run_id ?? '');
    } else if (what < 0.9) await client.call('clear_queue', { session_id: session });
    else if (what < 0.96) await client.call('resume_queue', { session_id: session });
    else {
      const mode = pick(['all', 'one-at-a-time']);
      modes.set(session, undefined);
      const reply = await client.call('set_steering_mode', { session_id: session, mode });
      if (reply.ok) modes.set(session, mode);
    }
  }

  /** Acts until the daemon is gone. */
  async function actOn(session: string): Promise<void> {
    await untilGone(async () => {
      const client = await daemon.raw();
      for (;;) await act(client, session);
    });
  }

  /** Watches a long answer grow and remembers what was on the screen when. */
  async function watch(): Promise<void> {
    await untilGone(async () => {
      const client = await daemon.raw();
      const events = await daemon.rawEvents();
      events.send({ v: '1', id: 's', type: 'subscribe', payload: { session_id: streaming } });
      // What comes before the answer is of the stream for clients that never subscribe.
      while ((await events.next()).id !== 's');
      await client.call('prompt', { session_id: streaming, text: 'stream 3000 words', wait: false });
      for (;;) {
        const line = await events.next();
        if (line.type !== 'message_update') continue;
        const { message_id = '', offset, delta } = line.payload as { message_id?: string; offset: number; delta: string };
        const seen = shown.get(message_id) ?? { text: '', lengths: [] };
        shown.set(message_id, seen);
        seen.text = seen.text.slice(0, offset) + delta;
        seen.lengths.push({ atMs: performance.now(), length: seen.text.length });
      }
    });
  }

  async function untilGone(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { message, code } = error as Error & { code?: string };
      const isGone =
        message.startsWith('the connection is closed') || ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE'].includes(code ?? '');
      if (!isGone) throw error;
    }
  }

  /** The time from the start of the process to the first answer. */
  async function start(): Promise<RawClient> {
    const from = performance.now();
    const patience = delay(startMsMax, undefined, { ref: false }).then(() => assert.fail(`the daemon is not ready after ${startMsMax} ms`));
    await Promise.race([daemon.start(), patience]);
    const client = await daemon.raw();
    await ask(client, 'ping', {});
    figures.readyMs.push(performance.now() - from);
    return client;
  }

  /** A daemon that is killed before anyone has spoken to it. */
  async function startAndKill(afterMs: number): Promise<void> {
    const starting = daemon.start().catch((error: unknown) => assert.match(String(error), /the daemon ended with null/));
    await delay(afterMs);
    await daemon.kill9();
    await starting;
    figures.kills++;
  }

  async function startAndFault(fault: string): Promise<void> {
    daemon.env.BERTH_FAULT = fault;
    const died = await daemon.start().then(
      () => false,
      (error: unknown) => String(error).includes('the daemon ended with null') || assert.fail(String(error)),
    );
    delete daemon.env.BERTH_FAULT;
    await daemon.kill9();
    figures.kills++;
    if (died) note(`boot ${fault}`);
  }

  function note(place: string): void {
    figures.hits.set(place, (figures.hits.get(place) ?? 0) + 1);
  }

  /** Runs that do not wait for a person. A boot may begin some, with what waited for the run that it has settled. */
  function openRuns(): string[] {
    const asked = new Set([...monitor.requests.values()].flatMap(({ runId, open }) => (open ? [runId] : [])));
    return [...monitor.runs].flatMap(([runId, outcome]) => (outcome === undefined && !asked.has(runId) ? [runId] : []));
  }

  /** Up to now; with `settled`, until every run that does not wait for a person has its outcome. */
  async function readLog(settled = false): Promise<void> {
    const enough = new AbortController();
    const patience = delay(startMsMax, undefined, { ref: false, signal: enough.signal }).then(
      () => assert.fail(`${openRuns().join(', ')} have no outcome`),
      () => undefined,
    );
    const events = await daemon.rawEvents();
    events.send({ v: '1', id: 's', type: 'subscribe', payload: { session_id: '*', after: monitor.seq(), live: false } });
    const subscribed = await events.until(({ id }) => id === 's');
    assert(subscribed.ok === true, `the log is refused: ${JSON.stringify(subscribed.error)}`);
    const head = Number(subscribed.payload.seq);
    let at = events.lines.indexOf(subscribed) + 1;
    while (monitor.seq() < head || (settled && openRuns().length > 0)) {
      await Promise.race([events.until((line) => events.lines.indexOf(line, at) >= at), patience]);
      for (; at < events.lines.length; at++) monitor.feed(events.lines[at] as unknown as LoggedEvent);
    }
    enough.abort();
    events.close();
    for (const id of monitor.sessions.keys()) monitor.checkWhole(id);
  }

  /** Nobody knows whether these were taken: a retry settles it, once. */
  async function settleUnsure(client: RawClient): Promise<void> {
    for (const inputId of [...unsure]) {
      const input = sent.get(inputId)!;
      const first = await submit(client, input);
      if (first.ok) await submit(client, input);
      figures.settled++;
    }
  }

  async function retrySome(client: RawClient): Promise<void> {
    const acknowledged = [...sent.values()].filter(({ ack }) => ack);
    for (let i = 0; i < Math.min(5, acknowledged.length); i++) {
      const input = pick(acknowledged);
      await submit(client, input);
      const changed = { ...input.payload, text: `${input.payload.text}!`, ...(input.command === 'prompt' ? { wait: false } : {}) };
      const conflict = await client.call(input.command, changed);
      assert.equal(conflict.error?.message, 'input_conflict', 'the same id with another text is a conflict');
    }
  }

  /** Everything that anyone was told is so, and everything is in one place. */
  function checkPromises(): void {
    for (const [inputId, { ack, payload }] of sent) {
      if (!ack) continue;
      const input = monitor.inputs.get(inputId);
      assert(input, `${inputId} was acknowledged and is lost`);
      assert.equal(input.messages, input.state === 'taken' ? 1 : 0, `${inputId} is ${input.state} and was run ${input.messages} times`);
      const text = edits.has(inputId) ? edits.get(inputId) : payload.text;
      if (text !== undefined) assert.equal(input.text, text, `${inputId} has the text it was last given`);
      if (removed.has(inputId)) assert.equal(input.state, 'removed', `${inputId} was removed`);
    }
    // A run that waited for a person goes on after the boot.
    assert.deepEqual(openRuns(), [], 'every other run has an outcome');
    for (const [runId, outcome] of monitor.runs) {
      if (aborted.has(runId)) assert.equal(outcome, 'aborted', `${runId} was told to be aborted`);
    }
    for (const [call, starts] of monitor.callStarts) assert.equal(starts, 1, `the call ${call} began ${starts} times`);
    for (const requestId of answered) assert.equal(monitor.requests.get(requestId)?.open, false, `${requestId} was answered`);
    for (const { id, waiting, paused, run, steeringMode } of monitor.sessions.values()) {
      if (modes.get(id) !== undefined) assert.equal(steeringMode, modes.get(id), `the mode of ${id} is the one that was set`);
      if (!run && waiting.some(({ hold }) => !hold)) assert(paused, `what waits in ${id} is kept, paused`);
    }
  }

  async function checkTexts(client: RawClient, killedMs: number): Promise<void> {
    if (shown.size === 0) return;
    const { messages } = (await ask(client, 'get_messages', { session_id: streaming })).payload as {
      messages?: { id: string; text: string }[];
    };
    for (const [messageId, { text, lengths }] of shown) {
      const kept = messages?.find(({ id }) => id === messageId)?.text;
      assert(kept !== undefined, `a message of which a client saw ${text.length} characters is gone`);
      // A machine that is busy with other things may stop the daemon long before the kill does: its last sign of life counts.
      const aliveMs = Math.min(killedMs, lengths.at(-1)?.atMs ?? 0);
      const seen = lengths.findLast(({ atMs }) => atMs <= aliveMs - keptMs)?.length ?? 0;
      assert(kept.startsWith(text.slice(0, seen)), `a client saw ${seen} characters ${keptMs} ms before the kill, ${kept.length} are left`);
      assert(kept.startsWith(text) || text.startsWith(kept), 'what is kept is what was shown');
      if (seen > 0) figures.cutTexts++;
    }
    shown.clear();
  }

  /** The questions that were open before are open still, under the same ids, and one of them is answered. */
  async function checkParked(client: RawClient, before: string[]): Promise<void> {
    const { requests = [] } = (await ask(client, 'list_ui_requests', {})).payload as {
      requests?: { request_id: string; method: string; params: { options?: { value: string }[] } }[];
    };
    const open = new Set(requests.map(({ request_id }) => request_id));
    for (const id of before) assert(open.has(id), `the question ${id} was open before the kill and is not after it`);
    figures.parked += before.length;
    const [first] = requests;
    if (first && random() < 0.3) {
      const results: Record<string, unknown> = { select: first.params.options?.[0]?.value, confirm: true, input: 'a', editor: 'b' };
      const answer = { request_id: first.request_id, result: results[first.method] };
      await ask(client, 'ui_response', answer);
      const late = await client.call('ui_response', answer);
      assert.equal(late.error?.message, 'already_resolved', 'a question is answered once');
      answered.add(first.request_id);
    }
  }

  function openRequests(): string[] {
    return [...monitor.requests].filter(([, { open }]) => open).map(([id]) => id);
  }

  /** Somebody is asked something, so that a run waits for a person when the daemon dies. */
  async function askSomebody(client: RawClient): Promise<void> {
    if (asking === '') asking = await newSession(client);
    const reply = await client.call('prompt', { session_id: asking, text: 'ask me', wait: false });
    if (!reply.ok) return;
    const events = await daemon.rawEvents();
    events.send({ v: '1', id: 's', type: 'subscribe', payload: { session_id: asking, after: (reply.seq ?? 1) - 1 } });
    await events.until(({ type }) => type === 'ui_request');
    events.close();
  }

  /** Load, death, boot, and the truth. */
  async function round({ loadMs, again = [], fault, bootFaults = [] }: Round): Promise<void> {
    let parked: string[] = [];
    if (fault !== undefined) {
      await daemon.kill9();
      daemon.env.BERTH_FAULT = fault;
      await daemon.start().catch((error: unknown) => assert.match(String(error), /the daemon ended with null/));
      delete daemon.env.BERTH_FAULT;
    }
    let died = true;
    let load: Promise<unknown> = Promise.resolve();
    await untilGone(async () => {
      const client = await daemon.raw();
      const gone = client.ended();
      if (rounds++ % 8 === 0) await freshSessions(client);
      await askSomebody(client);
      await readLog();
      parked = openRequests();
      load = Promise.all([...sessions.map(actOn), ...(loadMs > keptMs ? [watch()] : [])]);
      // Whoever was told something wrong says so when the load is waited for.
      load.catch(() => undefined);
      died = await Promise.race([gone.then(() => true), delay(loadMs, false, { ref: false })]);
    });
    if (fault !== undefined && died) note(fault);
    const killedMs = performance.now();
    await daemon.kill9();
    figures.kills++;
    await load;
    for (const afterMs of again) await startAndKill(afterMs);
    for (const bootFault of bootFaults) await startAndFault(bootFault);
    const client = await start();
    await readLog(true);
    checkPromises();
    await checkTexts(client, killedMs);
    await checkParked(client, parked);
    await settleUnsure(client);
    await retrySome(client);
    client.close();
  }

  /** After the last round: nothing moves any more, and rows, log and file agree. */
  async function finish(): Promise<void> {
    await daemon.kill9();
    const client = await start();
    await readLog(true);
    checkPromises();
    for (const session of monitor.sessions.values()) {
      const { inputs } = (await ask(client, 'get_queue', { session_id: session.id })).payload as { inputs?: { input_id: string }[] };
      assert.deepEqual(
        inputs?.map(({ input_id }) => input_id),
        session.waiting.map(({ input_id }) => input_id),
        'what waits is what the log says',
      );
      const { messages } = (await ask(client, 'get_messages', { session_id: session.id })).payload as { messages?: { id: string }[] };
      const path = monitor.pathOf(session.leafId);
      assert.deepEqual(
        messages?.map(({ id }) => id),
        path.slice(-(messages?.length ?? 0)),
        'the messages are what the log says',
      );
    }
    await daemon.terminate();
    checkStore(join(daemon.paths.stateDir, 'berth.db'));
  }

  await untilGone(async () => freshSessions(await daemon.raw()));
  return { round, finish, figures };
}

/** The file is sound, and nothing is left of what was open. */
export function checkStore(path: string): void {
  const Sqlite = loadSqlite();
  const db = new Sqlite(path, { readonly: true });
  assert.deepEqual(db.pragma('integrity_check'), [{ integrity_check: 'ok' }]);
  assert.deepEqual(db.pragma('foreign_key_check'), []);
  assert.equal(db.prepare('SELECT count(*) FROM partial').pluck().get(), 0, 'ended messages leave no partial rows');
  db.close();
}

/** Two daemons side by side, each with a share of the work: one of them is always starting. */
export async function inLanes(share: (lane: 0 | 1) => Promise<Figures>): Promise<Figures> {
  const [one, other] = await Promise.all([share(0), share(1)]);
  return {
    kills: one.kills + other.kills,
    acknowledged: one.acknowledged + other.acknowledged,
    settled: one.settled + other.settled,
    cutTexts: one.cutTexts + other.cutTexts,
    parked: one.parked + other.parked,
    readyMs: [...one.readyMs, ...other.readyMs],
    hits: new Map([...one.hits, ...other.hits]),
  };
}

/** The figures in a line, for whoever reads the output of the tests. */
export function tell(claim: string, { kills, acknowledged, settled, cutTexts, parked, readyMs }: Figures): string {
  const sorted = readyMs.toSorted((a, b) => a - b);
  const at = (part: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(0);
  const counts = `${kills} kills, ${acknowledged} acknowledged, ${settled} settled by a retry, ${cutTexts} texts cut and kept, ${parked} questions kept`;
  return `${claim}: ${counts}; start to first answer p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
