import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import type { Berth, CommandInput, CommandType, Reply } from '../../src/client/index.js';
import { openEventStream, type EventStream } from '../../src/client/event-client.js';
import { viewOf } from '../../src/client/session-view.js';
import { emptySession, evolve, type SessionState } from '../../src/core/session.js';
import type { DurableEvent, Fact } from '../../src/protocol/events.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { createLogMonitor } from '../support/log-monitor.js';
import { same, toKnown } from './agree.js';
import { createOnlooker, type Onlooker } from './onlooker.js';

const full = process.env.BERTH_FAULTS === 'full';
const sequences = full ? 300 : 15;
const seed = process.env.BERTH_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.BERTH_SEED);
const controllers = 3;

const texts = [
  'say ahoy',
  'stream 20 words',
  'stream 60 words',
  'call 3 tools',
  'echo hi with approval',
  'ask me',
  'fail late',
  'think',
  'call nonsense',
];
const anyDeed = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('prompt' as const),
      text: fc.constantFrom(...texts),
      ifBusy: fc.constantFrom('reject' as const, 'steer' as const, 'follow_up' as const),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constantFrom('steer' as const, 'follow_up' as const),
      text: fc.constantFrom(...texts),
      ifIdle: fc.constantFrom('reject' as const, 'prompt' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('retry' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('abort' as const), keep: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('update' as const),
      hold: fc.option(fc.boolean(), { nil: undefined }),
      position: fc.option(fc.nat(3), { nil: undefined }),
      text: fc.option(fc.constantFrom(...texts), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resume_queue' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('resume_run' as const),
      action: fc.constantFrom('retry' as const, 'continue' as const, 'abandon' as const),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('answer' as const), choice: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('set_leaf' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('branch' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('mode' as const), mode: fc.constantFrom('one-at-a-time' as const, 'all' as const) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('watch' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('hang up' as const) }) },
);
const anyStep = fc.record({ pick: fc.nat(30), deed: anyDeed });
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;
/** What the controllers do side by side, each in its order; then a rest, and perhaps a restart. */
const anyPhase = fc.record({
  steps: fc.tuple(...Array.from({ length: controllers }, () => fc.array(anyStep, { minLength: 4, maxLength: 8, size: 'max' }))),
  then: fc.constantFrom('rest' as const, 'rest' as const, 'kill' as const, 'kill' as const, 'stop' as const),
});
type Phase = typeof anyPhase extends fc.Arbitrary<infer T> ? T : never;

interface SentInput {
  command: 'prompt' | 'steer' | 'follow_up';
  payload: { session_id: string; input_id: string; text: string };
  ack: { runId: string; seq: number } | undefined;
}

/** A daemon with its log read along, and all that its clients know. */
async function createScene(daemon: TestDaemon) {
  const monitor = createLogMonitor();
  const folded = new Map<string, SessionState>();
  const sent: SentInput[] = [];
  const onlookers: Onlooker[] = [];
  const berths: Berth[] = [];
  const lastSeqs = new Map<string, number>();
  let log: EventStream | undefined;
  let wake: (() => void)[] = [];
  let failure: unknown;
  let count = 0;

  /** Reads the log from where it was left. Of sessions that were deleted meanwhile there may be nothing but the deletion. */
  async function readAlong(): Promise<void> {
    const opened = await openEventStream(daemon.paths.socket, { sessionId: '*', after: monitor.seq(), live: false });
    log = opened;
    let missed: DurableEvent[] = [];
    const take = (event: DurableEvent): void => {
      if (event.seq > opened.seq) return hear(event);
      missed.push(event);
      if (event.seq < opened.seq) return;
      const gone = new Set(
        missed.flatMap(({ type, payload }) => (type === 'session_update' && payload.deleted ? [payload.session_id] : [])),
      );
      for (const past of missed) {
        if (!gone.has(past.payload.session_id)) hear(past);
        else if (past.type === 'session_update' && past.payload.deleted) hear(past, monitor.feedDeletion);
      }
      missed = [];
    };
    void (async () => {
      for await (const event of opened) {
        if (event.type === 'goodbye') break;
        take(event as unknown as DurableEvent);
      }
    })().catch((error: unknown) => {
      failure ??= error;
      for (const resolve of wake) resolve();
    });
  }

  function hear<T extends DurableEvent>(event: T, feed: (event: T) => void = monitor.feed): void {
    const { session_id } = event.payload;
    feed.call(monitor, event);
    lastSeqs.set(session_id, event.seq);
    folded.set(session_id, evolve(folded.get(session_id) ?? emptySession(session_id), event as Fact));
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  }

  async function until(holds: () => boolean): Promise<void> {
    while (!holds() && failure === undefined) await new Promise<void>((resolve) => wake.push(resolve));
    if (failure !== undefined) throw failure as Error;
  }

  async function head(): Promise<number> {
    const reply = await berths[0]!.call('get_state', {});
    assert(reply.ok);
    return reply.payload.seq;
  }

  /** Every run has ended or waits for a person, and the log says so. */
  async function rest(): Promise<void> {
    await until(() => {
      const asking = new Set([...monitor.requests.values()].filter(({ open }) => open).map(({ runId }) => runId));
      return [...monitor.sessions.values()].every(
        ({ run, deleting, deleted }) => (!run && (!deleting || deleted)) || (run !== undefined && asking.has(run.id) && !run.aborting),
      );
    });
    const seq = await head();
    await until(() => monitor.seq() >= seq);
    if (
      [...monitor.sessions.values()].some(
        ({ run }) => run && ![...monitor.requests.values()].some(({ open, runId }) => open && runId === run.id),
      )
    )
      await rest();
  }

  function living(): string[] {
    return [...monitor.sessions.values()].filter(({ deleted, deleting }) => !deleted && !deleting).map(({ id }) => id);
  }

  async function submit(berth: Berth, input: SentInput): Promise<void> {
    const reply: Reply<CommandType> = await berth.call(input.command, input.payload as CommandInput<'steer'>);
    if (!reply.ok) {
      const gone = reply.error.code === 'session_not_found';
      assert(!input.ack || gone, `${input.payload.input_id} was acknowledged and is refused now: ${reply.error.message}`);
      return;
    }
    const { run_id } = reply.payload as { run_id: string };
    if (input.ack)
      assert.deepEqual({ runId: run_id, seq: reply.seq }, input.ack, `a retry of ${input.payload.input_id} is answered the same`);
    input.ack = { runId: run_id, seq: reply.seq };
  }

  async function step(berth: Berth, { pick, deed }: Step): Promise<void> {
    const sessions = living();
    const session_id = sessions[pick % Math.min(3, Math.max(1, sessions.length))];
    if (session_id === undefined) return void (await berth.call('new_session', {}));
    const session = monitor.sessions.get(session_id)!;
    const waiting = session.waiting[pick % Math.max(1, session.waiting.length)];
    switch (deed.do) {
      case 'prompt':
      case 'steer':
      case 'follow_up': {
        const more = deed.do === 'prompt' ? { wait: false, if_busy: deed.ifBusy } : { if_idle: deed.ifIdle };
        const payload = { session_id, input_id: `in-${++count}`, text: deed.text, ...more };
        const input: SentInput = { command: deed.do, payload, ack: undefined };
        sent.push(input);
        return submit(berth, input);
      }
      case 'retry': {
        const again = sent[pick % Math.max(1, sent.length)];
        return again?.ack ? submit(berth, again) : undefined;
      }
      case 'abort':
        return void (await berth.call('abort', { session_id, keep_queue: deed.keep }));
      case 'update':
        if (!waiting) return;
        return void (await berth.call('update_queued', {
          input_id: waiting.input_id,
          revision: waiting.revision,
          hold: deed.hold,
          position: deed.position,
          text: deed.text,
        }));
      case 'remove':
        return waiting && void (await berth.call('remove_queued', { input_id: waiting.input_id }));
      case 'resume_queue':
        return void (await berth.call('resume_queue', { session_id }));
      case 'resume_run':
        return session.lastRun && void (await berth.call('resume_run', { run_id: session.lastRun.id, action: deed.action }));
      case 'answer':
        return answer(berth, deed.choice);
      case 'set_leaf': {
        const entries = [...session.tree];
        const leaf_id = entries[pick % Math.max(1, entries.length)];
        return leaf_id === undefined ? undefined : void (await berth.call('set_leaf', { session_id, leaf_id }));
      }
      case 'branch':
        return void (await berth.call('branch_session', { session_id }));
      case 'delete':
        return pick % 3 === 0 ? void (await berth.call('delete_session', { session_id })) : undefined;
      case 'mode':
        return void (await berth.call(pick % 2 ? 'set_steering_mode' : 'set_follow_up_mode', { session_id, mode: deed.mode }));
      case 'watch':
        onlookers.push(await createOnlooker(berth, session_id).catch(() => undefined as never));
        if (!onlookers.at(-1)) onlookers.pop();
        return;
      case 'hang up':
        return onlookers[pick % Math.max(1, onlookers.length)]?.hangUp();
    }
  }

  async function answer(berth: Berth, choice: number): Promise<void> {
    const open = [...monitor.requests].filter(([, request]) => request.open);
    const [request_id, request] = open[choice % Math.max(1, open.length)] ?? [];
    if (request_id === undefined || !request) return;
    const { method, params } = request.payload;
    const options = ((params.options ?? []) as { value: string }[]).map(({ value }) => value);
    const results = { select: options[choice % Math.max(1, options.length)], confirm: choice % 2 === 0, input: 'a name', editor: null };
    const reply = await berth.call('ui_response', { request_id, result: results[method] });
    if (!reply.ok) assert.match(reply.error.message, /already_resolved|there is no session/, 'a valid answer is taken, or comes too late');
  }

  /** At rest all clients, whenever they came and however often they left, see the same session: that of the log and the rows. */
  async function check(): Promise<void> {
    const [berth] = berths;
    for (const session of monitor.sessions.values()) {
      if (session.deleted) continue;
      monitor.checkWhole(session.id);
      const attached = await berth!.call('attach', { session_id: session.id, limit: 500 });
      const path = await berth!.call('get_messages', { session_id: session.id });
      assert(attached.ok && path.ok, `${session.id} cannot be read`);
      const now = viewOf(attached.payload);
      const fold = folded.get(session.id)!;
      same(toKnown(now.state), toKnown(fold), `the rows of ${session.id} are what its log folds to`);
      same(
        path.payload.messages.map(({ id }) => id),
        monitor.pathOf(session.leafId).slice(-path.payload.messages.length),
        `get_messages of ${session.id} is its path`,
      );
      for (const onlooker of onlookers.filter(({ sessionId }) => sessionId === session.id)) {
        await onlooker.heard(lastSeqs.get(session.id) ?? 0);
        const view = onlooker.view();
        same(toKnown(view.state), toKnown(fold), `what a client sees of ${session.id} is what its log folds to`);
        const known = view.hasMore ? path.payload.messages.slice(-view.messages.length) : path.payload.messages;
        same(view.messages, known, `the messages that a client sees of ${session.id} are its path`);
      }
    }
    for (const { ack, payload } of sent) {
      if (!ack || monitor.sessions.get(payload.session_id)?.deleted) continue;
      const input = monitor.inputs.get(payload.input_id);
      assert(input, `${payload.input_id} was acknowledged and is lost`);
      assert.equal(
        input.messages,
        input.state === 'taken' ? 1 : 0,
        `${payload.input_id} is ${input.state} and was run ${input.messages} times`,
      );
    }
  }

  for (let i = 0; i < controllers; i++) berths.push(await daemon.connect({ uiCapabilities: ['select', 'confirm', 'input', 'editor'] }));
  await readAlong();

  return {
    /** A new session, and nobody who remembers the old ones. */
    async reset(): Promise<void> {
      for (const onlooker of onlookers.splice(0)) onlooker.close();
      for (const session_id of living()) await berths[0]!.call('delete_session', { session_id });
      await berths[0]!.call('new_session', {});
      await until(() => living().length === 1);
    },
    async phase({ steps, then }: Phase): Promise<void> {
      const work = steps.map(async (list, index) => {
        for (const one of list) await step(berths[index]!, one);
      });
      await Promise.all(work);
      if (then !== 'rest') {
        await (then === 'kill' ? daemon.kill9() : daemon.terminate());
        await daemon.start();
        await readAlong();
      }
      await rest();
      await check();
    },
    close(): void {
      log?.close();
      for (const onlooker of onlookers) onlooker.close();
      for (const berth of berths) berth.close();
    },
  };
}

test(
  `${sequences} random sequences over real sockets: clients that come and go see the same session, across restarts`,
  async () => {
    await using daemon = await startDaemon({ wps: 2_000 });
    const scene = await createScene(daemon);
    const phases = fc.array(anyPhase, { minLength: 2, maxLength: 4, size: 'max' });
    const property = fc.asyncProperty(phases, async (list) => {
      await scene.reset();
      for (const phase of list) await scene.phase(phase);
    });
    await fc.assert(property, { seed, numRuns: sequences, endOnFailure: true });
    scene.close();
  },
  sequences * 10_000,
);
