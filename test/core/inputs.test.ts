import { describe, expect, test } from 'vitest';
import { clearQueue, removeQueued, resumeQueue, updateQueued, type EarlierInput, type QueuedChange } from '../../src/core/inputs.js';
import { abortRun, settleRun } from '../../src/core/runs.js';
import { limits } from '../../src/protocol/limits.js';
import { brief, createPlay, factsOf, refusalOf, type CorePlay } from '../support/core-play.js';

function texts(play: CorePlay): string[] {
  return play.state.inputs.map((waiting) => waiting.input_id);
}

/** A session whose run was interrupted with these follow-ups waiting. */
function createPausedPlay(...ids: string[]): CorePlay {
  const play = createPlay();
  play.prompt();
  for (const id of ids) play.followUp(id);
  play.take(settleRun(play.state, { outcome: 'interrupted', error: null, partialContent: [] }, play.fresh));
  return play;
}

describe('an input is admitted', () => {
  test('a prompt to an idle session starts a run, its turn and its message in one decision', () => {
    const play = createPlay();
    const told = play.take(play.submit('inp_1'));
    expect(told).toEqual(['agent_start', 'turn_start 1 prompt', 'message_start user', 'message_end user']);
    expect(play.state.run).toMatchObject({ turns: 1, turn: { id: '1', kind: 'prompt', inputIds: ['inp_1'], responded: false } });
  });

  test('the reply names the run that was started', () => {
    const play = createPlay();
    const decision = play.submit('inp_1');
    expect(decision).toMatchObject({ ok: true, reply: { runId: 'run_1' }, admit: { inputId: 'inp_1', state: 'taken', runId: 'run_1' } });
  });

  test('a prompt to a running session is refused, queued as a steer or queued as a follow-up, as it says', () => {
    const play = createPlay();
    play.prompt();
    expect(refusalOf(play.submit('inp_2'))).toBe('run_in_progress');
    expect(play.take(play.submit('inp_3', { otherwise: 'steer' }))).toEqual(['queue_update added inp_3']);
    expect(play.take(play.submit('inp_4', { otherwise: 'follow_up' }))).toEqual(['queue_update added inp_4']);
    expect(play.state.inputs.map(({ kind }) => kind)).toEqual(['steer', 'follow_up']);
  });

  test.each(['steer', 'follow_up'] as const)('a %s to an idle session is refused, or starts a run if it says so', (command) => {
    const play = createPlay();
    expect(refusalOf(play.submit('inp_1', { command }))).toBe('no_active_run');
    expect(play.take(play.submit('inp_1', { command, otherwise: 'prompt' }))[0]).toBe('agent_start');
  });

  test('a message of nothing but blanks is refused, whatever it is', () => {
    const play = createPlay();
    for (const text of ['', ' ', '\n\t ']) expect(refusalOf(play.submit('inp_1', { text }))).toBe('empty_prompt');
    expect(refusalOf(play.submit('inp_1', { text: '', content: [{ type: 'text', text: ' ' }] }))).toBe('empty_prompt');
    play.prompt();
    expect(refusalOf(play.submit('inp_1', { command: 'steer', text: ' ' }))).toBe('empty_prompt');
  });

  test('an image without words is a message', () => {
    const play = createPlay();
    play.take(play.submit('inp_1', { text: '', content: [{ type: 'image', data: 'AA==', mime_type: 'image/png' }] }));
    expect(play.state.run).not.toBeNull();
  });

  test('words and images make one message, words first', () => {
    const play = createPlay();
    const image = { type: 'image' as const, data: 'AA==', mime_type: 'image/png' };
    const ended = factsOf(play.submit('inp_1', { text: 'look', content: [image] })).find((fact) => fact.type === 'message_end');
    expect(ended?.type === 'message_end' && ended.payload.message?.content).toEqual([{ type: 'text', text: 'look' }, image]);
  });
});

describe('the same input sent again', () => {
  const earlier: EarlierInput = {
    sessionId: 'ses_a',
    command: 'prompt',
    text: 'text of inp_1',
    content: null,
    runId: 'run_before',
    seq: 7,
  };

  test('is accepted, answered the same and changes nothing', () => {
    const play = createPlay();
    expect(play.submit('inp_1', {}, earlier)).toEqual({ ok: true, facts: [], reply: { runId: 'run_before', seq: 7 } });
  });

  test('is answered the same whatever the session does meanwhile', () => {
    const play = createPlay();
    play.prompt();
    expect(play.submit('inp_1', {}, earlier)).toMatchObject({ ok: true, facts: [], reply: { seq: 7 } });
    play.take(abortRun(play.state, false, undefined));
    expect(play.submit('inp_1', {}, earlier)).toMatchObject({ ok: true, facts: [], reply: { seq: 7 } });
  });

  test('with anything else under its id is a conflict', () => {
    const play = createPlay();
    const others: [Parameters<CorePlay['submit']>[1], EarlierInput][] = [
      [{ text: 'other' }, earlier],
      [{ command: 'steer' }, earlier],
      [{ content: [{ type: 'text', text: 'x' }] }, earlier],
      [{}, { ...earlier, sessionId: 'ses_b' }],
      [{ text: ' ' }, earlier],
    ];
    for (const [overrides, before] of others) expect(refusalOf(play.submit('inp_1', overrides, before))).toBe('input_conflict');
  });
});

describe('the queue is bounded', () => {
  test('by count', () => {
    const play = createPlay();
    play.prompt();
    for (let i = 0; i < limits.queuedInputsMax; i++) play.followUp(`inp_${i}`);
    expect(refusalOf(play.submit('inp_x', { command: 'steer' }))).toBe('queue_full');
    play.take(removeQueued(play.state, 'inp_0'));
    play.steer('inp_x');
  });

  test('by bytes, counted as UTF-8, to the last byte', () => {
    const play = createPlay();
    play.prompt();
    // Two bytes a unit.
    const half = 'é'.repeat(limits.queuedTextBytesMax / 4);
    play.take(play.submit('inp_1', { command: 'follow_up', text: half }));
    expect(refusalOf(play.submit('inp_2', { command: 'follow_up', text: `${half}x` }))).toBe('queue_full');
    play.take(play.submit('inp_2', { command: 'follow_up', text: half }));
    expect(refusalOf(play.submit('inp_3', { command: 'follow_up', text: 'x' }))).toBe('queue_full');
  });

  test('images count', () => {
    const play = createPlay();
    play.prompt();
    const content = [{ type: 'image' as const, data: 'A'.repeat(limits.queuedTextBytesMax), mime_type: 'image/png' }];
    expect(refusalOf(play.submit('inp_1', { command: 'follow_up', text: 'look', content }))).toBe('queue_full');
  });

  test('a prompt is not queued, so the bound is not its concern', () => {
    const play = createPlay();
    play.take(play.submit('inp_1', { text: 'x'.repeat(limits.queuedTextBytesMax + 1) }));
    expect(play.state.run).not.toBeNull();
  });

  test('an edit may not pass it either', () => {
    const play = createPlay();
    play.prompt();
    play.followUp('inp_1');
    const text = 'x'.repeat(limits.queuedTextBytesMax + 1);
    expect(refusalOf(updateQueued(play.state, { inputId: 'inp_1', revision: 1, text }, play.fresh))).toBe('queue_full');
  });
});

describe('while a run is being aborted', () => {
  function createAborting(): CorePlay {
    const play = createPlay();
    play.prompt();
    play.take(abortRun(play.state, false, undefined));
    return play;
  }
  function settle(play: CorePlay): string[] {
    return play.take(settleRun(play.state, { outcome: 'aborted', error: null, partialContent: [] }, play.fresh));
  }

  test('a prompt is refused with run_in_progress, a steer or follow-up with no_active_run', () => {
    const play = createAborting();
    expect(refusalOf(play.submit('inp_2'))).toBe('run_in_progress');
    expect(refusalOf(play.submit('inp_2', { otherwise: 'follow_up' }))).toBe('run_in_progress');
    expect(refusalOf(play.submit('inp_2', { command: 'steer' }))).toBe('no_active_run');
    expect(refusalOf(play.submit('inp_2', { command: 'follow_up' }))).toBe('no_active_run');
  });

  test.each(['steer', 'follow_up'] as const)(
    'a %s that may start a run starts the next one in the commit that ends this one',
    (command) => {
      const play = createAborting();
      const accepted = play.submit('inp_2', { command, otherwise: 'prompt' });
      play.take(accepted);
      const told = settle(play);
      expect(told.slice(told.indexOf('agent_end aborted'))).toEqual([
        'agent_end aborted',
        'agent_start',
        'queue_update taken inp_2',
        'turn_start 1 prompt',
        'message_start user',
        'message_end user',
      ]);
      expect(accepted.ok && accepted.reply.runId).toBe(play.state.run?.id);
      expect(play.state.inputs).toEqual([]);
    },
  );

  test('several such inputs are told the same run, and all of them are taken by it, in order', () => {
    const play = createAborting();
    const runs = ['inp_2', 'inp_3'].map((id) => {
      const decision = play.submit(id, { command: 'follow_up', otherwise: 'prompt' });
      play.take(decision);
      return decision.ok && decision.reply.runId;
    });
    settle(play);
    expect(runs).toEqual([play.state.run?.id, play.state.run?.id]);
    play.answer({ text: 'one' });
    expect(play.endTurn()).toContain('queue_update taken inp_3');
    play.answer({ text: 'two' });
    expect(play.endTurn()).toContain('agent_end completed');
  });

  test.each(['aborted', 'interrupted', 'failed'] as const)(
    'the input that waits behind the first of them starts no run by itself when that run is %s',
    (outcome) => {
      const play = createAborting();
      for (const id of ['inp_2', 'inp_3']) play.take(play.submit(id, { command: 'steer', otherwise: 'prompt' }));
      settle(play);
      if (outcome === 'aborted') play.take(abortRun(play.state, true, undefined));
      const told = play.take(settleRun(play.state, { outcome, error: null, partialContent: [] }, play.fresh));
      expect(told).not.toContain('agent_start');
      expect(play.state).toMatchObject({ run: null, paused: true });
      expect(texts(play)).toEqual(['inp_3']);
    },
  );

  test('such an input clears the pause of a queue that was kept, which then follows it', () => {
    const play = createPlay();
    play.prompt();
    play.followUp('inp_kept');
    play.take(abortRun(play.state, true, undefined));
    expect(play.state.paused).toBe(true);
    play.take(play.submit('inp_2', { command: 'steer', otherwise: 'prompt' }));
    settle(play);
    expect(play.state).toMatchObject({ paused: false, run: { turn: { inputIds: ['inp_2'] } } });
    play.answer({ text: 'x' });
    expect(play.endTurn()).toContain('queue_update taken inp_kept');
  });

  test('held before the run is over, it starts nothing and waits', () => {
    const play = createAborting();
    play.take(play.submit('inp_2', { command: 'steer', otherwise: 'prompt' }));
    play.take(updateQueued(play.state, { inputId: 'inp_2', revision: 1, hold: true }, play.fresh));
    expect(settle(play)).not.toContain('agent_start');
    expect(texts(play)).toEqual(['inp_2']);
    const released = play.take(updateQueued(play.state, { inputId: 'inp_2', revision: 2, hold: false }, play.fresh));
    expect(released).toContain('queue_update taken inp_2');
  });

  test('taken out again before the run is over, it starts nothing', () => {
    const play = createAborting();
    play.take(play.submit('inp_2', { command: 'steer', otherwise: 'prompt' }));
    play.take(removeQueued(play.state, 'inp_2'));
    expect(settle(play)).not.toContain('agent_start');
    expect(play.state.run).toBeNull();
  });
});

describe('a waiting input', () => {
  function createQueue(...ids: string[]): CorePlay {
    const play = createPlay();
    play.prompt();
    for (const id of ids) play.followUp(id);
    return play;
  }
  function update(play: CorePlay, change: Partial<QueuedChange>): string[] {
    return play.take(updateQueued(play.state, { inputId: 'inp_1', revision: 1, ...change }, play.fresh));
  }

  test('can be edited, if its revision is still the one that was read', () => {
    const play = createQueue('inp_1');
    expect(update(play, { text: 'new' })).toEqual(['queue_update edited inp_1']);
    expect(play.state.inputs).toMatchObject([{ text: 'new', revision: 2 }]);
    const late = updateQueued(play.state, { inputId: 'inp_1', revision: 1, text: 'newer' }, play.fresh);
    expect(late).toMatchObject({ ok: false, refusal: { message: 'revision_conflict', details: { revision: 2 } } });
    expect(update(play, { revision: 2, text: 'newer' })).toEqual(['queue_update edited inp_1']);
  });

  test('can become a steer', () => {
    const play = createQueue('inp_1');
    update(play, { kind: 'steer' });
    expect(play.state.inputs).toMatchObject([{ kind: 'steer', revision: 2 }]);
  });

  test('can be moved; the event tells the whole order', () => {
    const play = createQueue('inp_0', 'inp_1', 'inp_2');
    const decision = updateQueued(play.state, { inputId: 'inp_1', revision: 1, position: 0 }, play.fresh);
    expect(factsOf(decision)).toMatchObject([{ payload: { op: 'moved', order: ['inp_1', 'inp_0', 'inp_2'] } }]);
    play.take(decision);
    expect(texts(play)).toEqual(['inp_1', 'inp_0', 'inp_2']);
    update(play, { position: 99 });
    expect(texts(play)).toEqual(['inp_0', 'inp_2', 'inp_1']);
  });

  test('can be edited, held and moved at once', () => {
    const play = createQueue('inp_0', 'inp_1');
    expect(update(play, { text: 'new', hold: true, position: 0 })).toEqual([
      'queue_update edited inp_1',
      'queue_update held inp_1',
      'queue_update moved',
    ]);
    expect(play.state.inputs).toMatchObject([{ input_id: 'inp_1', text: 'new', hold: true, revision: 2 }, { input_id: 'inp_0' }]);
  });

  test('cannot be emptied', () => {
    const play = createQueue('inp_1');
    expect(refusalOf(updateQueued(play.state, { inputId: 'inp_1', revision: 1, text: ' ' }, play.fresh))).toBe('empty_prompt');
  });

  test('is not_waiting once it was taken, removed or never there', () => {
    const play = createQueue('inp_1', 'inp_2');
    play.answer({ text: 'x' });
    play.endTurn();
    play.take(removeQueued(play.state, 'inp_2'));
    for (const inputId of ['inp_1', 'inp_2', 'inp_none']) {
      expect(refusalOf(updateQueued(play.state, { inputId, revision: 1, text: 'x' }, play.fresh))).toBe('not_waiting');
      expect(refusalOf(removeQueued(play.state, inputId))).toBe('not_waiting');
    }
  });

  test('held, it is passed over until it is released', () => {
    const play = createQueue('inp_1', 'inp_2');
    update(play, { hold: true });
    play.answer({ text: 'x' });
    expect(play.endTurn()).toContain('queue_update taken inp_2');
    play.answer({ text: 'x' });
    expect(play.endTurn()).toContain('agent_end completed');
    expect(texts(play)).toEqual(['inp_1']);
  });

  test('released in an idle session it starts a run, in a paused one it waits', () => {
    const play = createQueue('inp_1');
    update(play, { hold: true });
    play.answer({ text: 'x' });
    play.endTurn();
    expect(update(play, { hold: false, revision: 2 })).toEqual([
      'queue_update released inp_1',
      'agent_start',
      'queue_update taken inp_1',
      'turn_start 1 follow_up',
      'message_start user',
      'message_end user',
    ]);
    const paused = createPausedPlay('inp_1');
    update(paused, { hold: true });
    expect(update(paused, { hold: false, revision: 2 })).toEqual(['queue_update released inp_1']);
    expect(paused.state.run).toBeNull();
  });

  test('held in a session at rest, editing or moving it starts nothing', () => {
    const play = createQueue('inp_1');
    update(play, { hold: true });
    play.answer({ text: 'x' });
    play.endTurn();
    update(play, { revision: 2, text: 'new', position: 0 });
    expect(play.state.run).toBeNull();
  });
});

describe('the queue as a whole', () => {
  test('cleared, every text is told; an empty one tells nothing', () => {
    const play = createPlay();
    play.prompt();
    play.followUp('inp_1');
    play.steer('inp_2');
    const decision = clearQueue(play.state);
    expect(factsOf(decision)).toMatchObject([
      {
        payload: {
          op: 'dropped',
          dropped: [
            { input_id: 'inp_1', kind: 'follow_up', text: 'text of inp_1' },
            { input_id: 'inp_2', kind: 'steer', text: 'text of inp_2' },
          ],
        },
      },
    ]);
    expect(decision).toMatchObject({ reply: { count: 2 } });
    play.take(decision);
    expect(clearQueue(play.state)).toMatchObject({ facts: [], reply: { count: 0 } });
  });

  test('resumed, it starts a run with the first that waits; the others follow by the usual rules', () => {
    const play = createPausedPlay('inp_1', 'inp_2');
    const decision = resumeQueue(play.state, play.fresh);
    expect(play.take(decision)).toEqual([
      'queue_update resumed',
      'agent_start',
      'queue_update taken inp_1',
      'turn_start 1 follow_up',
      'message_start user',
      'message_end user',
    ]);
    expect(decision).toMatchObject({ reply: { runId: play.state.run?.id } });
    play.answer({ text: 'x' });
    expect(play.endTurn()).toContain('queue_update taken inp_2');
  });

  test('resumed with a steer waiting behind a follow-up, the steer goes first', () => {
    const play = createPausedPlay('inp_1');
    play.take(updateQueued(play.state, { inputId: 'inp_1', revision: 1, hold: true }, play.fresh));
    play.prompt('inp_p2');
    play.followUp('inp_2');
    play.steer('inp_3');
    play.take(settleRun(play.state, { outcome: 'interrupted', error: null, partialContent: [] }, play.fresh));
    expect(play.take(resumeQueue(play.state, play.fresh))).toContain('queue_update taken inp_3');
  });

  test('resumed with nothing waiting it is only unpaused', () => {
    const play = createPausedPlay();
    expect(play.state.paused).toBe(true);
    expect(play.take(resumeQueue(play.state, play.fresh))).toEqual(['queue_update resumed']);
    expect(play.take(resumeQueue(play.state, play.fresh))).toEqual([]);
  });

  test('a prompt clears the pause and is the first turn; what waited follows', () => {
    const play = createPausedPlay('inp_1');
    expect(play.take(play.submit('inp_new')).slice(0, 3)).toEqual(['queue_update resumed', 'agent_start', 'turn_start 1 prompt']);
    play.answer({ text: 'x' });
    expect(play.endTurn()).toContain('queue_update taken inp_1');
  });

  test('resumed while its run is aborted with the queue kept, it is not paused any more', () => {
    const play = createPlay();
    play.prompt();
    play.followUp('inp_1');
    play.take(abortRun(play.state, true, undefined));
    play.take(resumeQueue(play.state, play.fresh));
    const told = play.take(settleRun(play.state, { outcome: 'aborted', error: null, partialContent: [] }, play.fresh));
    expect(play.state.paused).toBe(false);
    expect(told.slice(told.indexOf('agent_end aborted'))).toContain('queue_update taken inp_1');
  });
});

test('a decision changes nothing by itself', () => {
  const play = createPlay();
  const before = structuredClone(play.state);
  expect(brief(factsOf(play.submit('inp_1'))).length).toBeGreaterThan(0);
  expect(play.state).toEqual(before);
});
