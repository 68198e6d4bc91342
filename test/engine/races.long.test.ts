import { describe, expect, test } from 'vitest';
import { sized } from '../support/fault-sizes.js';
import { openTalk, type Talk } from '../support/talk.js';
import { shareDaemon } from '../support/shared-daemon.js';

const batches = sized({ short: 1, long: 2, full: 20 });
const daemon = shareDaemon({ wps: 1_000 });

/** Waits without giving the clock a chance to round. */
async function pause(us: number): Promise<void> {
  const until = performance.now() + us / 1000;
  while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve));
}

async function untilIdle(talk: Talk): Promise<void> {
  for (;;) {
    const state = await talk.state();
    if (state.run_state === 'idle') return;
    await talk.ended(String(state.run_id));
  }
}

test('of two prompts at the same instant one runs and the other is told so, 200 times of 200', async () => {
  const [a, b] = [await daemon().raw(), await daemon().raw()];
  // A run that waits for a person does not end while the other prompt is on its way.
  const texts = ['ask me', 'ask me!'];
  for (let trial = 0; trial < 200; trial++) {
    const session = String((await a.call('new_session')).payload.session_id);
    const replies = await Promise.all(
      [a, b].map((client, index) => client.call('prompt', { session_id: session, text: texts[index], wait: false })),
    );
    const winner = replies.findIndex(({ ok }) => ok);
    expect(replies.filter(({ ok }) => ok)).toHaveLength(1);
    expect(replies[1 - winner]?.error?.message).toBe('run_in_progress');
    const { payload } = await a.call('get_messages', { session_id: session });
    expect((payload.messages as { role: string; text: string }[]).filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual([
      texts[winner],
    ]);
    await a.call('delete_session', { session_id: session });
  }
});

describe('around the end of a run', () => {
  const each = 100;

  /** Sends an input at `each` moments of a run and after it; tells how often it came before the end and how often it was too late. */
  async function sendAroundTheEnd(talk: Talk, runUs: number): Promise<{ joined: number; refused: number }> {
    const expected: string[] = [];
    let [refused, joined] = [0, 0];
    for (let trial = 0; trial < each; trial++) {
      // What was heard before is looked through again and again otherwise.
      talk.events.lines.length = 0;
      // The first runs last, and the last ones are over: however slow the machine is, both sides of the end are hit.
      const first = trial < 4 ? `echo one two three ${trial} for 1 seconds` : `say one two three ${trial}`;
      const run = await talk.prompt(first);
      expected.push(first);
      if (trial >= each - 4) await talk.ended(run);
      else await pause((trial / each) * 1.5 * runUs);
      const text = `say more ${trial}`;
      const mayStart = trial % 4 < 2;
      const reply = await talk.commands.call(trial % 2 === 0 ? 'steer' : 'follow_up', {
        session_id: talk.session,
        text,
        if_idle: mayStart ? 'prompt' : 'reject',
      });
      if (reply.ok) {
        expected.push(text);
        if (reply.payload.run_id === run) joined++;
      } else {
        expect([reply.error?.message, mayStart]).toEqual(['no_active_run', false]);
        refused++;
      }
      await untilIdle(talk);
    }
    const { messages, has_more } = await talk.ok('get_messages', { limit: 500 });
    const texts = (messages as { role: string; text: string }[]).filter(({ role }) => role === 'user').map(({ text }) => text);
    expect(has_more).toBe(false);
    expect(texts).toEqual(expected);
    return { joined, refused };
  }

  test(
    `an input that is accepted is run once, one that is refused is not: ${batches * 100} timings`,
    async () => {
      const warm = await openTalk(daemon());
      const from = performance.now();
      for (let i = 0; i < 20; i++) await warm.run('say one two three four');
      const runUs = ((performance.now() - from) / 20) * 1000;
      let [refused, joined] = [0, 0];
      for (let batch = 0; batch < batches; batch++) {
        const counts = await sendAroundTheEnd(await openTalk(daemon()), runUs);
        refused += counts.refused;
        joined += counts.joined;
      }
      // Both sides of the end were hit.
      expect(refused).toBeGreaterThan(0);
      expect(joined).toBeGreaterThan(0);
    },
    sized({ short: 180_000, long: 180_000, full: 300_000 }),
  );
});

test('a lost reply can be asked for again: a hundred retries, nothing twice', async () => {
  const talk = await openTalk(daemon());
  for (let i = 0; i < 100; i++) {
    const payload = { session_id: talk.session, text: `say ${i}`, wait: false, input_id: `${talk.session}.${i}` };
    // The first client is gone before it could read its answer.
    const lost = await daemon().raw();
    lost.send({ id: 'x', type: 'prompt', payload });
    if (i % 2 === 0) lost.socket.end();
    else lost.close();
    const again = await talk.commands.call('prompt', payload);
    expect(again.ok).toBe(true);
    const once = await talk.commands.call('prompt', payload);
    expect([once.seq, once.payload]).toEqual([again.seq, again.payload]);
    expect(await talk.ended(String(again.payload.run_id))).toBe('completed');
  }
  expect(await talk.texts('user')).toEqual(Array.from({ length: 100 }, (_, i) => `say ${i}`));
});
