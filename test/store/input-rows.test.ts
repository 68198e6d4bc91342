import { describe, expect, test } from 'vitest';
import type { Admission } from '../../src/core/decision.js';
import { limits } from '../../src/protocol/limits.js';
import type { ContentBlock } from '../../src/protocol/messages.js';
import { createInputRows } from '../../src/store/rows/input-rows.js';
import { createTestEngine } from '../support/engine.js';

const short = 'look again';
const long = 'é'.repeat(limits.inputRowCharsMax + 1);
const image: ContentBlock = { type: 'image', data: 'AA==', mime_type: 'image/png' };
const cases: [name: string, text: string, content: ContentBlock[] | null][] = [
  ['short', short, null],
  ['empty', '', null],
  ['as long as fits the row', long.slice(1), null],
  ['long', long, null],
  ['short, with an image', short, [image]],
  ['an image without words', '', [image]],
];

function admission(text: string, content: ContentBlock[] | null): Admission {
  const images = content ? [{ mime_type: 'image/png', bytes: 1 }] : [];
  const command = 'follow_up';
  return {
    inputId: 'inp_1',
    command,
    kind: command,
    state: 'waiting',
    text,
    content,
    images,
    client: null,
    runId: 'run_1',
    forNextRun: false,
  };
}

describe.each(cases)('the text of an input that is %s', (_name, text, content) => {
  test('is what the queue shows, a retry is compared with, and its events say', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const { read, write } = createInputRows(berth.store.db);
    write.admit(session, admission(text, content), 7, 0);
    expect(read.waiting(session)).toMatchObject([{ input_id: 'inp_1', text, revision: 1 }]);
    expect(read.acknowledged('inp_1')).toEqual({ sessionId: session, command: 'follow_up', text, content, runId: 'run_1', seq: 7 });
    expect(read.contentOf('inp_1')).toEqual(content);
    expect(read.textAt('inp_1', read.textRevision('inp_1'))).toBe(text);
  });

  test.each([short, long, 'another'])('stays what it was at its revision when it is edited to %.10s', async (edited) => {
    await using berth = createTestEngine();
    const session = berth.session();
    const { read, write } = createInputRows(berth.store.db);
    write.admit(session, admission(text, content), 7, 0);
    const input = { input_id: 'inp_1', kind: 'steer', client: null } as const;
    write.change({ ...input, text: edited, revision: 2, hold: false });
    write.change({ ...input, text: edited, revision: 3, hold: true });
    expect(read.waiting(session)).toMatchObject([{ text: edited, revision: 3, hold: true }]);
    // Holding an input makes no new copy of its text.
    expect(read.textRevision('inp_1')).toBe(edited === text ? 1 : 2);
    expect(read.textAt('inp_1', read.textRevision('inp_1'))).toBe(edited);
    expect(read.textAt('inp_1', 1)).toBe(text);
    expect(read.textAt('inp_1', 3)).toBe('');
    expect(read.acknowledged('inp_1')).toMatchObject({ text, content });
    expect(read.contentOf('inp_1')).toEqual(content);
  });
});
