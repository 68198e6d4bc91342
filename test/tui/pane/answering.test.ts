import { expect, test } from 'vitest';
import type { AttachedSession } from '../../../src/client/attach.js';
import type { QuestionParams, UiRequest } from '../../../src/protocol/requests/requests.js';
import type { TuiContext } from '../../../src/tui/app/context.js';
import { createBegunAnswers } from '../../../src/tui/app/begun-answers.js';
import type { Overlay } from '../../../src/tui/overlays/overlay.js';
import { createAnswering, type Answering } from '../../../src/tui/pane/answering.js';
import { rowText } from '../../../src/tui/rows/row.js';

interface Place {
  answering: Answering;
  overlays: Overlay[];
  requests: UiRequest[];
  sent: unknown[];
  notices: string[];
  putAway: string[];
  released: number;
  refuses: boolean;
  press(key: string): void;
}

function question(request_id: string, params: Partial<QuestionParams> & Pick<QuestionParams, 'method'>): UiRequest {
  return { request_id, params: { kind: 'question', title: `Question ${request_id}`, ...params } } as UiRequest;
}

function open(...requests: UiRequest[]): Place {
  const place: Omit<Place, 'answering'> = {
    ...{ overlays: [], requests, sent: [], notices: [], putAway: [], released: 0, refuses: false },
    press(key) {
      const overlay = place.overlays.at(-1);
      if (key !== 'escape') return overlay?.onKey(key);
      place.overlays.pop();
      overlay?.onClosed?.();
    },
  };
  const context = {
    env: {},
    isObserver: false,
    begunAnswers: createBegunAnswers(),
    notice: (text: string) => place.notices.push(text),
    invalidate: () => undefined,
    open: (overlay: Overlay) => place.overlays.push(overlay),
    closeOverlay: (overlay?: Overlay) => (place.overlays = place.overlays.filter((one) => one !== (overlay ?? place.overlays.at(-1)))),
    berth: {
      call(_: string, payload: unknown) {
        place.sent.push(payload);
        return Promise.resolve(place.refuses ? { ok: false, error: { code: 'session_error', message: 'no' } } : { ok: true, payload: {} });
      },
    },
  } as unknown as TuiContext;
  const attached = { view: () => ({ state: { requests: place.requests } }) } as unknown as AttachedSession;
  const answering = createAnswering({
    context,
    attached,
    release: () => place.released++,
    putAway: (text) => place.putAway.push(text),
  });
  return Object.assign(place, { answering });
}

function shown({ overlays }: Place): string {
  return (overlays.at(-1)?.frame(60, 20).rows ?? []).map(rowText).join('\n');
}

test.each(['input', 'editor'] as const)(
  'a text that was begun for an %s question and closed is there when it is opened again',
  (method) => {
    const place = open(question('1', { method }));
    place.answering.focus();
    place.overlays.at(-1)?.onText('Mary Ro');
    place.press('escape');
    expect(place.overlays).toEqual([]);
    place.answering.focus();
    expect(shown(place)).toContain('Mary Ro');
    place.overlays.at(-1)?.onText('se');
    place.press('enter');
    expect(place.sent).toEqual([{ request_id: '1', result: 'Mary Rose' }]);
    place.answering.resolved('1');
    expect(place.putAway).toEqual([]);
  },
);

test('an answer that nobody took is there again', async () => {
  const place = open(question('1', { method: 'input' }));
  place.refuses = true;
  place.answering.focus();
  place.overlays.at(-1)?.onText('Mary Rose');
  place.press('enter');
  await Promise.resolve().then(() => new Promise(setImmediate));
  place.answering.focus();
  expect(shown(place)).toContain('Mary Rose');
});

test('a question that is answered elsewhere closes its dialog, and what was begun goes where Up finds it', () => {
  const place = open(question('1', { method: 'input' }));
  place.answering.focus();
  place.overlays.at(-1)?.onText('half an answer');
  place.requests = [];
  place.answering.resolved('1');
  expect([place.overlays, place.putAway]).toEqual([[], ['half an answer']]);
  expect(place.notices).toEqual(['what you had begun to answer is kept: Up brings it back']);
  place.answering.resolved('1');
  expect(place.putAway).toHaveLength(1);
});

test('a secret is not kept', () => {
  const place = open(question('1', { method: 'input', secret: true }));
  place.answering.focus();
  place.overlays.at(-1)?.onText('hunter2');
  place.press('escape');
  place.answering.focus();
  expect(shown(place)).not.toMatch(/hunter2|•/);
  place.press('escape');
  place.answering.resolved('1');
  expect(place.putAway).toEqual([]);
});

test('the keyboard that was given to a question does not pass on to the next one', () => {
  const place = open(question('1', { method: 'confirm' }), question('2', { method: 'confirm' }));
  expect(place.answering.focus()).toBe(true);
  place.requests = place.requests.slice(1);
  place.answering.resolved('1');
  expect(place.released).toBe(1);
  place.answering.resolved('other');
  expect(place.released).toBe(1);
});

test('what cannot be undone is not answered by a lone key, and says so in colour and words', () => {
  const place = open(question('1', { method: 'confirm', danger: true }));
  place.answering.painted(0);
  const rows = place.answering.rows(80, 20, false, true);
  expect(rows.map(rowText).join('\n')).toMatch(/Yes, although it cannot be undone[^]*Ctrl-O answers/);
  expect(rows.flatMap(({ spans }) => spans).find(({ text }) => text.includes('Question 1'))?.tone).toBe('bad');
  expect(place.answering.onText('y', { isFocused: false, isEditorEmpty: true, isAlone: true, nowMs: 10_000 })).toBe(false);
  expect(place.answering.confirm()).toBe(false);
  expect(place.answering.focus()).toBe(true);
  place.answering.onText('y', { isFocused: true, isEditorEmpty: true, isAlone: true, nowMs: 10_000 });
  expect(place.sent).toEqual([{ request_id: '1', result: true }]);
});

test('a choice that is too long for its row is wrapped, never cut', () => {
  const label = `the one ${'with a long name '.repeat(8)}END`;
  const place = open(question('1', { method: 'select', options: [{ value: 'a', label }] }));
  expect(place.answering.rows(40, 30, false, true).map(rowText).join(' ')).toContain('END');
});
