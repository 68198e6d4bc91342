import { expect, test } from 'vitest';
import { removeQueued, resumeQueue, updateQueued, type QueuedChange } from '../../src/core/inputs.js';
import { resumeRun } from '../../src/core/recovery.js';
import type { ContentBlock } from '../../src/protocol/messages.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

const image = { type: 'image' as const, data: 'iVBORw0KGgo=', mime_type: 'image/png' };
const photo = { type: 'image' as const, data: 'AAAA', mime_type: 'image/jpeg' };
const look = { type: 'text' as const, text: 'look' };
const shown = [
  { mime_type: 'image/png', bytes: 8 },
  { mime_type: 'image/jpeg', bytes: 3 },
];

function change(berth: TestEngine, session: string, wanted: Omit<QueuedChange, 'inputId' | 'revision'>): void {
  const [input] = berth.store.load(session)?.inputs ?? [];
  const changed = berth.engine.commit.decide(session, (state, fresh) =>
    updateQueued(state, { inputId: input?.input_id ?? '', revision: input?.revision ?? 0, ...wanted }, fresh),
  );
  expect(changed).toMatchObject({ ok: true });
}

/** A run in progress, and a follow-up with a text between two images that waits for it. */
async function queueImages(berth: TestEngine, content: ContentBlock[] = [image, look, photo]) {
  const session = berth.session();
  berth.prompt(session);
  const call = await berth.model.next();
  expect(berth.submit(session, 'follow_up', '', { id: 'inp_1', content }).ok).toBe(true);
  return { session, call };
}

function lastContent(berth: TestEngine, session: string): ContentBlock[] | undefined {
  return berth.store.entries.history(berth.store.load(session)?.leafId ?? null).findLast(({ message }) => message.role === 'user')?.message
    .content;
}

test('a message that was held and released in an idle session has its images', async () => {
  await using berth = createTestEngine();
  const { session, call } = await queueImages(berth);
  change(berth, session, { hold: true });
  call.say('done').end();
  await berth.idle(session);
  change(berth, session, { hold: false });
  const next = await berth.model.next();
  expect(next.request.messages.at(-1)?.content).toEqual([image, look, photo]);
  expect(lastContent(berth, session)).toEqual([image, look, photo]);
});

test('an edit replaces the words and keeps the images, also when it is released in the same step', async () => {
  await using berth = createTestEngine();
  const { session, call } = await queueImages(berth);
  change(berth, session, { text: 'see' });
  change(berth, session, { hold: true });
  call.say('done').end();
  await berth.idle(session);
  change(berth, session, { text: 'behold', hold: false });
  const next = await berth.model.next();
  expect(next.request.messages.at(-1)?.content).toEqual([{ type: 'text', text: 'behold' }, image, photo]);
});

test('all words may be edited away from a message that has images', async () => {
  await using berth = createTestEngine();
  const { session, call } = await queueImages(berth);
  change(berth, session, { text: '' });
  call.say('done').end();
  const next = await berth.model.next();
  expect(next.request.messages.at(-1)?.content).toEqual([image, photo]);
});

test('images outlast changes, an abort that keeps the queue, a crash, and a run that is tried again', async () => {
  await using berth = createTestEngine();
  const { session } = await queueImages(berth);
  berth.submit(session, 'follow_up', 'other', { id: 'inp_2' });
  change(berth, session, { hold: true });
  change(berth, session, { kind: 'steer', position: 1 });
  berth.engine.commit.decide(session, (state, fresh) => updateQueued(state, { inputId: 'inp_1', revision: 3, hold: false }, fresh));
  berth.abort(session, true);
  await berth.idle(session);
  await using other = berth.crash();
  expect(other.store.load(session)?.inputs.find(({ input_id }) => input_id === 'inp_1')).toMatchObject({ text: 'look', images: shown });
  other.engine.recover();
  expect(other.engine.commit.decide(session, resumeQueue).ok).toBe(true);
  const first = await other.model.next();
  expect(first.request.messages.at(-1)?.content).toEqual([image, look, photo]);
  other.abort(session, true);
  await other.idle(session);
  const point = { retryEntryId: other.store.entries.retryPoint(other.store.load(session)?.leafId ?? null) };
  const resumed = other.engine.commit.decide(session, (state, fresh) => resumeRun(state, state.lastRun?.id ?? '', 'retry', point, fresh));
  expect(resumed.ok).toBe(true);
  const again = await other.model.next();
  expect(again.request.messages.at(-1)?.content).toEqual([image, look, photo]);
});

test('every event about a waiting message tells that it has images, and none carries their data', async () => {
  await using berth = createTestEngine();
  const { session, call } = await queueImages(berth);
  change(berth, session, { hold: true });
  change(berth, session, { text: 'see' });
  change(berth, session, { hold: false });
  berth.engine.commit.decide(session, (state) => removeQueued(state, 'inp_1'));
  berth.submit(session, 'steer', 'second', { id: 'inp_2', content: [image, photo] });
  berth.abort(session);
  call.end();
  await berth.idle(session);
  const told = berth.events(session).flatMap(({ type, payload }) => (type === 'queue_update' ? [payload] : []));
  expect(told.map(({ op }) => op)).toEqual(['added', 'held', 'edited', 'released', 'removed', 'added', 'dropped']);
  for (const { input, dropped } of told) expect((input ?? dropped?.[0])?.images).toEqual(shown);
  expect(JSON.stringify(told)).not.toContain(image.data);
});

test('a waiting message shows the words that will be sent', async () => {
  await using berth = createTestEngine();
  const { session, call } = await queueImages(berth, [{ type: 'text', text: 'first, ' }, image, { type: 'text', text: 'second' }]);
  expect(berth.store.load(session)?.inputs).toMatchObject([{ text: 'first, second', images: [shown[0]] }]);
  call.say('done').end();
  const next = await berth.model.next();
  expect(next.request.messages.at(-1)?.content).toEqual([{ type: 'text', text: 'first, ' }, image, { type: 'text', text: 'second' }]);
});
