import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CommandInput, CommandType } from '../../src/protocol/commands/commands.js';
import type { WatchedSession } from '../support/log-monitor.js';
import { ownPhrases } from './own-script.js';
import { anyPictures, checkPictures, hasImages, withPictures } from './pictures.js';
import { Died, type World, type WorldReply } from './world.js';

/** What is said to the model: between them these make it stream, think, call, ask and fail. */
const anyText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('say ahoy', 'stream 20 words') },
  { weight: 4, arbitrary: fc.constantFrom('call 3 tools', 'call 4 tools', 'echo one two three for 2 seconds', 'clock', 'call nonsense') },
  { weight: 4, arbitrary: fc.constantFrom('ask me', 'echo hi with approval', ...ownPhrases) },
  { weight: 1, arbitrary: fc.constantFrom('fail', 'fail early', 'fail late', 'think', '   ') },
);
const pick = fc.nat({ max: 30 });
const queueMode = fc.constantFrom('one-at-a-time' as const, 'all' as const);
/** Whether an input has a new id, none, or repeats one that was sent before, as it was or with another text. */
const identity = fc.oneof(
  { weight: 6, arbitrary: fc.constant('fresh' as const) },
  { weight: 2, arbitrary: fc.constant('anonymous' as const) },
  { weight: 2, arbitrary: fc.constant('retry' as const) },
  { weight: 1, arbitrary: fc.constant('conflict' as const) },
);

const does = {
  new: fc.record({ do: fc.constant('new' as const), oneOff: fc.boolean() }),
  prompt: fc.record({
    do: fc.constant('prompt' as const),
    text: anyText,
    pictures: anyPictures,
    identity,
    pick,
    ifBusy: fc.constantFrom('reject' as const, 'steer' as const, 'follow_up' as const),
    leaf: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: pick }),
  }),
  queue: fc.record({
    do: fc.constantFrom('steer' as const, 'follow_up' as const),
    text: anyText,
    pictures: anyPictures,
    identity,
    pick,
    ifIdle: fc.constantFrom('reject' as const, 'prompt' as const),
  }),
  abort: fc.record({ do: fc.constant('abort' as const), keep: fc.boolean() }),
  update: fc.record({
    do: fc.constant('update' as const),
    pick,
    stale: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    text: fc.option(anyText, { nil: undefined }),
    kind: fc.option(fc.constantFrom('steer' as const, 'follow_up' as const), { nil: undefined }),
    position: fc.option(fc.nat({ max: 4 }), { nil: undefined }),
    hold: fc.option(fc.boolean(), { nil: undefined, freq: 3 }),
  }),
  remove: fc.record({ do: fc.constant('remove' as const), pick }),
  clear: fc.record({ do: fc.constant('clear' as const) }),
  resumeQueue: fc.record({ do: fc.constant('resume_queue' as const) }),
  resumeRun: fc.record({
    do: fc.constant('resume_run' as const),
    action: fc.constantFrom('retry' as const, 'continue' as const, 'abandon' as const),
    which: fc.oneof({ weight: 6, arbitrary: fc.constant('last' as const) }, { weight: 1, arbitrary: fc.constant('any' as const) }),
    pick,
  }),
  setLeaf: fc.record({ do: fc.constant('set_leaf' as const), pick, foreign: fc.integer({ min: 0, max: 7 }).map((n) => n === 0) }),
  branch: fc.record({ do: fc.constant('branch' as const), pick, atLeaf: fc.boolean() }),
  delete: fc.record({ do: fc.constant('delete' as const) }),
  mode: fc.record({ do: fc.constant('mode' as const), of: fc.constantFrom('steering' as const, 'follow_up' as const), mode: queueMode }),
  settings: fc.record({
    do: fc.constant('settings' as const),
    change: fc.constantFrom(
      { recovery: 'continue' as const },
      { recovery: 'pause' as const },
      { approval_mode: 'full' as const },
      { approval_mode: 'ask' as const },
      { when_detached: 'deny' as const },
      { when_detached: 'wait' as const },
    ),
  }),
  rule: fc.record({
    do: fc.constant('rule' as const),
    scope: fc.constantFrom('session' as const, 'workspace' as const, 'everywhere' as const),
    command: fc.constantFrom('git status', 'git log'),
  }),
  removeRule: fc.record({ do: fc.constant('remove_rule' as const), pick }),
  draft: fc.record({
    do: fc.constant('draft' as const),
    of: fc.constantFrom('dra_1', 'dra_2'),
    text: fc.constantFrom('', 'half', 'half a thought'),
  }),
  compact: fc.record({ do: fc.constant('compact' as const) }),
  tools: fc.record({ do: fc.constant('tools' as const), tools: fc.subarray(['clock', 'echo', 'ask_user', 'peek']) }),
  wait: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(300, 31_000) }),
  attended: fc.record({ do: fc.constant('attended' as const), attended: fc.boolean() }),
  answer: fc.record({
    do: fc.constant('answer' as const),
    pick,
    how: fc.constantFrom(
      'valid' as const,
      'valid' as const,
      'valid' as const,
      'invalid' as const,
      'cancel' as const,
      'error' as const,
      'deny' as const,
      'reason' as const,
    ),
    choice: pick,
    twice: fc.boolean(),
  }),
  attach: fc.record({ do: fc.constant('attach' as const) }),
  read: fc.record({ do: fc.constant('read' as const), eagerness: fc.constantFrom(0.3, 0.7, 1) }),
  rest: fc.record({ do: fc.constant('rest' as const) }),
  crash: fc.record({ do: fc.constant('crash' as const) }),
  stop: fc.record({ do: fc.constant('stop' as const) }),
  fuse: fc.record({
    do: fc.constant('fuse' as const),
    point: fc.constantFrom('commit.inside', 'commit.done', 'message.begun', 'message.ending', 'tool.started', 'tool.ending'),
    n: fc.integer({ min: 1, max: 4 }),
  }),
};

const anyDeed = fc.oneof(
  { weight: 1, arbitrary: does.new },
  { weight: 10, arbitrary: does.prompt },
  { weight: 24, arbitrary: does.queue },
  { weight: 4, arbitrary: does.abort },
  { weight: 8, arbitrary: does.update },
  { weight: 3, arbitrary: does.remove },
  { weight: 1, arbitrary: does.clear },
  { weight: 3, arbitrary: does.resumeQueue },
  { weight: 4, arbitrary: does.resumeRun },
  { weight: 3, arbitrary: does.setLeaf },
  { weight: 2, arbitrary: does.branch },
  { weight: 1, arbitrary: does.delete },
  { weight: 2, arbitrary: does.mode },
  { weight: 2, arbitrary: does.settings },
  { weight: 2, arbitrary: does.rule },
  { weight: 1, arbitrary: does.removeRule },
  { weight: 2, arbitrary: does.draft },
  { weight: 4, arbitrary: does.compact },
  { weight: 1, arbitrary: does.tools },
  { weight: 3, arbitrary: does.wait },
  { weight: 1, arbitrary: does.attended },
  { weight: 10, arbitrary: does.answer },
  { weight: 2, arbitrary: does.attach },
  { weight: 1, arbitrary: does.read },
  { weight: 4, arbitrary: does.rest },
  { weight: 1, arbitrary: does.crash },
  { weight: 1, arbitrary: does.stop },
  { weight: 2, arbitrary: does.fuse },
);

/** One thing that is done, after so many turns of the event loop, in one of the sessions there are. */
export const anyStep = fc.record({
  turns: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 5, arbitrary: fc.integer({ min: 1, max: 4 }) },
    { weight: 2, arbitrary: fc.integer({ min: 5, max: 30 }) },
  ),
  session: pick,
  deed: anyDeed,
});
export type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;
type Deed = Step['deed'];
type DeedOf<D extends Deed['do']> = Extract<Deed, { do: D }>;

type InputCommand = 'prompt' | 'steer' | 'follow_up';
type InputPayload = CommandInput<'prompt'> & CommandInput<'steer'> & { session_id: string; input_id?: string };

interface SentInput {
  command: InputCommand;
  payload: InputPayload;
  /** What it was acknowledged with. */
  ack: { runId: string; seq: number; inputId: string } | undefined;
}

/** What the person at the keys remembers of one sequence. */
export function createMemory() {
  return { sent: [] as SentInput[], count: 0, drafts: new Map<string, Map<string, string>>() };
}
type Memory = ReturnType<typeof createMemory>;

/** A prediction: accepted, or refused with this word or code. */
type Verdict = 'ok' | (string & {});

export async function doStep(world: World, memory: Memory, { turns, session: sessionPick, deed }: Step): Promise<void> {
  await world.pass(turns);
  try {
    await doDeed(world, memory, sessionPick, deed);
  } catch (error) {
    if (!(error instanceof Died)) throw error;
    await world.restart();
  }
  if (world.isDead()) await world.restart();
  world.sync();
}

async function doDeed(world: World, memory: Memory, sessionPick: number, deed: Deed): Promise<void> {
  const session = chooseSession(world, sessionPick);
  switch (deed.do) {
    case 'new':
      expectReply(world.send('new_session', { one_off: deed.oneOff }), 'ok', deed);
      return;
    case 'prompt':
    case 'steer':
    case 'follow_up':
      sendInput(world, memory, session, deed);
      return;
    case 'abort': {
      const { run, deleting, waiting } = session;
      const isFirst = run?.aborting === false;
      // A queue that was paused before a summary was asked for is left alone by its abort.
      const apart = session.paused && run?.turns === 0;
      const reply = world.send('abort', { session_id: session.id, keep_queue: deed.keep });
      expectReply(reply, deleting ? 'session_not_found' : run ? 'ok' : 'no_active_run', deed);
      if (!reply.ok) return;
      assert.equal(reply.payload.run_id, run?.id, 'abort names the run it stops');
      world.sync();
      const kept = deed.keep || !isFirst || apart ? waiting : [];
      assert.deepEqual(session.waiting, kept, 'the first commit of an abort drops the queue, unless it is to be kept');
      if (isFirst) assert.equal(session.paused, deed.keep || apart, 'a queue that is kept is paused');
      return;
    }
    case 'update':
      updateQueued(world, session, deed);
      return;
    case 'remove': {
      const input = chooseInput(world, session, deed.pick);
      if (!input) return;
      const waits = session.waiting.some(({ input_id }) => input_id === input);
      expectReply(world.send('remove_queued', { session_id: session.id, input_id: input }), waits ? 'ok' : 'not_waiting', deed);
      return;
    }
    case 'clear': {
      const reply = world.send('clear_queue', { session_id: session.id });
      expectReply(reply, session.deleting ? 'session_not_found' : 'ok', deed);
      if (reply.ok) assert.equal(reply.payload.count, session.waiting.length, 'clear_queue counts what it took out');
      return;
    }
    case 'resume_queue': {
      const idle = session.run === undefined;
      const ready = session.waiting.some(({ hold }) => !hold);
      const reply = world.send('resume_queue', { session_id: session.id });
      expectReply(reply, session.deleting ? 'session_not_found' : 'ok', deed);
      if (reply.ok) checkStarted(world, session.id, reply.payload.run_id, idle && !ready ? 'none' : 'run');
      return;
    }
    case 'resume_run':
      resumeRun(world, session, deed);
      return;
    case 'set_leaf': {
      const leafId = chooseEntry(world, session, deed.pick, deed.foreign);
      if (leafId === undefined) return;
      const reply = world.send('set_leaf', { session_id: session.id, leaf_id: leafId });
      const verdict = !session.tree.has(leafId) ? 'leaf_not_found' : session.run ? 'run_in_progress' : 'ok';
      expectReply(reply, session.deleting ? 'session_not_found' : verdict, deed);
      return;
    }
    case 'branch': {
      const leafId = deed.atLeaf ? undefined : chooseEntry(world, session, deed.pick, false);
      const reply = world.send('branch_session', { session_id: session.id, ...(leafId === undefined ? {} : { leaf_id: leafId }) });
      expectReply(reply, session.deleting ? 'session_not_found' : 'ok', deed);
      if (!reply.ok) return;
      world.sync();
      const made = world.monitor.sessions.get(reply.payload.session_id);
      assert.equal(made?.leafId, leafId ?? session.leafId, 'a branch begins at the leaf, or where it was told to');
      return;
    }
    case 'delete':
      expectReply(world.send('delete_session', { session_id: session.id }), 'ok', deed);
      return;
    case 'mode': {
      const type = deed.of === 'steering' ? 'set_steering_mode' : 'set_follow_up_mode';
      expectReply(world.send(type, { session_id: session.id, mode: deed.mode }), session.deleting ? 'session_not_found' : 'ok', deed);
      return;
    }
    case 'settings': {
      const reply = world.send('update_session', { session_id: session.id, ...deed.change });
      expectReply(reply, session.deleting ? 'session_not_found' : 'ok', deed);
      return;
    }
    case 'tools': {
      const reply = world.send('set_active_tools', { session_id: session.id, tools: deed.tools });
      expectReply(reply, session.deleting ? 'session_not_found' : 'ok', deed);
      return;
    }
    case 'rule': {
      const rule = { tool: 'bash', command: deed.command, action: 'allow' as const };
      const reply = world.send('add_permission', { session_id: session.id, scope: deed.scope, rule });
      expectReply(reply, session.deleting ? 'session_not_found' : 'ok', deed);
      if (!reply.ok) return;
      world.sync();
      assert(world.monitor.rules.has(reply.payload.permission_id), 'a rule that was accepted is in the log');
      return;
    }
    case 'remove_rule': {
      const ids = [...world.monitor.rules.keys()];
      const permission_id = ids[deed.pick % (ids.length + 1)] ?? '0';
      expectReply(world.send('remove_permission', { permission_id }), permission_id === '0' ? 'invalid_payload' : 'ok', deed);
      world.sync();
      assert(!world.monitor.rules.has(permission_id), 'a rule that was removed is not in the log any more');
      return;
    }
    case 'draft':
      writeDraft(world, memory, session, deed);
      return;
    case 'compact': {
      const reply = world.send('compact_session', { session_id: session.id });
      const verdicts = session.run?.aborting ? ['aborted', 'nothing_to_compact'] : ['ok', 'nothing_to_compact'];
      expectReply(reply, session.deleting ? 'session_not_found' : verdicts, deed);
      if (!reply.ok) return;
      world.sync();
      assert(session.compacting && session.run, 'a summary that was accepted is under way');
      return;
    }
    case 'wait':
      return world.wait(deed.ms);
    case 'attended':
      world.setAttended(deed.attended);
      return;
    case 'answer':
      answer(world, deed);
      return;
    case 'attach':
      if (!session.deleting) world.addOnlooker(session.id);
      return;
    case 'read':
      if (!session.deleting) world.readSlowly(session.id, deed.eagerness);
      return;
    case 'rest':
      return world.checkAtRest();
    case 'crash':
      return world.crash();
    case 'stop':
      return world.stopAndStart();
    case 'fuse':
      world.setFuse(deed.point, deed.n);
      return;
  }
}

/** Most of the time the sessions are few, so that things meet. */
function chooseSession(world: World, sessionPick: number): WatchedSession {
  const living = [...world.monitor.sessions.values()].filter(({ deleted }) => !deleted);
  if (living.length === 0) {
    expectReply(world.send('new_session', {}), 'ok', { do: 'new', oneOff: false });
    world.sync();
    return chooseSession(world, sessionPick);
  }
  return living[Math.max(0, (sessionPick % 6) - 3) % living.length]!;
}

function chooseInput(world: World, session: WatchedSession, index: number): string | undefined {
  const { waiting } = session;
  // Now and then one that has left the queue.
  if (waiting.length > 0 && index % 6 !== 5) return waiting[index % waiting.length]?.input_id;
  const known = [...world.monitor.inputs].filter(([, { sessionId }]) => sessionId === session.id).map(([id]) => id);
  return known[index % known.length];
}

function chooseEntry(world: World, session: WatchedSession, index: number, foreign: boolean): string | undefined {
  const among = foreign ? [...world.monitor.parents.keys()] : [...session.tree];
  return among[index % among.length];
}

/** What was acknowledged of the drafts of a session is there, newest first, whatever happened since. */
function writeDraft(world: World, memory: Memory, { id: session_id, deleting }: WatchedSession, deed: DeedOf<'draft'>): void {
  const listed = world.send('list_drafts', { session_id });
  expectReply(listed, deleting ? 'session_not_found' : 'ok', deed);
  if (!listed.ok) return;
  const drafts = memory.drafts.get(session_id) ?? new Map<string, string>();
  memory.drafts.set(session_id, drafts);
  assert.deepEqual(
    listed.payload.drafts.map(({ draft_id, text }) => [draft_id, text]),
    [...drafts].reverse(),
    'a draft that was acknowledged is never lost',
  );
  expectReply(world.send('set_draft', { session_id, draft_id: deed.of, text: deed.text }), 'ok', deed);
  drafts.delete(deed.of);
  if (deed.text !== '') drafts.set(deed.of, deed.text);
}

function sendInput(world: World, memory: Memory, session: WatchedSession, deed: DeedOf<'prompt'> | DeedOf<'steer' | 'follow_up'>): void {
  const again = memory.sent[deed.pick % Math.max(1, memory.sent.length)];
  if ((deed.identity === 'retry' || deed.identity === 'conflict') && again) {
    return sendAgain(world, again, deed.identity === 'conflict');
  }
  const payload: InputPayload = { session_id: session.id, ...withPictures(deed.text, deed.pictures) };
  if (deed.identity !== 'anonymous') payload.input_id = `i${++memory.count}`;
  if (deed.do === 'prompt') {
    payload.wait = false;
    payload.if_busy = deed.ifBusy;
    const leafId = deed.leaf === undefined ? undefined : chooseEntry(world, session, deed.leaf, deed.leaf % 5 === 4);
    if (leafId !== undefined) payload.leaf_id = leafId;
  } else payload.if_idle = deed.ifIdle;
  const sent: SentInput = { command: deed.do, payload, ack: undefined };
  if (payload.input_id !== undefined) memory.sent.push(sent);
  submit(world, sent);
}

function sendAgain(world: World, sent: SentInput, changed: boolean): void {
  if (!changed) return submit(world, sent);
  const { text, content } = sent.payload;
  // The text beside content that has words is not sent: another one is no other input.
  const change = content ? { content: [...content, { type: 'text' as const, text: '!' }] } : { text: `${text}!` };
  const other = { ...sent, payload: { ...sent.payload, ...change } };
  const known = world.monitor.inputs.has(sent.payload.input_id ?? '');
  if (!known || gone(world, sent.payload.session_id)) return;
  expectReply(world.send(sent.command, other.payload), 'input_conflict', other.payload);
}

function gone(world: World, sessionId: string): boolean {
  const session = world.monitor.sessions.get(sessionId);
  return !session || session.deleted || session.deleting;
}

/** Sends an input, says beforehand what must become of it, and looks whether it did. */
function submit(world: World, sent: SentInput): void {
  const { command, payload } = sent;
  const session = world.monitor.sessions.get(payload.session_id)!;
  const verdict = judgeInput(world, sent, session);
  const wasAborting = session.run?.aborting === true;
  const known = payload.input_id !== undefined && world.monitor.inputs.has(payload.input_id);
  const reply = world.send(command, payload);
  expectReply(reply, verdict, { command, ...payload });
  if (!reply.ok) return;
  const ack = { runId: reply.payload.run_id, seq: reply.seq, inputId: reply.payload.input_id };
  if (sent.ack) assert.deepEqual(ack, sent.ack, 'a retry is answered the same');
  sent.ack = ack;
  world.sync();
  if (known) return;
  const input = world.monitor.inputs.get(ack.inputId);
  assert.equal(input?.sessionId, session.id, 'an acknowledged input is in its session');
  if (input.state === 'waiting') {
    const queued = session.waiting.find(({ input_id }) => input_id === ack.inputId);
    const to = wasAborting ? queued?.for_run : session.run?.id;
    assert.equal(ack.runId, to, 'a queued input is acknowledged with the run it is for');
  } else {
    assert.equal(input.messages, 1, 'an input that starts a run is its first message');
    assert.equal(session.run?.id, ack.runId, 'the run that was acknowledged is in progress');
  }
  assert(ack.seq <= world.monitor.seq(), 'a reply is true at its seq');
}

/** Of several reasons to refuse, any may be told. An input that was acknowledged before is accepted whatever has changed since. */
function judgeInput(world: World, { command, payload }: SentInput, session: WatchedSession): Verdict[] {
  if (session.deleted || session.deleting) return ['session_not_found', 'leaf_not_found', 'run_in_progress'];
  if (payload.input_id !== undefined && world.monitor.inputs.has(payload.input_id)) return ['ok'];
  const { run } = session;
  const aborting = run?.aborting === true;
  const reasons: Verdict[] = [];
  if (payload.text.trim() === '' && !hasImages(payload)) reasons.push('empty_prompt');
  if (payload.leaf_id !== undefined && !session.tree.has(payload.leaf_id)) reasons.push('leaf_not_found');
  if (command === 'prompt') {
    if (run && (aborting || payload.if_busy === 'reject' || payload.leaf_id !== undefined)) reasons.push('run_in_progress');
  } else if ((!run || aborting) && payload.if_idle === 'reject') reasons.push('no_active_run');
  return reasons.length > 0 ? reasons : ['ok'];
}

function updateQueued(world: World, session: WatchedSession, deed: DeedOf<'update'>): void {
  const inputId = chooseInput(world, session, deed.pick);
  if (inputId === undefined) return;
  const input = session.waiting.find(({ input_id }) => input_id === inputId);
  const revision = (input?.revision ?? 1) + (deed.stale ? 1 : 0);
  const { text, kind, position, hold } = deed;
  const payload = { session_id: session.id, input_id: inputId, revision, text, kind, position, hold };
  const verdict = !input
    ? 'not_waiting'
    : deed.stale
      ? 'revision_conflict'
      : (text ?? input.text).trim() === '' && !input.images
        ? 'empty_prompt'
        : 'ok';
  const others = session.waiting.filter(({ input_id }) => input_id !== inputId).map(({ input_id }) => input_id);
  const wasIdle = session.run === undefined && !session.paused;
  const reply = world.send('update_queued', payload);
  expectReply(reply, verdict, payload);
  if (!reply.ok || !input) return;
  world.sync();
  const after = session.waiting.find(({ input_id }) => input_id === inputId);
  if (!after) return assert(wasIdle, 'an input that was changed waits, unless it could start a run');
  const expected = { text: text ?? input.text, kind: kind ?? input.kind, hold: hold ?? input.hold };
  assert.deepEqual({ text: after.text, kind: after.kind, hold: after.hold }, expected, 'an update changes what it names');
  const changed = expected.text !== input.text || expected.kind !== input.kind || expected.hold !== input.hold;
  assert.equal(after.revision, input.revision + (changed ? 1 : 0), 'a change is one revision');
  assert.equal(reply.payload.revision, after.revision, 'the reply tells the revision');
  if (position === undefined) return;
  const order = [...others.slice(0, position), inputId, ...others.slice(position)];
  assert.deepEqual(
    session.waiting.map(({ input_id }) => input_id),
    order,
    'a moved input stands where it was put',
  );
}

function resumeRun(world: World, session: WatchedSession, deed: DeedOf<'resume_run'>): void {
  const { run, lastRun, waiting } = session;
  const runId = deed.which === 'last' ? lastRun?.id : session.runs[deed.pick % Math.max(1, session.runs.length)];
  if (runId === undefined) return;
  const leafBefore = session.leafId;
  const lastUser = world.monitor.pathOf(leafBefore).findLast((id) => world.monitor.parents.get(id)?.role === 'user');
  const ready = waiting.some(({ hold }) => !hold);
  const reply = world.send('resume_run', { run_id: runId, action: deed.action });
  const resumable =
    deed.action === 'abandon' || (lastUser !== undefined && !(deed.action === 'continue' && lastRun?.outcome === 'completed'));
  expectReply(reply, run ? 'run_in_progress' : runId !== lastRun?.id || !resumable ? 'run_not_found' : 'ok', deed);
  if (!reply.ok) return;
  checkStarted(world, session.id, reply.payload.run_id, deed.action === 'abandon' && !ready ? 'none' : 'run');
  assert(!session.paused, 'a resumed session is not paused');
  if (deed.action === 'retry') {
    const after = world.monitor.parents.get(session.leafId ?? '');
    const point = after?.role === 'compaction' ? after.parentId : session.leafId;
    assert(world.monitor.pathOf(point).includes(lastUser ?? ''), 'a retry begins at the last user message, or the summary right after it');
  }
  if (deed.action === 'continue') assert.equal(session.leafId, leafBefore, 'what there is stays when a run continues');
}

function checkStarted(world: World, sessionId: string, runId: string, expected: 'none' | 'run'): void {
  world.sync();
  const session = world.monitor.sessions.get(sessionId);
  assert.equal(session?.run?.id ?? '', runId, 'the run that a reply names is the one in progress');
  assert.equal(runId === '' ? 'none' : 'run', expected, 'a run starts exactly if there is something to run');
}

const valid = {
  select: (choice: number, options: string[]) => options[choice % options.length] ?? null,
  confirm: (choice: number) => choice % 2 === 0,
  input: (choice: number) => (choice % 3 === 0 ? null : `name ${choice}`),
  editor: (choice: number) => (choice % 3 === 0 ? null : `line ${choice}`),
};
/** The types of the client let nobody say these. */
const wrong = { select: 'nowhere', confirm: 'perhaps', input: 7 as unknown as string, editor: false };

function answer(world: World, deed: DeedOf<'answer'>): void {
  const all = [...world.monitor.requests];
  const open = all.filter(([, request]) => request.open);
  // Now and then one that was answered long ago.
  const among = open.length > 0 && deed.pick % 8 !== 7 ? open : all;
  const [requestId, request] = among[deed.pick % Math.max(1, among.length)] ?? [];
  if (requestId === undefined || request === undefined) return;
  const { method, params } = request.payload;
  const options = 'options' in params ? params.options.map(({ value }) => value) : [];
  const isApproval = params.kind === 'approval';
  const result =
    deed.how === 'invalid'
      ? wrong[method]
      : deed.how === 'deny' && isApproval
        ? 'deny'
        : deed.how === 'reason' && isApproval
          ? ({ value: 'deny', reason: 'not now' } as const)
          : valid[method](deed.choice, options);
  const payload = {
    request_id: requestId,
    ...(deed.how === 'cancel' ? { cancelled: true } : deed.how === 'error' ? { error: 'the window broke' } : { result }),
  };
  const verdict = !request.open ? 'already_resolved' : deed.how === 'invalid' ? 'invalid_payload' : 'ok';
  const sessionGone = world.monitor.sessions.get(request.sessionId)?.deleted === true;
  const reply = world.send('ui_response', payload);
  if (sessionGone) assert(!reply.ok, 'a question of a deleted session is not answered');
  else expectReply(reply, verdict, payload);
  if (!reply.ok || !deed.twice) return;
  expectReply(world.send('ui_response', payload), 'already_resolved', payload);
}

function expectReply<T extends CommandType>(reply: WorldReply<T>, verdict: Verdict | Verdict[], asked: object): void {
  const said = reply.ok ? 'ok' : reply.error.code === 'command_rejected' ? reply.error.message : reply.error.code;
  const expected = Array.isArray(verdict) ? verdict : [verdict];
  assert(
    expected.includes(said),
    `${JSON.stringify(asked)} is answered ${JSON.stringify(reply).slice(0, 300)}, not ${expected.join(' or ')}`,
  );
}

/** Of every input that was acknowledged: it waits, was run once, was removed or was dropped. */
export function checkInputs(world: World, memory: Memory): void {
  for (const { ack, payload } of memory.sent) {
    if (!ack || world.monitor.sessions.get(payload.session_id)?.deleted) continue;
    const input = world.monitor.inputs.get(ack.inputId);
    assert(input, `${ack.inputId} was acknowledged and is gone`);
    assert.equal(input.messages, input.state === 'taken' ? 1 : 0, `${ack.inputId} is ${input.state} and was run ${input.messages} times`);
    checkPictures(input, payload);
    const waits = world
      .store()
      .inputs.waiting(input.sessionId)
      .some(({ input_id }) => input_id === ack.inputId);
    assert.equal(waits, input.state === 'waiting', `${ack.inputId} is ${input.state}`);
    const { runs } = world.monitor;
    const promised = runs.has(ack.runId) || input.state !== 'taken';
    assert(promised, `${ack.inputId} was acknowledged with ${ack.runId}, which never began`);
  }
}
