import { expect, test } from 'vitest';
import { createLiveMessages } from '../../src/engine/live/live-messages.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

function rows(berth: TestEngine): { block: number; offset: number; text: string }[] {
  return berth.store.db
    .prepare<[], { block: number; offset: number; text: string }>('SELECT block, "offset", text FROM partial ORDER BY block, "offset"')
    .all();
}

test('a long answer is saved piece by piece, each word once', async () => {
  await using berth = createTestEngine();
  // Nothing that was saved may be written again.
  berth.store.db.exec(`CREATE TEMP TRIGGER no_change BEFORE UPDATE ON partial BEGIN SELECT RAISE(ABORT, 'rewritten'); END;
    CREATE TEMP TRIGGER no_loss BEFORE DELETE ON partial BEGIN SELECT RAISE(ABORT, 'replaced'); END;`);
  const live = createLiveMessages({ wake: () => undefined });
  const message = live.begin({ sessionId: 'ses', runId: 'run', turnId: '1', messageId: 'msg_1' });
  let whole = '';
  for (let i = 0; i < 200; i++) {
    const piece = `word${i} 🙂`;
    whole += piece;
    live.append(message, 0, 'text', piece);
    if (i % 3 === 0) continue;
    const { pieces, saved } = live.unsaved();
    berth.write(() => pieces.forEach((part) => berth.store.write.partials.append(part)));
    saved();
  }
  expect(
    rows(berth)
      .map(({ text }) => text)
      .join(''),
  ).toBe(whole);
  expect(berth.store.partials.content('msg_1')).toEqual([{ type: 'text', text: whole }]);
  expect(live.unsaved().pieces).toEqual([]);
});

test('what could not be saved is saved with the next piece', () => {
  const live = createLiveMessages({ wake: () => undefined });
  const message = live.begin({ sessionId: 'ses', runId: 'run', turnId: '1', messageId: 'msg_1' });
  live.append(message, 0, 'text', 'one ');
  expect(live.unsaved().pieces).toMatchObject([{ offset: 0, text: 'one ' }]);
  live.append(message, 0, 'text', 'two');
  const { pieces, saved } = live.unsaved();
  expect(pieces).toMatchObject([{ offset: 0, text: 'one two' }]);
  saved();
  live.append(message, 0, 'text', ' three');
  expect(live.unsaved().pieces).toMatchObject([{ offset: 7, text: ' three' }]);
});

test('half a character waits for its other half', () => {
  const live = createLiveMessages({ wake: () => undefined });
  const message = live.begin({ sessionId: 'ses', runId: 'run', turnId: '1', messageId: 'msg_1' });
  live.append(message, 0, 'text', 'a\ud83d');
  expect(live.unsaved().pieces).toMatchObject([{ text: 'a' }]);
  live.unsaved().saved();
  live.append(message, 0, 'text', '\ude42b');
  expect(live.unsaved().pieces).toMatchObject([{ offset: 1, text: '🙂b' }]);
});

test('text and thinking are told apart, half-made calls are left out', async () => {
  await using berth = createTestEngine();
  const live = createLiveMessages({ wake: () => undefined });
  const message = live.begin({ sessionId: 'ses', runId: 'run', turnId: '1', messageId: 'msg_1' });
  live.append(message, 0, 'thinking', 'hm');
  live.append(message, 1, 'text', 'yes');
  live.introduceCall(message, 2, 'c1', 'echo');
  live.append(message, 2, 'tool_call', '{"te');
  berth.write(() => live.unsaved().pieces.forEach((part) => berth.store.write.partials.append(part)));
  expect(berth.store.partials.content('msg_1')).toEqual([
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'yes' },
  ]);
  expect(berth.store.partials.content('msg_none')).toEqual([]);
});

test('the first words are saved before the next ones come, and what a kill leaves is told as it was said', async () => {
  await using berth = createTestEngine();
  const session = berth.session();
  berth.prompt(session);
  const call = await berth.model.next();
  call.say('the first words');
  await berth.until(session, () => (rows(berth).length > 0 ? true : undefined));
  await using after = berth.crash();
  after.engine.recover();
  expect(after.history(session)).toEqual(['user: go', 'assistant: the first words']);
  expect(rows(after)).toEqual([]);
  call.say('.').end();
  await berth.idle(session);
  expect(rows(berth)).toEqual([]);
});
