import { describe, expect, test } from 'vitest';
import {
  abortRun,
  beginMessage,
  endCalls,
  endMessage,
  endTurn,
  nextStep,
  settleRun,
  skipForSteer,
  startCall,
  stopForDenial,
} from '../../src/core/runs.js';
import { changeSettings } from '../../src/core/settings.js';
import { updateQueued } from '../../src/core/inputs.js';
import { limits } from '../../src/protocol/limits.js';
import { createPlay, factsOf, refusalOf, type CorePlay } from '../support/core-play.js';
import { approvalParams } from '../support/requests.js';

function createRunning(): CorePlay {
  const play = createPlay();
  play.prompt();
  return play;
}

function takenOf(told: string[]): string[] {
  return told.filter((words) => words.startsWith('queue_update taken')).map((words) => words.slice('queue_update taken '.length));
}

describe('the next step of a run', () => {
  test('is found in the state, so that a restart finds the same', () => {
    const play = createPlay();
    expect(nextStep(play.state)).toBe('none');
    play.prompt();
    expect(nextStep(play.state)).toBe('respond');
    play.answer({ calls: ['echo'] });
    expect(nextStep(play.state)).toBe('calls');
    play.start('call_1');
    expect(nextStep(play.state)).toBe('calls');
    play.finish('call_1');
    expect(nextStep(play.state)).toBe('end_turn');
    play.endTurn();
    expect(nextStep(play.state)).toBe('respond');
    play.take(abortRun(play.state, false, undefined));
    expect(nextStep(play.state)).toBe('settle_abort');
  });

  test('after a model that had nothing to say is the end of the turn, not another question', () => {
    const play = createRunning();
    play.answer({});
    expect(nextStep(play.state)).toBe('end_turn');
    expect(play.endTurn()).toEqual(['turn_end 1', 'agent_end completed']);
  });
});

describe('the end of a turn', () => {
  test('is the end of the run when nothing waits, in one decision', () => {
    const play = createRunning();
    play.answer({ text: 'x' });
    expect(play.endTurn()).toEqual(['turn_end 1', 'agent_end completed']);
    expect(play.state).toMatchObject({ run: null, lastRun: { outcome: 'completed', error: null }, paused: false });
  });

  test('after tool calls is the next question to the model', () => {
    const play = createRunning();
    play.answer({ calls: ['echo'] });
    play.finish('call_1');
    expect(play.endTurn()).toEqual(['turn_end 1', 'turn_start 2 tool_results']);
  });

  test('after tool calls takes a steer but leaves the follow-ups', () => {
    const play = createRunning();
    play.answer({ calls: ['echo'] });
    play.followUp('inp_f');
    play.steer('inp_s');
    play.finish('call_1');
    expect(play.endTurn()).toEqual([
      'turn_end 1',
      'queue_update taken inp_s',
      'turn_start 2 steer',
      'message_start user',
      'message_end user',
    ]);
  });

  test('takes all steers, one a boundary, before any follow-up', () => {
    const play = createRunning();
    play.followUp('inp_f1');
    play.steer('inp_s1');
    play.followUp('inp_f2');
    play.steer('inp_s2');
    const taken: string[] = [];
    while (play.state.run) {
      play.answer({ text: 'x' });
      taken.push(...takenOf(play.endTurn()));
    }
    expect(taken).toEqual(['inp_s1', 'inp_s2', 'inp_f1', 'inp_f2']);
  });

  test('in mode all takes every input of a kind in one turn, as separate messages in order', () => {
    const play = createRunning();
    play.take(changeSettings(play.state, { steering_mode: 'all', follow_up_mode: 'all' }));
    play.followUp('inp_f1');
    play.steer('inp_s1');
    play.steer('inp_s2');
    play.followUp('inp_f2');
    play.answer({ text: 'x' });
    expect(play.endTurn()).toEqual([
      'turn_end 1',
      'queue_update taken inp_s1',
      'queue_update taken inp_s2',
      'turn_start 2 steer',
      'message_start user',
      'message_end user',
      'message_start user',
      'message_end user',
    ]);
    expect(play.state.run?.turn?.inputIds).toEqual(['inp_s1', 'inp_s2']);
    play.answer({ text: 'x' });
    expect(takenOf(play.endTurn())).toEqual(['inp_f1', 'inp_f2']);
    play.answer({ text: 'x' });
    expect(play.endTurn()).toContain('agent_end completed');
  });

  test('leaves held inputs waiting, even a steer', () => {
    const play = createRunning();
    play.steer('inp_s');
    play.followUp('inp_f');
    for (const inputId of ['inp_s', 'inp_f']) play.take(updateQueued(play.state, { inputId, revision: 1, hold: true }, play.fresh));
    play.answer({ text: 'x' });
    expect(play.endTurn()).toEqual(['turn_end 1', 'agent_end completed']);
    expect(play.state).toMatchObject({ paused: false });
    expect(play.state.inputs).toHaveLength(2);
  });

  test('is refused while the run is being aborted: whoever settles it closes the turn', () => {
    const play = createRunning();
    play.answer({ text: 'x' });
    play.take(abortRun(play.state, false, undefined));
    expect(refusalOf(endTurn(play.state, play.fresh))).toBe('aborted');
  });

  test('after too many turns fails the run and keeps what waits', () => {
    const play = createRunning();
    for (let turn = 1; turn < limits.turnsPerRunMax; turn++) {
      play.answer({ calls: ['echo'] });
      play.finish('call_1');
      play.endTurn();
    }
    play.followUp('inp_f');
    play.answer({ calls: ['echo'] });
    play.finish('call_1');
    expect(play.endTurn()).toContain('agent_end failed');
    expect(play.state).toMatchObject({ paused: true, lastRun: { error: { code: 'session_error' } } });
    expect(play.state.inputs).toHaveLength(1);
  });
});

describe('tool calls', () => {
  test('end together with their result', () => {
    const play = createRunning();
    play.answer({ calls: ['echo'] });
    play.start('call_1');
    expect(play.finish('call_1')).toEqual(['tool_execution_end call_1', 'message_start tool_result', 'message_end tool_result']);
  });

  test('that never started get their start in the same decision', () => {
    const play = createRunning();
    play.answer({ calls: ['nonsense'] });
    expect(play.finish('call_1')).toEqual([
      'tool_execution_start call_1',
      'tool_execution_end call_1',
      'message_start tool_result',
      'message_end tool_result',
    ]);
  });

  test('are skipped after the one that ended when a steer waits, each with a result', () => {
    const play = createRunning();
    play.answer({ calls: ['echo', 'echo', 'echo'] });
    play.start('call_1');
    play.steer('inp_s');
    const told = play.finish('call_1');
    expect(told.filter((words) => words.startsWith('tool_execution_end'))).toEqual([
      'tool_execution_end call_1',
      'tool_execution_end call_2 skipped',
      'tool_execution_end call_3 skipped',
    ]);
    expect(told.filter((words) => words === 'message_end tool_result')).toHaveLength(3);
    expect(nextStep(play.state)).toBe('end_turn');
  });

  test('are not skipped for a steer that is held, or for a follow-up', () => {
    const play = createRunning();
    play.answer({ calls: ['echo', 'echo'] });
    play.followUp('inp_f');
    play.steer('inp_s');
    play.take(updateQueued(play.state, { inputId: 'inp_s', revision: 1, hold: true }, play.fresh));
    expect(play.finish('call_1')).not.toContain('tool_execution_end call_2 skipped');
    expect(play.state.run?.calls).toHaveLength(1);
  });

  test('that run beside the one that ended are not skipped', () => {
    const play = createRunning();
    play.answer({ calls: ['clock', 'clock', 'echo'] });
    play.start('call_1');
    play.start('call_2');
    play.steer('inp_s');
    expect(play.finish('call_1').filter((words) => words.endsWith('skipped'))).toEqual(['tool_execution_end call_3 skipped']);
    expect(play.state.run?.calls.map(({ id }) => id)).toEqual(['call_2']);
  });

  test('that wait for approval behind a finished one give way to a steer; their request is resolved by it', () => {
    const play = createRunning();
    play.answer({ calls: ['echo', 'echo'] });
    play.finish('call_1');
    play.ask({ toolCallId: 'call_2', askKey: 'approval', params: approvalParams() });
    play.steer('inp_s');
    expect(play.take(skipForSteer(play.state, play.fresh))).toEqual([
      'ui_resolved steer steered',
      'tool_execution_start call_2',
      'tool_execution_end call_2 skipped',
      'message_start tool_result',
      'message_end tool_result',
    ]);
    expect(play.state.requests).toEqual([]);
  });

  test('give way to nothing when no steer waits', () => {
    const play = createRunning();
    play.answer({ calls: ['echo'] });
    expect(refusalOf(skipForSteer(play.state, play.fresh))).toBe('aborted');
  });

  test('start once, and not once the run is being aborted', () => {
    const play = createRunning();
    play.answer({ calls: ['echo', 'echo'] });
    play.start('call_1');
    expect(refusalOf(startCall(play.state, 'call_1', 'x'))).toBe('aborted');
    expect(refusalOf(startCall(play.state, 'call_9', 'x'))).toBe('aborted');
    play.take(abortRun(play.state, false, undefined));
    expect(refusalOf(startCall(play.state, 'call_2', 'x'))).toBe('aborted');
    const result = { content: [], isError: false, skipped: false, durationMs: null };
    expect(refusalOf(endCalls(play.state, [{ id: 'call_1', result }], play.fresh))).toBe('aborted');
  });

  test('end once: a second result is told to nobody', () => {
    const play = createRunning();
    play.answer({ calls: ['echo'] });
    play.finish('call_1');
    expect(play.finish('call_1')).toEqual([]);
  });
});

describe('an abort', () => {
  test('drops the queue in its first decision and tells every text', () => {
    const play = createRunning();
    play.steer('inp_s');
    play.followUp('inp_f');
    const decision = abortRun(play.state, false, 'enough');
    expect(factsOf(decision)).toMatchObject([
      { type: 'status', payload: { message: 'enough', run_state: 'aborting' } },
      {
        type: 'queue_update',
        payload: {
          op: 'dropped',
          paused: false,
          dropped: [
            { input_id: 'inp_s', kind: 'steer', text: 'text of inp_s' },
            { input_id: 'inp_f', kind: 'follow_up', text: 'text of inp_f' },
          ],
        },
      },
    ]);
    play.take(decision);
    expect(play.state).toMatchObject({ inputs: [], paused: false, run: { aborting: true } });
  });

  test('with keep_queue pauses it instead', () => {
    const play = createRunning();
    play.followUp('inp_f');
    expect(play.take(abortRun(play.state, true, undefined))).toEqual(['status', 'queue_update paused']);
    expect(play.state).toMatchObject({ paused: true, inputs: [{ input_id: 'inp_f' }] });
  });

  test('is accepted again and tells nothing twice', () => {
    const play = createRunning();
    const first = abortRun(play.state, false, undefined);
    play.take(first);
    expect(abortRun(play.state, false, undefined)).toEqual({ ok: true, facts: [], reply: first.ok && first.reply });
  });

  test('of nothing is no_active_run', () => {
    expect(refusalOf(abortRun(createPlay().state, false, undefined))).toBe('no_active_run');
  });

  test('refuses everything the run would still do', () => {
    const play = createRunning();
    play.take(abortRun(play.state, false, undefined));
    expect(refusalOf(beginMessage(play.state, 'msg_x'))).toBe('aborted');
    expect(refusalOf(endMessage(play.state, { id: 'msg_x', content: [] }, null, play.fresh))).toBe('aborted');
    expect(refusalOf(skipForSteer(play.state, play.fresh))).toBe('aborted');
  });
});

describe('settling a run', () => {
  test('closes an open message with what it had said', () => {
    const play = createRunning();
    play.take(beginMessage(play.state, 'msg_open'));
    play.take(abortRun(play.state, false, undefined));
    const decision = settleRun(
      play.state,
      { outcome: 'aborted', error: null, partialContent: [{ type: 'text', text: 'so far' }] },
      play.fresh,
    );
    expect(factsOf(decision)[0]).toMatchObject({
      type: 'message_end',
      payload: { message_id: 'msg_open', message: { text: 'so far', stop_reason: 'aborted' } },
    });
    expect(play.take(decision)).toEqual(['message_end assistant', 'turn_end 1', 'agent_end aborted']);
  });

  test.each(['aborted', 'failed', 'interrupted'] as const)('discards an open message that said nothing: %s', (outcome) => {
    const play = createRunning();
    play.take(beginMessage(play.state, 'msg_open'));
    const told = play.take(settleRun(play.state, { outcome, error: null, partialContent: [] }, play.fresh));
    expect(told[0]).toBe(`message_end assistant discarded ${outcome}`);
    expect(told.at(-1)).toBe(`agent_end ${outcome}`);
  });

  test('leaves out calls of a message that was cut: they never ran', () => {
    const play = createRunning();
    play.take(beginMessage(play.state, 'msg_open'));
    const partialContent = [
      { type: 'text' as const, text: 'I call' },
      { type: 'tool_call' as const, id: 'call_1', name: 'echo', arguments: {} },
    ];
    const told = play.take(settleRun(play.state, { outcome: 'interrupted', error: null, partialContent }, play.fresh));
    expect(told.some((words) => words.startsWith('tool_execution'))).toBe(false);
  });

  test('closes everything that is open in the canonical order, in one decision', () => {
    const play = createRunning();
    play.answer({ text: 'three', calls: ['echo', 'echo', 'echo'] });
    play.finish('call_1');
    play.start('call_2');
    play.ask({ toolCallId: 'call_2' });
    play.followUp('inp_f');
    const told = play.take(settleRun(play.state, { outcome: 'interrupted', error: null, partialContent: [] }, play.fresh));
    expect(told).toEqual([
      'ui_resolved interrupted interrupted',
      'tool_execution_end call_2',
      'message_start tool_result',
      'message_end tool_result',
      'tool_execution_start call_3',
      'tool_execution_end call_3 skipped',
      'message_start tool_result',
      'message_end tool_result',
      'turn_end 1',
      'queue_update paused',
      'agent_end interrupted',
    ]);
    expect(play.state).toMatchObject({ run: null, requests: [], paused: true, inputs: [{ input_id: 'inp_f' }] });
  });

  test('tells a call that ran apart from one that did not', () => {
    const play = createRunning();
    play.answer({ calls: ['echo', 'echo'] });
    play.start('call_1');
    const results = factsOf(settleRun(play.state, { outcome: 'interrupted', error: null, partialContent: [] }, play.fresh)).flatMap(
      (fact) => (fact.type === 'tool_execution_end' ? [fact.payload] : []),
    );
    expect(results).toMatchObject([
      { is_error: true, skipped: false, result: expect.stringContaining('may or may not have had its effect') },
      { is_error: true, skipped: true, result: expect.stringMatching(/^Not run/) },
    ]);
  });

  test('resolves the requests of an aborted run by abort', () => {
    const play = createRunning();
    play.answer({ calls: ['ask_user'] });
    play.start('call_1');
    play.ask();
    play.take(abortRun(play.state, false, undefined));
    expect(play.take(settleRun(play.state, { outcome: 'aborted', error: null, partialContent: [] }, play.fresh))[0]).toBe(
      'ui_resolved abort aborted',
    );
  });

  test('says why a run failed and pauses the queue', () => {
    const play = createRunning();
    const error = { code: 'provider_error', message: 'no', cause: 'overloaded' };
    const told = play.take(settleRun(play.state, { outcome: 'failed', error, partialContent: [] }, play.fresh));
    expect(told).toEqual(['turn_end 1', 'error', 'queue_update paused', 'agent_end failed']);
    expect(play.state.lastRun).toMatchObject({ outcome: 'failed', error });
  });

  test('as aborted does not pause by itself', () => {
    const play = createRunning();
    play.take(abortRun(play.state, false, undefined));
    play.take(settleRun(play.state, { outcome: 'aborted', error: null, partialContent: [] }, play.fresh));
    expect(play.state.paused).toBe(false);
  });

  test('of nothing is refused', () => {
    expect(refusalOf(settleRun(createPlay().state, { outcome: 'aborted', error: null, partialContent: [] }, createPlay().fresh))).toBe(
      'no_active_run',
    );
  });
});

describe('a plain no to a tool', () => {
  test('ends the run as aborted in one decision, with a result for every call', () => {
    const play = createRunning();
    play.answer({ calls: ['echo', 'echo'] });
    play.ask({ askKey: 'approval', params: approvalParams() });
    const stopped = stopForDenial(play.state, 'call_1', 'Denied by the person.', play.fresh);
    const told = play.take(stopped);
    expect(told[0]).toBe('status');
    expect(factsOf(stopped)[0]).toMatchObject({ payload: { message: 'echo was denied', run_state: 'aborting' } });
    expect(told.filter((words) => words === 'message_end tool_result')).toHaveLength(2);
    expect(told.at(-1)).toBe('agent_end aborted');
    expect(play.state.paused).toBe(false);
  });

  test('is what its result says, and the others say that it was another', () => {
    const play = createRunning();
    play.answer({ calls: ['echo', 'echo', 'echo'] });
    play.start('call_1');
    const ends = factsOf(stopForDenial(play.state, 'call_2', 'Denied by the person.', play.fresh)).flatMap((fact) =>
      fact.type === 'tool_execution_end' ? [fact.payload] : [],
    );
    expect(ends.map(({ tool_call_id, result, skipped }) => [tool_call_id, result, skipped])).toEqual([
      ['call_1', 'Stopped: the person denied another call.', false],
      ['call_2', 'Denied by the person.', true],
      ['call_3', 'Not run: the person denied another call.', true],
    ]);
  });

  test('keeps what waits, paused: nobody asked to drop it', () => {
    const play = createRunning();
    play.answer({ calls: ['echo'] });
    play.followUp('inp_f');
    play.take(stopForDenial(play.state, 'call_1', 'Denied by the person.', play.fresh));
    expect(play.state).toMatchObject({ run: null, paused: true, inputs: [{ input_id: 'inp_f' }] });
  });
});

test('usage is summed over the session, and a cost that nobody knows stays unknown', () => {
  const play = createRunning();
  const one = { input: 1, output: 2, cache_read: 3, cache_write: 4, cost_usd: null };
  play.answer({ text: 'x', calls: ['echo'], usage: one });
  expect(play.state.usage).toEqual(one);
  play.finish('call_1');
  play.endTurn();
  play.answer({ text: 'y', usage: { ...one, cost_usd: 0.5 } });
  expect(play.state.usage).toEqual({ input: 2, output: 4, cache_read: 6, cache_write: 8, cost_usd: 0.5 });
  const end = factsOf(endTurn(play.state, play.fresh)).at(-1);
  expect(end).toMatchObject({ type: 'agent_end', payload: { usage: play.state.usage } });
});
