import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ReadOnlyClient, type AttachedSession, type AttachOptions, type Berth, type SentInput } from '../../src/client/index.js';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';

async function newSession(berth: Berth): Promise<string> {
  const made = await berth.call('new_session', {});
  if (!made.ok) throw new Error(made.error.message);
  return made.payload.session_id;
}

/** Folds what is heard in the background, until the session is closed. */
function follow(attached: AttachedSession): { done: Promise<void>; until(fits: () => boolean): Promise<void> } {
  let wake: (() => void)[] = [];
  const done = (async () => {
    for await (const _heard of attached) wake.splice(0).forEach((resolve) => resolve());
  })();
  return {
    done,
    async until(fits) {
      while (!fits()) await new Promise<void>((resolve) => wake.push(resolve));
      wake = [];
    },
  };
}

async function userTexts(berth: Berth, session_id: string): Promise<string[]> {
  const reply = await berth.call('get_messages', { session_id });
  if (!reply.ok) throw new Error(reply.error.message);
  return reply.payload.messages.filter(({ role }) => role === 'user').map(({ text }) => text);
}

function files({ paths }: TestDaemon): string[] {
  return readdirSync(join(paths.stateDir, 'outbox'));
}

/** Puts a file into the outbox as a process that is gone would have left it. */
function leave(
  daemon: TestDaemon,
  input: { inputId: string; sessionId: string; logId: string; text: string; atMs?: number },
  command = 'prompt',
): void {
  const { text, atMs = Date.now(), ...ids } = input;
  const dir = join(daemon.paths.stateDir, 'outbox');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const owner = { pid: 4_000_000, startTime: '1' };
  const extra = command === 'prompt' ? { if_busy: 'steer' } : { if_idle: 'reject' };
  const kept = { v: 1, owner, ...ids, command, payload: { text, ...extra }, atMs };
  writeFileSync(join(dir, `${String(atMs).padStart(15, '0')}-000001-${ids.inputId}.json`), JSON.stringify(kept));
}

function collect(): AttachOptions & { delivered: SentInput[]; notices: string[]; next(count: number): Promise<void> } {
  const delivered: SentInput[] = [];
  const notices: string[] = [];
  let wake: (() => void)[] = [];
  return {
    delivered,
    notices,
    onDelivered(input) {
      delivered.push(input);
      wake.splice(0).forEach((resolve) => resolve());
    },
    onNotice: (text) => void notices.push(text),
    async next(count) {
      while (delivered.length < count) await new Promise<void>((resolve) => wake.push(resolve));
      wake = [];
    },
  };
}

test('an input goes from committed to taken, and leaves nothing in the outbox', async () => {
  await using daemon = await startDaemon({ wps: 300 });
  const berth = await daemon.connect();
  const attached = await berth.attach(await newSession(berth));
  const following = follow(attached);
  const prompt = await attached.send('prompt', { text: 'stream 2000 words' });
  expect(prompt).toMatchObject({
    command: 'prompt',
    text: 'stream 2000 words',
    seq: expect.any(Number),
    runId: expect.stringMatching(/^run_/),
  });
  expect(['committed', 'taken']).toContain(prompt.state);
  const steer = await attached.send('follow_up', { text: 'say later' });
  expect(steer.state).toBe('committed');
  const state = (id: string) => attached.sent().find(({ inputId }) => inputId === id)?.state;
  await following.until(() => state(prompt.inputId) === 'taken');
  const held = attached.view().state.inputs.find(({ input_id }) => input_id === steer.inputId);
  await berth.call('update_queued', { input_id: steer.inputId, revision: held?.revision ?? 1, hold: true, session_id: attached.sessionId });
  await following.until(() => state(steer.inputId) === 'held');
  await berth.call('update_queued', { input_id: steer.inputId, revision: 2, hold: false, session_id: attached.sessionId });
  await following.until(() => state(steer.inputId) === 'committed');
  await berth.call('abort', { session_id: attached.sessionId });
  await following.until(() => state(steer.inputId) === 'returned');
  expect(files(daemon)).toEqual([]);
  attached.close();
  await following.done;
});

test('texts sent while the daemon is away go out once, in order, when it is back', async () => {
  await using daemon = await startDaemon();
  const berth = await daemon.connect();
  const session_id = await newSession(berth);
  const heard = collect();
  const attached = await berth.attach(session_id, heard);
  const following = follow(attached);
  await daemon.kill9();
  const sent = await Promise.all(
    ['say one', 'say two', 'say three'].map((text) => attached.send('prompt', { text, if_busy: 'follow_up' })),
  );
  expect(sent.map(({ state }) => state)).toEqual(['kept', 'kept', 'kept']);
  expect(files(daemon)).toHaveLength(3);
  await daemon.start();
  await heard.next(3);
  await following.until(() => attached.sent().every(({ state }) => state === 'taken') && attached.view().state.run === null);
  expect(await userTexts(berth, session_id)).toEqual(['say one', 'say two', 'say three']);
  expect(heard.delivered.map(({ inputId }) => inputId)).toEqual(sent.map(({ inputId }) => inputId));
  expect(files(daemon)).toEqual([]);
});

test('a text whose reply was lost with the connection is taken once', async () => {
  await using daemon = await startDaemon();
  const berth = await daemon.connect();
  const session_id = await newSession(berth);
  for (let round = 0; round < 5; round++) {
    const heard = collect();
    const attached = await berth.attach(session_id, heard);
    const following = follow(attached);
    const sending = attached.send('prompt', { text: `say ${round}`, if_busy: 'follow_up' });
    await daemon.kill9();
    await daemon.start();
    if ((await sending).state === 'kept') await heard.next(1);
    await following.until(() => attached.view().state.run === null && attached.sent().every(({ state }) => state === 'taken'));
    attached.close();
    await following.done;
  }
  expect(await userTexts(berth, session_id)).toEqual(['say 0', 'say 1', 'say 2', 'say 3', 'say 4']);
}, 60_000);

test('what a client that was killed had kept is sent by the next one that attaches to that session, and only to it', async () => {
  await using daemon = await startDaemon();
  const berth = await daemon.connect();
  const [one, other] = [await newSession(berth), await newSession(berth)];
  const logId = berth.hello().log_id;
  leave(daemon, { inputId: 'inp_left', sessionId: one, logId, text: 'say it after all' });
  const nothing = collect();
  const elsewhere = await berth.attach(other, nothing);
  const watching = follow(elsewhere);
  expect((await elsewhere.send('prompt', { text: 'say hello' })).state).not.toBe('kept');
  await elsewhere.flushed();
  expect(nothing.delivered).toEqual([]);
  elsewhere.close();
  await watching.done;
  const heard = collect();
  const attached = await berth.attach(one, heard);
  const following = follow(attached);
  await heard.next(1);
  expect(heard.delivered).toMatchObject([{ inputId: 'inp_left', text: 'say it after all' }]);
  await following.until(() => attached.view().state.run === null);
  expect([await userTexts(berth, one), await userTexts(berth, other)]).toEqual([['say it after all'], ['say hello']]);
  expect(files(daemon)).toEqual([]);
});

test('an observer sends nothing: neither what it is given nor what others left, which stays for whoever may send it', async () => {
  await using daemon = await startDaemon();
  const berth = await daemon.connect();
  const session = await newSession(berth);
  leave(daemon, { inputId: 'inp_left', sessionId: session, logId: berth.hello().log_id, text: 'say it after all' });
  leave(daemon, {
    inputId: 'inp_old',
    sessionId: session,
    logId: berth.hello().log_id,
    text: 'too old',
    atMs: Date.now() - 2 * limits.outboxSendMaxMs,
  });
  const before = files(daemon);
  const observer = await daemon.connect({ role: 'observer' });
  const nothing = collect();
  const watched = await observer.attach(session, nothing);
  const watching = follow(watched);
  await expect(watched.send('prompt', { text: 'say hello' })).rejects.toThrow(ReadOnlyClient);
  await berth.call('update_session', { session_id: session, title: 'seen' });
  await watching.until(() => watched.view().state.title === 'seen');
  await watched.flushed();
  expect([files(daemon), watched.sent(), nothing.delivered, await userTexts(berth, session)]).toEqual([before, [], [], []]);
  watched.close();
  await watching.done;
  observer.close();
});

test('an input that is meant for another store, or was kept for more than a day, is not sent', async () => {
  await using daemon = await startDaemon();
  const berth = await daemon.connect();
  const sessionId = await newSession(berth);
  const logId = berth.hello().log_id;
  leave(daemon, { inputId: 'inp_store', sessionId, logId: 'log_other', text: 'say to another store' });
  leave(daemon, { inputId: 'inp_old', sessionId, logId, text: 'say too late', atMs: Date.now() - limits.outboxSendMaxMs - 60_000 });
  const heard = collect();
  const attached = await berth.attach(sessionId, heard);
  const following = follow(attached);
  await heard.next(1);
  await attached.flushed();
  expect(heard.delivered).toMatchObject([{ inputId: 'inp_old', state: 'returned', refusal: { code: 'timeout' } }]);
  expect(await userTexts(berth, sessionId)).toEqual([]);
  expect(files(daemon)).toHaveLength(2);
  attached.dismiss('inp_old');
  expect(files(daemon)).toEqual([expect.stringContaining('inp_store')]);
  attached.close();
  await following.done;
});

test('a refusal is told once with its code and the text, also by the next client, and never sent again', async () => {
  await using daemon = await startDaemon();
  const berth = await daemon.connect();
  const sessionId = await newSession(berth);
  leave(daemon, { inputId: 'inp_steer', sessionId, logId: berth.hello().log_id, text: 'turn left' }, 'steer');
  const heard = collect();
  const attached = await berth.attach(sessionId, heard);
  const following = follow(attached);
  await heard.next(1);
  expect(heard.delivered).toMatchObject([
    { inputId: 'inp_steer', state: 'returned', text: 'turn left', refusal: { message: 'no_active_run' } },
  ]);
  const direct = await attached.send('steer', { text: 'turn right' });
  expect(direct).toMatchObject({ state: 'returned', refusal: { code: 'command_rejected', message: 'no_active_run' } });
  attached.dismiss(direct.inputId);
  expect(attached.sent().map(({ inputId }) => inputId)).toEqual(['inp_steer']);
  attached.close();
  await following.done;
  // Nobody dismissed it: whoever comes next is told, even if a run is in progress by then.
  const again = collect();
  const second = await berth.attach(sessionId, again);
  await second.send('prompt', { text: 'stream 3 words' });
  const later = follow(second);
  await again.next(1);
  expect(again.delivered).toMatchObject([{ inputId: 'inp_steer', state: 'returned', text: 'turn left' }]);
  second.dismiss('inp_steer');
  expect(files(daemon)).toEqual([]);
  second.close();
  await later.done;
});

test('a text is sent even where it cannot be kept', async () => {
  await using daemon = await startDaemon();
  const berth = await daemon.connect();
  const session_id = await newSession(berth);
  writeFileSync(join(daemon.paths.stateDir, 'outbox'), 'a file where the directory belongs');
  const heard = collect();
  const attached = await berth.attach(session_id, heard);
  const sent = await attached.send('prompt', { text: 'say it' });
  expect(sent).toMatchObject({ seq: expect.any(Number) });
  expect(heard.notices).toEqual([expect.stringContaining('could not be kept on disk')]);
});
