import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createRandom } from '../model/world.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { faultSize } from '../support/fault-sizes.js';
import { createLogMonitor, type LoggedEvent } from '../support/log-monitor.js';
import type { RawLine } from '../support/raw-client.js';

const full = faultSize === 'full';
const tries = full ? 1_000 : 200;
const seed = process.env.BERTH_SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.BERTH_SEED);

/** Sends a command and hangs up before, while or after it is answered: in any case the answer is not seen. */
async function sendAndHangUp(daemon: TestDaemon, type: string, payload: object, patience: number): Promise<void> {
  const client = await daemon.raw();
  const line = `${JSON.stringify({ v: '1', id: 'lost', type, payload })}\n`;
  if (patience < 0.2) client.send(line);
  else await new Promise<void>((resolve) => client.socket.write(line, () => resolve()));
  if (patience > 0.6) await turnOfLoop();
  client.close();
}

async function readLog(daemon: TestDaemon): Promise<LoggedEvent[]> {
  const events = await daemon.rawEvents();
  events.send({ v: '1', id: 's', type: 'subscribe', payload: { session_id: '*', after: 0, live: false } });
  const subscribed = await events.until(({ id }) => id === 's');
  const from = events.lines.indexOf(subscribed) + 1;
  await events.until((line) => line.seq === subscribed.payload.seq && line.type !== 'subscribed');
  return events.lines.slice(from) as unknown as LoggedEvent[];
}

test(
  `${tries} answers are lost and asked for again: every input is accepted once and answered the same ever after`,
  async () => {
    await using daemon = await startDaemon();
    const random = createRandom(seed);
    const client = await daemon.raw();
    const sessions: string[] = [];
    for (let i = 0; i < 4; i++) sessions.push((await client.call('new_session')).payload.session_id ?? '');
    const answers = new Map<string, RawLine>();
    for (let i = 0; i < tries; i++) {
      const session_id = sessions[i % sessions.length];
      const input_id = `lost-${i}`;
      const waits = i % 10 === 0;
      const [type, more] = waits
        ? ['prompt', { if_busy: 'follow_up' }]
        : random() < 0.3
          ? ['prompt', { wait: false, if_busy: 'follow_up' }]
          : [random() < 0.5 ? 'steer' : 'follow_up', { if_idle: 'prompt' }];
      const payload = { session_id, input_id, text: `say ${input_id}`, ...more };
      await sendAndHangUp(daemon, type, payload, random());
      const again = await daemon.raw();
      const first = await again.call(type, payload);
      expect(first, `${input_id}, seed ${seed}`).toMatchObject({ ok: true, payload: { session_id, input_id } });
      const second = await again.call(type, payload);
      expect({ run: second.payload.run_id, ok: second.ok }).toEqual({ run: first.payload.run_id, ok: true });
      if (!waits) expect(second.seq).toBe(first.seq);
      answers.set(input_id, first);
      again.close();
    }
    const monitor = createLogMonitor();
    for (const session_id of sessions) await client.call('prompt', { session_id, text: 'say done', if_busy: 'follow_up' });
    for (const event of await readLog(daemon)) monitor.feed(event);
    for (const [inputId, { payload }] of answers) {
      expect(monitor.inputs.get(inputId), inputId).toMatchObject({ state: 'taken', messages: 1, text: `say ${inputId}` });
      expect(monitor.runs.get(payload.run_id ?? ''), `the run of ${inputId}`).toBe('completed');
    }
    expect(monitor.inputs.size).toBe(tries + sessions.length);
  },
  tries * 500,
);
