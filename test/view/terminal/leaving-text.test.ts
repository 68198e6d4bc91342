import { expect, test } from 'vitest';
import { leavingTexts } from '../../../src/view/terminal/leaving-text.js';
import { emptyView, type SessionView } from '../../../src/view/session-view.js';

function view(state: Partial<SessionView['state']>): SessionView {
  const empty = emptyView('ses_1');
  return { ...empty, state: { ...empty.state, ...state } };
}

test('who leaves is told what goes on without them, and what was not sent', () => {
  const run = { id: 'run_1' } as unknown as SessionView['state']['run'];
  const requests = [{ request_id: 'req_1' }] as unknown as SessionView['state']['requests'];
  expect(leavingTexts(view({}), 0)).toEqual([]);
  expect(leavingTexts(view({ run }), 0)).toEqual(['The run goes on.']);
  expect(leavingTexts(view({ run, requests }), 2)).toEqual([
    'The run waits for an answer; berth answer lists it.',
    '2 not sent yet: kept, and sent by the next berth attach.',
  ]);
});
