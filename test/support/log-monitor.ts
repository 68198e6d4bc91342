import { isDeepStrictEqual } from 'node:util';
import type { DurableEvent, EventPayload, QueuedInput, RunOutcome } from '../../src/protocol/events.js';
import type { ContentBlock } from '../../src/protocol/messages.js';

/** An event as a client reads it: a durable one has its place in the log. */
export type LoggedEvent = DurableEvent;

interface WatchedCall {
  first: boolean;
  /** Read-only calls that stand side by side count as one. */
  group: number;
  state: 'open' | 'started' | 'ended';
  /** A person decided about it. */
  answered: boolean;
}

interface WatchedTurn {
  id: string;
  kind: string;
  /** User messages that are still to be said, each with the text it must have when that is known. */
  users: { inputId: string; text: string | undefined }[];
  responded: boolean;
  calls: Map<string, WatchedCall>;
  /** A steer waited when a call ended: what has not begun must not begin. */
  mustSkip: boolean;
  /** Calls that were skipped while no steer waited, or as the first of their response: only a settlement may do that. */
  oddSkips: string[];
}

interface WatchedRun {
  id: string;
  aborting: boolean;
  turns: number;
  turn: WatchedTurn | undefined;
  message: { id: string; role: string } | undefined;
  /** The end of a call was said; the message with its result must be next. */
  result: { messageId: string } | undefined;
  /** A call was begun that only may begin to be skipped at once. */
  onlyToSkip: string | undefined;
  /** A summary was made, or could not be, since the last turn: what is due is what waits now. */
  compacted: boolean;
}

export interface WatchedInput {
  sessionId: string;
  state: 'waiting' | 'taken' | 'removed' | 'dropped';
  text: string | undefined;
  /** The user messages that it became: one at most. */
  messages: number;
  /** What that message has. */
  content: ContentBlock[] | undefined;
}

export interface WatchedSession {
  id: string;
  deleting: boolean;
  deleted: boolean;
  waiting: QueuedInput[];
  paused: boolean;
  run: WatchedRun | undefined;
  /** Between two turns: what was taken, and what had to be. */
  boundary: { taken: QueuedInput[]; due: QueuedInput[]; afterCalls: boolean; run: WatchedRun | undefined; oddSkips: string[] } | undefined;
  /** The run that an input was accepted for while the last one was being aborted. */
  mustStart: string | undefined;
  /** A summary is being made, or asked for. */
  compacting: boolean;
  lastRun: { id: string; outcome: RunOutcome } | undefined;
  steeringMode: string;
  followUpMode: string;
  leafId: string | null;
  /** Every entry that may be its leaf. */
  tree: Set<string>;
  runs: string[];
}

class BrokenPromise extends Error {
  override name = 'BrokenPromise';
}

/**
 * Reads a log as protocol-v1 promises it and throws at the first event that breaks the promise. It shares no code with the
 * daemon: the queue rules are written here a second time.
 */
export function createLogMonitor({ readOnlyTools = ['clock'] }: { readOnlyTools?: string[] } = {}) {
  const sessions = new Map<string, WatchedSession>();
  const inputs = new Map<string, WatchedInput>();
  const runs = new Map<string, RunOutcome | undefined>();
  const requests = new Map<
    string,
    { sessionId: string; runId: string; callId: string; open: boolean; payload: EventPayload<'ui_request'> }
  >();
  const parents = new Map<string, { parentId: string | null; role: string }>();
  const callStarts = new Map<string, number>();
  /** Every rule that people made and did not take back. */
  const rules = new Map<string, EventPayload<'rule_update'>>();
  const recent: LoggedEvent[] = [];
  let seq = 0;

  function broken(what: string): never {
    const story = recent.slice(-25).map(({ seq: at, type, payload }) => `  ${at} ${type} ${JSON.stringify(payload).slice(0, 300)}`);
    throw new BrokenPromise(`${what}\nthe last events were\n${story.join('\n')}`);
  }

  function need(holds: boolean, what: string): asserts holds {
    if (!holds) broken(what);
  }

  function sessionOf(id: string): WatchedSession {
    let session = sessions.get(id);
    if (!session) {
      session = {
        id,
        deleting: false,
        deleted: false,
        waiting: [],
        paused: false,
        run: undefined,
        boundary: undefined,
        mustStart: undefined,
        compacting: false,
        lastRun: undefined,
        steeringMode: 'one-at-a-time',
        followUpMode: 'one-at-a-time',
        leafId: null,
        tree: new Set(),
        runs: [],
      };
      sessions.set(id, session);
    }
    return session;
  }

  function pathOf(leafId: string | null): string[] {
    const path: string[] = [];
    for (let id = leafId; id !== null; id = parents.get(id)?.parentId ?? null) path.push(id);
    return path.reverse();
  }

  /** Rules 3 to 5: steers before follow-ups, held ones never, one or all of a kind; after tool calls only steers. */
  function dueAtBoundary(session: WatchedSession, afterCalls: boolean): QueuedInput[] {
    const ready = session.waiting.filter(({ hold }) => !hold);
    const steers = ready.filter(({ kind }) => kind === 'steer');
    const [kind, mode] = steers.length > 0 ? [steers, session.steeringMode] : [afterCalls ? [] : ready, session.followUpMode];
    return mode === 'all' ? kind : kind.slice(0, 1);
  }

  function steerWaits(session: WatchedSession): boolean {
    return session.waiting.some(({ kind, hold }) => kind === 'steer' && !hold);
  }

  function leave(session: WatchedSession, inputId: string, state: 'taken' | 'removed' | 'dropped'): QueuedInput {
    const found = session.waiting.find(({ input_id }) => input_id === inputId);
    const known = inputs.get(inputId);
    need(found !== undefined && known?.state === 'waiting', `${inputId} is ${state} but it does not wait`);
    session.waiting = session.waiting.filter((input) => input !== found);
    known.state = state;
    return found;
  }

  function onQueueUpdate(session: WatchedSession, payload: EventPayload<'queue_update'>): void {
    const { op, input, order, dropped, paused } = payload;
    const was = session.paused;
    session.paused = paused;
    if (op === 'taken') {
      lookAgain(session);
      need(
        input !== undefined && session.run?.turn === undefined && session.boundary !== undefined,
        'an input is taken between two turns of a run',
      );
      need(!session.run!.aborting, 'an input is taken by a run that is being aborted');
      const found = session.waiting.find(({ input_id }) => input_id === input.input_id);
      need(isDeepStrictEqual(input, found), `${input.input_id} is taken as it was queued last`);
      session.boundary.taken.push(leave(session, input.input_id, 'taken'));
      return;
    }
    const between = session.boundary !== undefined && !session.compacting && session.run?.compacted !== true;
    need(!between || op === 'paused' || op === 'resumed', `the queue changes (${op}) in the middle of a boundary`);
    switch (op) {
      case 'added':
        need(input !== undefined && session.run !== undefined, 'an input is queued only while a run is in progress');
        need(!inputs.has(input.input_id), `${input.input_id} is accepted twice`);
        need(session.run.aborting === (input.for_run !== undefined), 'an input is for the run to come exactly if the run is being aborted');
        if (input.for_run !== undefined || session.run.turns === 0) need(!paused, 'an input that leads to a turn clears the pause');
        else need(paused === was, 'an input for the run in progress leaves the pause as it is');
        inputs.set(input.input_id, { sessionId: session.id, state: 'waiting', text: input.text, messages: 0, content: undefined });
        session.waiting = [...session.waiting, input];
        return;
      case 'edited':
      case 'held':
      case 'released': {
        const found = session.waiting.find(({ input_id }) => input_id === input?.input_id);
        need(input !== undefined && found !== undefined, 'only a waiting input changes');
        need(isDeepStrictEqual(input.images, found.images), 'images stay with their message');
        need(input.revision === found.revision || input.revision === found.revision + 1, 'a change makes one new revision');
        need(
          (op === 'held') === (input.hold && !found.hold) && (op === 'released') === (!input.hold && found.hold),
          `${op} is what happened`,
        );
        session.waiting = session.waiting.map((waiting) => (waiting === found ? input : waiting));
        inputs.get(input.input_id)!.text = input.text;
        break;
      }
      case 'moved': {
        const place = new Map(order?.map((id, index) => [id, index]));
        need(
          place.size === session.waiting.length && session.waiting.every(({ input_id }) => place.has(input_id)),
          'an order names exactly what waits',
        );
        session.waiting = session.waiting.toSorted((a, b) => place.get(a.input_id)! - place.get(b.input_id)!);
        break;
      }
      case 'removed':
        leave(session, input?.input_id ?? '', 'removed');
        break;
      case 'dropped':
        for (const gone of dropped ?? []) {
          const found = leave(session, gone.input_id, 'dropped');
          const { input_id, kind, text, images } = found;
          need(isDeepStrictEqual(gone, { input_id, kind, text, ...(images ? { images } : {}) }), 'what is dropped is told as it was');
        }
        break;
      case 'paused':
        need(paused && session.run !== undefined, 'a queue is paused by a run that ends or is aborted');
        return;
      case 'resumed':
        need(was && !paused && (!session.run || session.run.aborting || session.run.turns === 0), 'a queue is resumed when no run goes on');
        return;
    }
    need(paused === was, `${op} leaves the pause as it is`);
  }

  /** Inputs that came while a summary was made are due like those that were there before. */
  function lookAgain(session: WatchedSession): void {
    const { run, boundary } = session;
    if (!run?.compacted || !boundary || boundary.taken.length > 0) return;
    boundary.due = session.paused ? [] : dueAtBoundary(session, boundary.afterCalls);
  }

  function onAgentStart(session: WatchedSession, { run_id }: EventPayload<'agent_start'>): void {
    need(session.run === undefined, `${run_id} starts while another run is in progress`);
    need(!runs.has(run_id), `${run_id} starts twice`);
    need(!session.deleting, 'a run starts in a session that is being deleted');
    need(session.mustStart === undefined || session.mustStart === run_id, `${session.mustStart} was promised and ${run_id} starts`);
    runs.set(run_id, undefined);
    session.runs.push(run_id);
    const run: WatchedRun = {
      id: run_id,
      aborting: false,
      turns: 0,
      turn: undefined,
      message: undefined,
      result: undefined,
      onlyToSkip: undefined,
      compacted: false,
    };
    const promised = session.waiting.find(({ for_run, hold }) => session.mustStart !== undefined && for_run === session.mustStart && !hold);
    // The others that were accepted for this run wait in it like any input.
    session.waiting = session.waiting.map((input) => {
      const { for_run: begun, ...plain } = input;
      return begun === run_id && input !== promised ? plain : input;
    });
    session.boundary = {
      taken: [],
      due: promised ? [promised] : dueAtBoundary(session, false),
      afterCalls: false,
      run: undefined,
      oddSkips: [],
    };
    session.run = run;
  }

  function onTurnStart(session: WatchedSession, { turn_id, kind, input_ids }: EventPayload<'turn_start'>): void {
    const { run, boundary } = session;
    need(run !== undefined && !run.turn && boundary !== undefined, 'a turn starts between turns of a run');
    need(!run.aborting, 'no turn starts in a run that is being aborted');
    need(!session.paused, 'a run that has turns has its queue unpaused');
    need(turn_id === String(run.turns + 1), `turns are counted from 1: ${turn_id} after ${run.turns}`);
    const { taken, due } = boundary;
    const isFirst = run.turns === 0 && !run.compacted;
    run.compacted = false;
    const dueIds = due.map(({ input_id }) => input_id).join();
    const takenIds = taken.map(({ input_id }) => input_id).join();
    if (isFirst && taken.length === 0) {
      need(kind === 'prompt' && input_ids.length <= 1, 'the first turn of a run is its prompt');
      need(session.mustStart === undefined, 'the run that was promised starts with the input it was promised to');
    } else {
      need(takenIds === dueIds, `the boundary takes ${takenIds || 'nothing'} where ${dueIds || 'nothing'} is due`);
      need(taken.length > 0 || boundary.afterCalls, 'a turn has something to answer');
      const expected = session.mustStart !== undefined ? 'prompt' : (taken[0]?.kind ?? 'tool_results');
      need(kind === expected, `a turn that takes a ${expected} is of that kind, not ${kind}`);
      need(input_ids.join() === takenIds, 'a turn names what it took');
    }
    for (const id of boundary.oddSkips) need(false, `the call ${id} was skipped without a steer, or before the first call had its chance`);
    session.mustStart = undefined;
    session.boundary = undefined;
    run.turns++;
    for (const id of input_ids) {
      if (inputs.has(id)) continue;
      inputs.set(id, { sessionId: session.id, state: 'taken', text: undefined, messages: 0, content: undefined });
    }
    const users = input_ids.map((inputId) => ({ inputId, text: inputs.get(inputId)?.text }));
    run.turn = { id: turn_id, kind, users, responded: false, calls: new Map(), mustSkip: false, oddSkips: [] };
  }

  function onMessageStart(session: WatchedSession, { message_id, role, turn_id }: EventPayload<'message_start'>): void {
    const { run } = session;
    need(run?.turn?.id === turn_id, 'a message starts within a turn');
    need(run.message === undefined, `${message_id} starts while ${run.message?.id} is open`);
    if (role === 'user') need(run.turn.users.length > 0, 'a user message has an input');
    else need(run.turn.users.length === 0, 'the user messages of a turn come first');
    if (role === 'tool_result') need(run.result?.messageId === message_id, 'a tool result follows the end of its call');
    if (role === 'assistant') {
      need(!run.turn.responded, 'a turn has one response');
      need(!run.aborting, 'no response begins in a run that is being aborted');
    }
    run.message = { id: message_id, role };
  }

  function onMessageEnd(session: WatchedSession, payload: EventPayload<'message_end'>): void {
    const { run } = session;
    const { message_id, message, role, discarded } = payload;
    need(run?.turn !== undefined && run.message?.id === message_id && run.message.role === role, `${message_id} ends and is not open`);
    run.message = undefined;
    need((message === undefined) === (discarded === true), 'a message that ends is told whole or discarded');
    if (message) {
      need(message.id === message_id && !parents.has(message_id), `${message_id} is an entry once`);
      need(message.parent_id === session.leafId, `${message_id} hangs on the leaf`);
      parents.set(message_id, { parentId: message.parent_id, role });
      session.tree.add(message_id);
      session.leafId = message_id;
    }
    if (role === 'user') {
      const [user] = run.turn.users.splice(0, 1);
      need(message !== undefined && user !== undefined, 'a user message is never discarded');
      if (user.text !== undefined) need(message.text === user.text, `${user.inputId} runs with the text it was last given`);
      const input = inputs.get(user.inputId)!;
      input.text ??= message.text;
      input.messages++;
      input.content = message.content;
      need(input.messages === 1, `${user.inputId} became a message twice`);
    }
    if (role === 'tool_result') {
      run.result = undefined;
      const ended = run.turn.calls.get(message?.tool_call_id ?? '');
      const groupEnded = [...run.turn.calls.values()].every(({ group, state }) => group !== ended?.group || state === 'ended');
      if (!run.aborting && groupEnded && steerWaits(session)) run.turn.mustSkip = true;
    }
    if (role === 'assistant') {
      if (message) run.turn.responded = true;
      const calls = (message?.content ?? []).filter((block) => block.type === 'tool_call');
      need(new Set(calls.map(({ id }) => id)).size === calls.length, 'calls of a message have ids of their own');
      const isReadOnly = (index: number): boolean => readOnlyTools.includes(calls[index]?.name ?? '');
      let group = 0;
      for (const [index, { id }] of calls.entries()) {
        if (index > 0 && !(isReadOnly(index) && isReadOnly(index - 1))) group++;
        run.turn.calls.set(id, { first: index === 0, group, state: 'open', answered: false });
      }
    }
  }

  function onToolStart(session: WatchedSession, { tool_call_id }: EventPayload<'tool_execution_start'>): void {
    const run = session.run;
    const call = run?.turn?.calls.get(tool_call_id);
    need(run?.turn !== undefined && call?.state === 'open', `the call ${tool_call_id} starts once, in the turn that made it`);
    need(!run.message && !run.result, 'a call starts between messages');
    call.state = 'started';
    const key = `${run.id} ${run.turn.id} ${tool_call_id}`;
    callStarts.set(key, (callStarts.get(key) ?? 0) + 1);
    if (run.aborting || run.turn.mustSkip) run.onlyToSkip = tool_call_id;
  }

  function onToolEnd(session: WatchedSession, { tool_call_id, message_id, skipped }: EventPayload<'tool_execution_end'>): void {
    const run = session.run;
    const call = run?.turn?.calls.get(tool_call_id);
    need(run?.turn !== undefined && call?.state === 'started', `the call ${tool_call_id} ends once, after its start`);
    if (run.onlyToSkip !== undefined) {
      need(run.onlyToSkip === tool_call_id && skipped, `the call ${run.onlyToSkip} began although a steer waited or the run was aborted`);
      run.onlyToSkip = undefined;
    }
    if (skipped && !call.answered && (call.first || !steerWaits(session))) run.turn.oddSkips.push(tool_call_id);
    call.state = 'ended';
    run.result = { messageId: message_id };
  }

  function onTurnEnd(session: WatchedSession, { turn_id }: EventPayload<'turn_end'>): void {
    const { run } = session;
    need(run?.turn?.id === turn_id, `turn ${turn_id} ends and is not open`);
    need(!run.message && !run.result && run.turn.users.length === 0, 'a turn ends when its messages have ended');
    const open = [...run.turn.calls].filter(([, { state }]) => state !== 'ended').map(([id]) => id);
    need(open.length === 0, `a turn ends and the calls ${open.join()} have no result`);
    const afterCalls = run.turn.calls.size > 0;
    session.boundary = { taken: [], due: dueAtBoundary(session, afterCalls), afterCalls, run, oddSkips: run.turn.oddSkips };
    run.turn = undefined;
  }

  function onAgentEnd(session: WatchedSession, { run_id, outcome }: EventPayload<'agent_end'>): void {
    const { run, boundary } = session;
    need(run?.id === run_id && runs.get(run_id) === undefined, `${run_id} ends once, and while it is in progress`);
    lookAgain(session);
    need(run.turn === undefined && boundary?.taken.length === 0, 'a run ends after its last turn');
    need(!session.compacting, 'a run ends when its summary is made, or is not');
    need(run.aborting === (outcome === 'aborted'), `a run is aborted exactly if an abort was under way, not ${outcome}`);
    if (outcome === 'completed') {
      need(!boundary.afterCalls, 'a run that made tool calls hears of their results');
      need(boundary.due.length === 0, `a run ends while ${boundary.due.map(({ input_id }) => input_id).join()} waits`);
      need(!session.paused || run.turns === 0, 'a completed run pauses nothing');
      need(run.turns > 0 || run.compacted, 'a run without a turn made a summary, or tried to');
      for (const id of boundary.oddSkips) need(false, `the call ${id} was skipped for no reason`);
    }
    if (outcome === 'failed' || outcome === 'interrupted') need(session.paused, `a run that ${outcome} pauses its queue`);
    for (const { runId, open } of requests.values()) need(runId !== run_id || !open, 'a run ends and a question of it is still open');
    runs.set(run_id, outcome);
    if (run.turns > 0) session.lastRun = { id: run_id, outcome };
    session.run = undefined;
    session.boundary = undefined;
    const promised = session.waiting.find(({ for_run, hold }) => for_run !== undefined && !hold && !runs.has(for_run));
    if (!session.deleting) session.mustStart = promised?.for_run;
  }

  function onSessionUpdate(session: WatchedSession, payload: EventPayload<'session_update'>): void {
    const { created, parent_id, leaf_id, deleted, deleting, steering_mode, follow_up_mode } = payload;
    need(created === undefined || (session.tree.size === 0 && session.runs.length === 0), 'a session is made once');
    if (created && parent_id !== undefined && parent_id !== null) for (const id of pathOf(leaf_id ?? null)) session.tree.add(id);
    if (leaf_id !== undefined) {
      need(!session.run, 'the leaf is moved only between runs');
      need(leaf_id === null || session.tree.has(leaf_id), 'the leaf is in the tree');
      session.leafId = leaf_id;
    }
    session.steeringMode = steering_mode ?? session.steeringMode;
    session.followUpMode = follow_up_mode ?? session.followUpMode;
    session.deleting ||= deleting ?? false;
    if (deleted) {
      need(!session.run, 'a session is deleted when its run has ended');
      session.deleted = true;
      for (const [id, { session_id }] of rules) if (session_id === session.id) rules.delete(id);
    }
  }

  function onRuleUpdate(payload: EventPayload<'rule_update'>): void {
    const { op, permission_id } = payload;
    need(rules.has(permission_id) === (op === 'removed'), `rule ${permission_id} is added once and removed once`);
    if (op === 'removed') rules.delete(permission_id);
    else rules.set(permission_id, payload);
  }

  /** What is not of one session. */
  function applyToDaemon(event: LoggedEvent): void {
    need(
      ['rule_update', 'trust_update', 'config_update', 'tools_update', 'daemon_update'].includes(event.type),
      `a ${event.type} is of a session`,
    );
    if (event.type === 'rule_update') onRuleUpdate(event.payload);
  }

  function apply(session: WatchedSession, event: LoggedEvent): void {
    const { run } = session;
    if (run?.onlyToSkip !== undefined) need(event.type === 'tool_execution_end', 'a call that is skipped starts and ends in one commit');
    if (run?.result && event.type !== 'message_start' && event.type !== 'message_end') broken('a call’s end and its result are one commit');
    if (run?.turn && run.turn.users.length > 0) {
      need(event.type === 'message_start' || event.type === 'message_end', 'the user messages of a turn are in the commit of its start');
    }
    if (session.mustStart !== undefined && !session.run) {
      need(
        event.type === 'agent_start' || event.type === 'queue_update',
        'a run that was promised starts in the commit that ends the aborted one',
      );
    }
    switch (event.type) {
      case 'agent_start':
        return onAgentStart(session, event.payload);
      case 'agent_end':
        return onAgentEnd(session, event.payload);
      case 'turn_start':
        return onTurnStart(session, event.payload);
      case 'turn_end':
        return onTurnEnd(session, event.payload);
      case 'message_start':
        return onMessageStart(session, event.payload);
      case 'message_end':
        return onMessageEnd(session, event.payload);
      case 'tool_execution_start':
        return onToolStart(session, event.payload);
      case 'tool_execution_end':
        return onToolEnd(session, event.payload);
      case 'queue_update':
        return onQueueUpdate(session, event.payload);
      case 'session_update':
        return onSessionUpdate(session, event.payload);
      case 'status':
        if (event.payload.run_state !== 'aborting') return;
        need(run !== undefined && !run.aborting, 'a run begins to be aborted once');
        run.aborting = true;
        return;
      case 'ui_request': {
        const { request_id, run_id, tool_call_id } = event.payload;
        need(run?.id === run_id && !run.aborting, 'a question is put by a run in progress');
        need(!requests.has(request_id), `${request_id} is asked once`);
        need(run.turn?.calls.get(tool_call_id)?.state !== 'ended', 'a question is put for an open call');
        requests.set(request_id, { sessionId: session.id, runId: run_id, callId: tool_call_id, open: true, payload: event.payload });
        return;
      }
      case 'ui_resolved': {
        const request = requests.get(event.payload.request_id);
        need(request?.open === true, `${event.payload.request_id} is resolved once`);
        request.open = false;
        const call = run?.turn?.calls.get(request.callId);
        if (event.payload.by === 'steer') {
          need(
            run?.turn !== undefined && call?.state === 'open' && steerWaits(session),
            'a steer resolves the approval of a call that waits',
          );
          run.turn.mustSkip = true;
        } else if (call) call.answered = true;
        return;
      }
      case 'compaction_start':
        need(run !== undefined && !run.aborting && !session.compacting, 'a summary is asked for once, by a run in progress');
        session.compacting = true;
        return;
      case 'compaction_end': {
        need(run !== undefined && session.compacting, 'a summary ends once, after it was asked for');
        session.compacting = false;
        run.compacted = true;
        const { message, error } = event.payload;
        need((message === undefined) === (error !== undefined), 'a summary is there, or there is a reason');
        if (!message) return;
        need(!run.aborting && !run.message && run.turn?.responded !== true, 'a summary is made between two turns');
        need(message.parent_id === session.leafId && !parents.has(message.id), 'a summary hangs on the leaf');
        need(pathOf(session.leafId).includes(event.payload.first_kept_entry_id ?? ''), 'a summary keeps what is on the path');
        parents.set(message.id, { parentId: message.parent_id, role: 'compaction' });
        session.tree.add(message.id);
        session.leafId = message.id;
        return;
      }
      case 'rule_update':
        need(event.payload.workspace === null, 'a rule of a session is not one of a workspace');
        return onRuleUpdate(event.payload);
      case 'trust_update':
      case 'config_update':
      case 'tools_update':
      case 'daemon_update':
        return broken(`a ${event.type} is not of one session`);
      case 'usage_update':
      case 'warning':
      case 'error':
      case 'ui_notify':
        return;
    }
  }

  return {
    sessions,
    inputs,
    /** Every run that began, with its outcome once it has one. */
    runs,
    requests,
    rules,
    /** How often each call began, by run, turn and call. */
    callStarts,
    parents,
    pathOf,
    seq: (): number => seq,
    feed(event: LoggedEvent): void {
      recent.push(event);
      if (recent.length > 200) recent.splice(0, 100);
      need(event.seq > seq, `seq ${event.seq} after ${seq}`);
      seq = event.seq;
      if (event.payload.session_id === '') return applyToDaemon(event);
      const session = sessionOf(event.payload.session_id);
      need(!session.deleted, 'nothing is said of a session after it was deleted');
      apply(session, event);
    },
    /** For who missed the last events of a session before it was deleted: the deletion stands for all of them. */
    forgetRun(sessionId: string): void {
      const session = sessionOf(sessionId);
      if (session.run) runs.set(session.run.id, 'aborted');
      for (const request of requests.values()) if (request.sessionId === sessionId) request.open = false;
      session.run = undefined;
      session.boundary = undefined;
      session.mustStart = undefined;
    },
    /** What may never be seen from outside: a commit that stops halfway through what belongs together. */
    checkWhole(sessionId: string): void {
      const session = sessionOf(sessionId);
      const { run } = session;
      const compacts = session.compacting || run?.compacted === true;
      need(session.boundary === undefined || compacts, 'a commit ends between two turns');
      need(session.mustStart === undefined, 'a commit ends an aborted run and leaves the one it promised for later');
      need(!run || run.turn !== undefined || compacts, 'a commit starts a run without its turn');
      need(!run?.turn || run.turn.users.length === 0, 'a commit starts a turn without its messages');
      need(!run?.result && run?.onlyToSkip === undefined, 'a commit ends a call without its result');
      need(!run?.message || run.message.role === 'assistant', 'a commit leaves a message open that nobody is saying');
      if (!run && !session.paused && !session.deleted) {
        const waits = session.waiting.filter(({ hold }) => !hold).map(({ input_id }) => input_id);
        need(waits.length === 0, `${waits.join()} waits in an idle session, neither held nor paused`);
      }
    },
  };
}
