import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Berth } from '../../src/client/index.js';
import { startDaemon } from '../support/daemon.js';
import { sized } from '../support/fault-sizes.js';
import { anyPictures, withPictures } from './pictures.js';
import { createScene, type Scene } from './scene.js';

const sequences = sized({ short: 4, long: 15, full: 300 });
const seed = process.env.BERTH_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.BERTH_SEED);
const controllers = 3;

const anyText = fc.constantFrom(
  'say ahoy',
  'stream 20 words',
  'stream 60 words',
  'call 3 tools',
  'echo hi with approval',
  'ask me',
  'fail late',
  'think',
  'call nonsense',
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
const does = {
  prompt: fc.record({
    do: fc.constant('prompt' as const),
    text: anyText,
    pictures: anyPictures,
    ifBusy: fc.constantFrom('reject' as const, 'steer' as const, 'follow_up' as const),
  }),
  queue: fc.record({
    do: fc.constantFrom('steer' as const, 'follow_up' as const),
    text: anyText,
    pictures: anyPictures,
    ifIdle: fc.constantFrom('reject' as const, 'prompt' as const),
  }),
  abort: fc.record({ do: fc.constant('abort' as const), keep: fc.boolean() }),
  update: fc.record({ do: fc.constant('update' as const), hold: maybe(fc.boolean()), position: maybe(fc.nat(3)), text: maybe(anyText) }),
  resumeRun: fc.record({
    do: fc.constant('resume_run' as const),
    action: fc.constantFrom('retry' as const, 'continue' as const, 'abandon' as const),
  }),
  mode: fc.record({ do: fc.constant('mode' as const), mode: fc.constantFrom('one-at-a-time' as const, 'all' as const) }),
  plain: (...names: ('retry' | 'remove' | 'resume_queue' | 'answer' | 'set_leaf' | 'branch' | 'delete' | 'watch' | 'hang up')[]) =>
    fc.record({ do: fc.constantFrom(...names) }),
};
const anyDeed = fc.oneof(
  { weight: 5, arbitrary: does.prompt },
  { weight: 9, arbitrary: does.queue },
  { weight: 2, arbitrary: does.abort },
  { weight: 3, arbitrary: does.update },
  { weight: 2, arbitrary: does.resumeRun },
  { weight: 1, arbitrary: does.mode },
  { weight: 12, arbitrary: does.plain('retry', 'resume_queue', 'answer', 'answer', 'watch', 'hang up') },
  { weight: 4, arbitrary: does.plain('remove', 'set_leaf', 'branch', 'delete') },
);
const anyStep = fc.record({ pick: fc.nat(30), deed: anyDeed });
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

/** What the controllers do side by side, each in its order; then a rest, and perhaps a restart before it. */
const anyPhase = fc.record({
  steps: fc.tuple(...Array.from({ length: controllers }, () => fc.array(anyStep, { minLength: 4, maxLength: 8, size: 'max' }))),
  restart: fc.constantFrom(undefined, undefined, 'kill' as const, 'kill' as const, 'stop' as const),
});
type Phase = typeof anyPhase extends fc.Arbitrary<infer T> ? T : never;

async function doStep(scene: Scene, berth: Berth, { pick, deed }: Step): Promise<void> {
  const sessions = scene.living();
  const session_id = sessions[pick % Math.min(3, Math.max(1, sessions.length))];
  if (session_id === undefined) return scene.tell(berth, 'new_session', {});
  const { waiting, tree, lastRun } = scene.monitor.sessions.get(session_id)!;
  const input = waiting[pick % Math.max(1, waiting.length)];
  switch (deed.do) {
    case 'prompt':
      return scene.send(berth, 'prompt', {
        session_id,
        ...withPictures(deed.text, deed.pictures),
        ...{ wait: false, if_busy: deed.ifBusy },
      });
    case 'steer':
    case 'follow_up':
      return scene.send(berth, deed.do, { session_id, ...withPictures(deed.text, deed.pictures), ...{ if_idle: deed.ifIdle } });
    case 'retry':
      return scene.sendAgain(berth, pick);
    case 'abort':
      return scene.tell(berth, 'abort', { session_id, keep_queue: deed.keep });
    case 'update': {
      const { hold, position, text } = deed;
      if (input) await scene.tell(berth, 'update_queued', { input_id: input.input_id, revision: input.revision, hold, position, text });
      return;
    }
    case 'remove':
      if (input) await scene.tell(berth, 'remove_queued', { input_id: input.input_id });
      return;
    case 'resume_queue':
      return scene.tell(berth, 'resume_queue', { session_id });
    case 'resume_run':
      if (lastRun) await scene.tell(berth, 'resume_run', { run_id: lastRun.id, action: deed.action });
      return;
    case 'answer':
      return answer(scene, berth, pick);
    case 'set_leaf': {
      const leaf_id = [...tree][pick % Math.max(1, tree.size)];
      if (leaf_id !== undefined) await scene.tell(berth, 'set_leaf', { session_id, leaf_id });
      return;
    }
    case 'branch':
      return scene.tell(berth, 'branch_session', { session_id });
    case 'delete':
      if (pick % 3 === 0) await scene.tell(berth, 'delete_session', { session_id });
      return;
    case 'mode':
      return scene.tell(berth, pick % 2 === 0 ? 'set_steering_mode' : 'set_follow_up_mode', { session_id, mode: deed.mode });
    case 'watch':
      return scene.watch(berth, session_id);
    case 'hang up':
      scene.hangUp(pick);
  }
}

async function answer(scene: Scene, berth: Berth, pick: number): Promise<void> {
  const open = [...scene.monitor.requests].filter(([, request]) => request.open);
  const [request_id, request] = open[pick % Math.max(1, open.length)] ?? [];
  if (request_id === undefined || request === undefined) return;
  const { method, params } = request.payload;
  const options = 'options' in params ? params.options.map(({ value }) => value) : [];
  const results = { select: options[pick % Math.max(1, options.length)], confirm: pick % 2 === 0, input: 'a name', editor: null };
  const reply = await berth.call('ui_response', { request_id, result: results[method] });
  if (reply.ok) return;
  const isLate = reply.error.message === 'already_resolved' || reply.error.code === 'session_not_found';
  assert(isLate, `a valid answer is taken, or comes too late: ${reply.error.message}`);
}

async function runPhases(scene: Scene, phases: Phase[]): Promise<void> {
  await scene.reset();
  for (const { steps, restart } of phases) {
    const work = steps.map(async (list, index) => {
      for (const step of list) await doStep(scene, scene.berths[index]!, step);
    });
    await Promise.all(work);
    if (restart) await scene.restart(restart);
    await scene.checkAtRest();
  }
}

test(
  `${sequences} random sequences over real sockets: clients that come and go see the same session, across restarts`,
  async () => {
    await using daemon = await startDaemon({ wps: 2_000 });
    const scene = await createScene(daemon, controllers);
    const phases = fc.array(anyPhase, { minLength: 2, maxLength: 4, size: 'max' });
    const property = fc.asyncProperty(phases, (list) => runPhases(scene, list));
    const result = await fc.check(property, { seed, numRuns: sequences, endOnFailure: true });
    scene.close();
    if (!result.failed) return;
    const why = result.errorInstance instanceof Error ? (result.errorInstance.stack ?? '') : String(result.errorInstance);
    expect.fail(`BERTH_SEED=${result.seed} made this sequence: ${JSON.stringify(result.counterexample)}\n${why}`);
  },
  Math.max(60_000, sequences * 10_000),
);
