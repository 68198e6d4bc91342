import assert from 'node:assert/strict';
import type { Berth, CommandInput, CommandType } from '../../src/client/index.js';
import { openEventStream, type EventStream } from '../../src/client/event-client.js';
import { viewOf } from '../../src/view/session-view.js';
import { createUnixTransport } from '../../src/client/unix-transport.js';
import { emptySession, evolve, type SessionState } from '../../src/core/session.js';
import type { DurableEvent } from '../../src/protocol/events.js';
import type { TestDaemon } from '../support/daemon.js';
import { createLogMonitor, type WatchedSession } from '../support/log-monitor.js';
import { same } from './agree.js';
import { createOnlooker, type Onlooker } from './onlooker.js';
import { checkPictures, type InputContent } from './pictures.js';

interface SentInput {
  command: 'prompt' | 'steer' | 'follow_up';
  payload: { session_id: string; input_id: string; text: string; content?: InputContent };
  /** What it was acknowledged with. */
  ack: { runId: string; seq: number } | undefined;
}

/** A real daemon with its log read along, several controllers, and onlookers who come and go. */
export async function createScene(daemon: TestDaemon, controllers: number) {
  const monitor = createLogMonitor();
  const folded = new Map<string, SessionState>();
  const lastSeqs = new Map<string, number>();
  const sent: SentInput[] = [];
  const onlookers: Onlooker[] = [];
  const berths: Berth[] = [];
  let log: EventStream | undefined;
  let wake: (() => void)[] = [];
  let failure: unknown;
  let count = 0;

  function wakeAll(): void {
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  }

  async function until(holds: () => boolean): Promise<void> {
    while (failure === undefined && !holds()) await new Promise<void>((resolve) => wake.push(resolve));
    if (failure !== undefined) throw failure as Error;
  }

  function hear(event: DurableEvent): void {
    const { session_id } = event.payload;
    monitor.feed(event);
    lastSeqs.set(session_id, event.seq);
    folded.set(session_id, evolve(folded.get(session_id) ?? emptySession(session_id), event));
  }

  /** What was missed while nobody listened. Of sessions that were deleted meanwhile there may be nothing but the deletion. */
  function catchUp(missed: DurableEvent[]): void {
    const gone = new Map(
      missed.flatMap((event) => (event.type === 'session_update' && event.payload.deleted ? [[event.payload.session_id, event]] : [])),
    );
    for (const event of missed) {
      const deletion = gone.get(event.payload.session_id);
      if (deletion === undefined) hear(event);
      else if (deletion === event) {
        monitor.forgetRun(event.payload.session_id);
        hear(event);
      }
    }
  }

  /** Reads the log on from where it was left. */
  async function readAlong(): Promise<void> {
    const opened = await openEventStream(createUnixTransport(daemon.paths), { sessionId: '*', after: monitor.seq(), live: false });
    log = opened;
    async function read(): Promise<void> {
      const missed: DurableEvent[] = [];
      for await (const heard of opened) {
        if (heard.type === 'goodbye') return;
        const event = heard as unknown as DurableEvent;
        if (event.seq > opened.seq) hear(event);
        else if (missed.push(event) > 0 && event.seq === opened.seq) catchUp(missed);
        wakeAll();
      }
    }
    read().catch((error: unknown) => {
      failure ??= error;
      wakeAll();
    });
  }

  function asks(session: WatchedSession): boolean {
    return [...monitor.requests.values()].some(({ open, runId }) => open && runId === session.run?.id);
  }

  function isAtRest(session: WatchedSession): boolean {
    if (session.run) return !session.run.aborting && asks(session);
    return session.deleted || !session.deleting;
  }

  /** Every run has ended or waits for a person, and the log says so. */
  async function rest(): Promise<void> {
    for (let seq = -1; monitor.seq() !== seq;) {
      const reply = await berths[0]!.call('get_state', {});
      assert(reply.ok);
      await until(() => monitor.seq() >= reply.payload.seq);
      seq = monitor.seq();
      await until(() => [...monitor.sessions.values()].every(isAtRest));
    }
  }

  function living(): string[] {
    return [...monitor.sessions.values()].filter(({ deleted, deleting }) => !deleted && !deleting).map(({ id }) => id);
  }

  async function submit(berth: Berth, input: SentInput): Promise<void> {
    const reply = await berth.call(input.command, input.payload);
    if (!reply.ok) {
      const isGone = reply.error.code === 'session_not_found';
      assert(!input.ack || isGone, `${input.payload.input_id} was acknowledged and is refused now: ${reply.error.message}`);
      return;
    }
    const ack = { runId: reply.payload.run_id, seq: reply.seq };
    if (input.ack) assert.deepEqual(ack, input.ack, `a retry of ${input.payload.input_id} is answered the same`);
    input.ack = ack;
  }

  async function checkSession(berth: Berth, session: WatchedSession): Promise<void> {
    monitor.checkWhole(session.id);
    const attached = await berth.call('attach', { session_id: session.id, limit: 500 });
    const read = await berth.call('get_messages', { session_id: session.id });
    assert(attached.ok && read.ok, `${session.id} cannot be read`);
    const path = read.payload.messages;
    const fold = folded.get(session.id);
    same(viewOf(attached.payload).state, fold, `the rows of ${session.id} are what its log folds to`);
    const pathIds = monitor.pathOf(session.leafId).slice(-path.length || undefined);
    same(
      path.map(({ id }) => id),
      path.length === 0 ? [] : pathIds,
      `get_messages of ${session.id} is its path`,
    );
    for (const onlooker of onlookers.filter(({ sessionId }) => sessionId === session.id)) {
      await onlooker.heard(lastSeqs.get(session.id) ?? 0);
      const { state, messages, hasMore, pathCount } = onlooker.view();
      same(state, fold, `what a client sees of ${session.id} is what its log folds to`);
      same(messages, hasMore ? path.slice(-messages.length) : path, `the messages that a client sees of ${session.id} are its path`);
      assert.equal(pathCount, attached.payload.path_count, `a client knows how many messages ${session.id} has`);
    }
  }

  function checkInputs(): void {
    for (const { ack, payload } of sent) {
      if (!ack || monitor.sessions.get(payload.session_id)?.deleted) continue;
      const input = monitor.inputs.get(payload.input_id);
      assert(input, `${payload.input_id} was acknowledged and is lost`);
      const runs = input.state === 'taken' ? 1 : 0;
      assert.equal(input.messages, runs, `${payload.input_id} is ${input.state} and was run ${input.messages} times`);
      checkPictures(input, payload);
    }
  }

  for (let i = 0; i < controllers; i++) berths.push(await daemon.connect({ uiCapabilities: ['select', 'confirm', 'input', 'editor'] }));
  await readAlong();
  return {
    monitor,
    berths,
    living,
    async tell<T extends CommandType>(berth: Berth, type: T, payload: CommandInput<T>): Promise<void> {
      await berth.call(type, payload);
    },
    /** Sends a new input under an id of its own. */
    async send(
      berth: Berth,
      command: SentInput['command'],
      payload: { session_id: string; text: string; content?: InputContent },
    ): Promise<void> {
      const input: SentInput = { command, payload: { ...payload, input_id: `in-${++count}` }, ack: undefined };
      sent.push(input);
      await submit(berth, input);
    },
    /** Sends one that was acknowledged again. */
    async sendAgain(berth: Berth, pick: number): Promise<void> {
      const known = sent.filter(({ ack }) => ack);
      const input = known[pick % Math.max(1, known.length)];
      if (input) await submit(berth, input);
    },
    async watch(berth: Berth, sessionId: string): Promise<void> {
      const onlooker = await createOnlooker(berth, sessionId);
      if (onlooker) onlookers.push(onlooker);
    },
    hangUp(pick: number): void {
      onlookers[pick % Math.max(1, onlookers.length)]?.hangUp();
    },
    /** A new session, and nobody who remembers the old ones. */
    async reset(): Promise<void> {
      for (const onlooker of onlookers.splice(0)) onlooker.close();
      for (const session_id of living()) await berths[0]!.call('delete_session', { session_id });
      await berths[0]!.call('new_session', {});
      await until(() => living().length === 1);
    },
    async restart(how: 'kill' | 'stop'): Promise<void> {
      await (how === 'kill' ? daemon.kill9() : daemon.terminate());
      await daemon.start();
      await readAlong();
    },
    /** At rest all clients, whenever they came and however often they left, see the same session: that of the log and the rows. */
    async checkAtRest(): Promise<void> {
      await rest();
      for (const session of monitor.sessions.values()) if (!session.deleted) await checkSession(berths[0]!, session);
      checkInputs();
    },
    close(): void {
      log?.close();
      for (const onlooker of onlookers) onlooker.close();
      for (const berth of berths) berth.close();
    },
  };
}
export type Scene = Awaited<ReturnType<typeof createScene>>;
