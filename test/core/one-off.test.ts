import { expect, test } from 'vitest';
import { changeSettings } from '../../src/core/settings.js';
import { createPlay, type CorePlay } from '../support/core-play.js';

function createOneOffPlay(): CorePlay {
  const play = createPlay();
  play.take(changeSettings(play.state, { one_off: true }));
  play.prompt();
  return play;
}

test('the one prompt of a one-off session leaves it one-off, and so do settings', () => {
  const play = createOneOffPlay();
  play.take(changeSettings(play.state, { approval_mode: 'full', title: '' }));
  expect(play.state).toMatchObject({ oneOff: true, run: { turns: 1 } });
});

test.each(['steer', 'follow_up'] as const)('a %s of the run makes it an ordinary one, in the same decision', (command) => {
  const play = createOneOffPlay();
  expect(play.take(play.submit('inp_2', { command }))).toEqual(['session_update', 'queue_update added inp_2']);
  expect(play.state.oneOff).toBe(false);
  expect(play.take(play.submit('inp_3', { command }))).toEqual(['queue_update added inp_3']);
});

test('a later prompt makes it an ordinary one, and a refused one does not', () => {
  const play = createOneOffPlay();
  expect(play.submit('inp_2').ok).toBe(false);
  expect(play.state.oneOff).toBe(true);
  play.answer({ text: 'done' });
  play.endTurn();
  expect(play.take(play.submit('inp_3')).slice(0, 2)).toEqual(['session_update', 'agent_start']);
  expect(play.state.oneOff).toBe(false);
});

test('so does a title', () => {
  const play = createOneOffPlay();
  play.take(changeSettings(play.state, { title: 'harbour' }));
  expect(play.state).toMatchObject({ title: 'harbour', oneOff: false });
});
