import { describe, expect, test } from 'vitest';
import { createSlots } from '../../src/engine/run/slots.js';
import { createAskUserTool } from '../../src/tools/talk/ask-user.js';
import { createTestEngine } from '../support/engine.js';

const never = new AbortController().signal;

/** Has it come to something by now? */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

describe('slots', () => {
  test('are given first come, first served', async () => {
    const slots = createSlots(1);
    const first = await slots.hold(never);
    const order: number[] = [];
    const rest = [1, 2, 3].map((n) =>
      slots.hold(never).then((slot) => {
        order.push(n);
        slot?.release();
      }),
    );
    expect(order).toEqual([]);
    first?.release();
    await Promise.all(rest);
    expect(order).toEqual([1, 2, 3]);
  });

  test('given back twice count once', async () => {
    const slots = createSlots(1);
    const slot = await slots.hold(never);
    slot?.release();
    slot?.release();
    await slots.hold(never);
    expect(await settled(slots.hold(never))).toBe(false);
  });

  test('are not waited for by who gave up, and nobody behind them loses a turn', async () => {
    const slots = createSlots(1);
    const slot = await slots.hold(never);
    const stop = new AbortController();
    const givenUp = slots.hold(stop.signal);
    const patient = slots.hold(never);
    stop.abort();
    expect(await givenUp).toBeUndefined();
    expect(await slots.hold(stop.signal)).toBeUndefined();
    slot?.release();
    expect(await patient).toBeDefined();
  });

  test('are free for others during a wait, and taken again for what follows', async () => {
    const slots = createSlots(1);
    const slot = (await slots.hold(never))!;
    const answers: (() => void)[] = [];
    const waits = [1, 2].map(() => slot.without(() => new Promise<void>((resolve) => answers.push(resolve))));
    const other = await slots.hold(never);
    expect(other).toBeDefined();
    for (const answer of answers) answer();
    expect(await settled(Promise.all(waits))).toBe(false);
    other?.release();
    await Promise.all(waits);
    expect(await settled(slots.hold(never))).toBe(false);
  });

  test('are kept by who waits once as many wait as may, until one of those goes on', async () => {
    const slots = createSlots(1, 1);
    const answers: (() => void)[] = [];
    const wait = (): Promise<void> => new Promise((resolve) => answers.push(resolve));
    const first = (await slots.hold(never))!;
    const firstWait = first.without(wait);
    const second = (await slots.hold(never))!;
    const secondWait = second.without(wait);
    const third = slots.hold(never);
    expect(await settled(third)).toBe(false);
    answers[1]?.();
    await secondWait;
    second.release();
    const slot = (await third)!;
    answers[0]?.();
    expect(await settled(firstWait)).toBe(false);
    slot.release();
    await firstWait;
    // The place outside is free again.
    void first.without(wait);
    expect(await slots.hold(never)).toBeDefined();
  });

  test('are not taken again by who was stopped while it waited', async () => {
    const slots = createSlots(1);
    const stop = new AbortController();
    const slot = await slots.hold(stop.signal);
    await slot?.without(async () => stop.abort());
    slot?.release();
    expect(await slots.hold(never)).toBeDefined();
    expect(await settled(slots.hold(never))).toBe(false);
  });
});

describe('more sessions than may run at once', () => {
  test('have their runs accepted and begun; their first turns wait for a slot', async () => {
    await using berth = createTestEngine({ runsAtOnceMax: 2 });
    const sessions = [1, 2, 3, 4].map(() => berth.session());
    for (const session of sessions) berth.prompt(session);
    const first = await berth.model.next();
    const second = await berth.model.next();
    for (const session of sessions) expect(berth.told(session).at(-1)).toBe('message_end user');
    expect(berth.model.asked).toHaveLength(2);
    first.say('1').end();
    const third = await berth.model.next();
    expect(berth.model.asked).toHaveLength(3);
    second.say('2').end();
    const fourth = await berth.model.next();
    third.say('3').end();
    fourth.say('4').end();
    for (const session of sessions) await berth.idle(session);
    for (const session of sessions) expect(berth.store.load(session)?.lastRun?.outcome).toBe('completed');
  });

  test('can be aborted, steered and deleted while they wait', async () => {
    await using berth = createTestEngine({ runsAtOnceMax: 1 });
    const [busy, waiting] = [berth.session(), berth.session()];
    berth.prompt(busy);
    const call = await berth.model.next();
    berth.prompt(waiting);
    berth.submit(waiting, 'steer', 'dropped');
    berth.abort(waiting);
    await berth.idle(waiting);
    expect(berth.told(waiting).at(-1)).toBe('agent_end aborted');
    expect(berth.model.asked).toHaveLength(1);
    call.say('ok').end();
    await berth.idle(busy);
    berth.prompt(waiting, 'again');
    (await berth.model.next()).say('ok').end();
    await berth.idle(waiting);
  });

  test('get the slots of runs that wait for a person', async () => {
    await using berth = createTestEngine({ runsAtOnceMax: 1, tools: [createAskUserTool()] });
    const [asking, other] = [berth.session(), berth.session()];
    berth.prompt(asking);
    (await berth.model.next()).call('ask_user', { method: 'confirm', title: 'Sure?' }).end();
    const request = await berth.asked(asking);
    berth.prompt(other);
    const busy = await berth.model.next();
    // Answered while the only slot is taken: it waits for its turn.
    berth.answer(request, { result: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(berth.told(asking).at(-1)).toBe('ui_resolved test answered');
    busy.say('ok').end();
    (await berth.model.next()).say('thank you').end();
    for (const session of [asking, other]) await berth.idle(session);
    expect(berth.store.load(asking)?.lastRun?.outcome).toBe('completed');
  });

  test('never ask the model more at once than the bound, however many turns they take', async () => {
    await using berth = createTestEngine({ runsAtOnceMax: 3 });
    let open = 0;
    let most = 0;
    berth.model.answerWith((call) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        call.say('ok').end();
        open--;
      });
    });
    const sessions = Array.from({ length: 20 }, () => berth.session());
    for (const session of sessions) {
      berth.prompt(session);
      for (const text of ['a', 'b']) berth.submit(session, 'follow_up', text);
    }
    for (const session of sessions) await berth.idle(session);
    expect(most).toBe(3);
    for (const session of sessions) expect(berth.history(session)).toHaveLength(6);
  });
});
