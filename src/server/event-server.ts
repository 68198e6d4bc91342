import type { Socket } from 'node:net';
import { allSessions, type Scope } from '../core/scope.js';
import type { ServedEngine } from '../engine/engine.js';
import { subscribe } from '../protocol/commands/commands.js';
import { encodeLive } from '../protocol/encode.js';
import { refusal, type Refusal } from '../protocol/errors.js';
import type { EventPayload } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { DecodedLine } from '../protocol/ndjson.js';
import type { Clients } from './clients.js';
import { encodeAnswer, readEnvelope } from './command-server.js';
import { openConnection, type Connection } from './connection.js';
import type { Cursors } from './cursors.js';
import { createEndedRuns } from './ended-runs.js';
import type { FairQueue } from './budgets/fair-queue.js';
import type { LineRoom } from './budgets/line-room.js';
import type { CursorStart, LogCursor } from './log-cursor.js';
import { toPayloadRefusal } from './payload.js';
import { createSocketWriter, type SocketWriter } from './socket-writer.js';

/** The subscription of an event connection. */
interface Subscription {
  cursor: LogCursor;
  writer: SocketWriter;
  clientId: string | undefined;
}

interface Deps {
  engine: ServedEngine;
  cursors: Cursors;
  clients: Clients;
  logId: string;
  now(): number;
  lineRoom: LineRoom;
  fairQueue: FairQueue;
}

type GoodbyeReason = EventPayload<'goodbye'>['reason'];

/** Serves the event socket: each connection has one subscription at a time. */
export function createEventServer({ engine, cursors, clients, logId, now, lineRoom, fairQueue }: Deps) {
  const { log, runs, sessions } = engine.store;
  const connections = new Map<Connection, Subscription | undefined>();
  const endedRuns = createEndedRuns(now);

  function goodbye(connection: Connection, reason: GoodbyeReason): void {
    const isLineComplete = connections.get(connection)?.cursor.finishLine() ?? true;
    stopSubscription(connection);
    // A goodbye inside a partly written line would be invalid JSON.
    if (!isLineComplete) return void connection.socket.destroy();
    connection.close(`${encodeLive({ type: 'goodbye', payload: { reason } }, 0, new Date(now()).toISOString())}\n`);
  }

  function stopSubscription(connection: Connection): void {
    const subscription = connections.get(connection);
    if (!subscription) return;
    const { cursor, writer, clientId } = subscription;
    cursor.stop();
    writer.stop();
    connections.set(connection, undefined);
    if (clientId !== undefined) clients.watch(clientId, connection, undefined);
  }

  function begin(connection: Connection, start: CursorStart, clientId: string | undefined): void {
    if (!connections.has(connection)) return;
    const writer = createSocketWriter(connection, () => goodbye(connection, 'stalled'));
    const cursor = cursors.open(start, writer, {
      onEnd: (why) => (why === 'session_deleted' ? goodbye(connection, why) : void connection.socket.destroy()),
      ...(start.prelude ? { onRunEnd: endedRuns.add } : {}),
    });
    connections.set(connection, { cursor, writer, clientId });
    if (clientId !== undefined && start.live) clients.watch(clientId, connection, start.scope);
    cursor.pump();
  }

  function cursorProblem(after: number | undefined, givenLogId: string | undefined): Refusal | undefined {
    const details = { seq: log.head(), floor: log.floor(), log_id: logId };
    if (givenLogId !== undefined && givenLogId !== logId)
      return refusal('cursor_expired', 'the cursor is of another store; attach again', details);
    if (after === undefined) return undefined;
    if (after > log.head()) return refusal('cursor_expired', 'the cursor is past the end of the log; attach again', details);
    return after < log.floor() ? refusal('cursor_expired', 'events after this cursor have been pruned; attach again', details) : undefined;
  }

  function answerLine(connection: Connection, line: DecodedLine): void {
    const refuse = (id: string, why: Refusal): void => connection.write(encodeAnswer(id, { ok: false, refusal: why }, log.head()));
    if (line.kind === 'too_long') return goodbye(connection, 'line_too_long');
    const read = readEnvelope(line);
    if ('refusal' in read) return refuse(read.id, read.refusal);
    if (read.type !== 'subscribe') {
      return refuse(
        read.id,
        refusal(
          'invalid_command',
          'the event socket takes subscribe only; send commands to the command socket, whose path has no .events',
          { field: 'type' },
        ),
      );
    }
    const parsed = subscribe.payload.safeParse(read.payload);
    if (!parsed.success) return refuse(read.id, toPayloadRefusal(parsed.error));
    const { session_id: sessionId, after, log_id, live, client_id } = parsed.data;
    const scope = toScope(sessionId);
    if (!scope.all && !sessions.exists(sessionId)) {
      return refuse(read.id, refusal('session_not_found', `there is no session ${sessionId}`, { field: 'session_id' }));
    }
    const problem = cursorProblem(after, log_id);
    if (problem) return refuse(read.id, problem);
    stopSubscription(connection);
    const head = log.head();
    const payload = { seq: log.lastSeqOf(scope), resumed: after !== undefined, log_id: logId, session_id: sessionId };
    connection.write(encodeAnswer(read.id, { ok: true, type: 'subscribed', payload }, head));
    begin(
      connection,
      { scope, after: after ?? head, fromCursor: after !== undefined, liveFrom: head, live, prelude: undefined },
      client_id,
    );
  }

  return {
    accept(socket: Socket): void {
      const acceptedAt = log.head();
      const endedBefore = endedRuns.mark();
      let hasSentLine = false;
      const connection = openConnection(
        socket,
        { lineRoom, fairQueue },
        {
          onLine(line) {
            hasSentLine = true;
            clearTimeout(silenceTimer);
            answerLine(connection, line);
          },
          onUnfinished: () => goodbye(connection, 'stalled'),
          onDrain: () => connections.get(connection)?.cursor.pump(),
          // The peer of a half-closed connection still reads.
          onEnd: () => undefined,
          onClose() {
            clearTimeout(silenceTimer);
            stopSubscription(connection);
            connections.delete(connection);
          },
        },
      );
      connections.set(connection, undefined);
      function beginLegacySubscription(): void {
        const recent = runs.recent(now() - limits.v1EndedRunMs);
        const prelude = { runIds: recent.filter((runId) => !endedRuns.has(runId, endedBefore)), upTo: acceptedAt };
        const start = { scope: allSessions, after: acceptedAt, fromCursor: false, liveFrom: 0, live: true, prelude };
        if (connection.isOpen()) begin(connection, start, undefined);
      }
      // A client that sends no subscribe is of protocol version 1: it gets all events, and first those of active runs.
      const silenceTimer = setTimeout(() => {
        // The event loop may have been blocked past this timer: sockets are read before the next setImmediate.
        setImmediate(() => {
          if (!hasSentLine) beginLegacySubscription();
        });
      }, limits.v1SilenceMs);
    },
    count: (): number => connections.size,
    close(): void {
      for (const connection of connections.keys()) goodbye(connection, 'shutting_down');
    },
  };
}

/** The only place that knows the wildcard session id of the wire. */
function toScope(sessionId: string): Scope {
  return sessionId === '*' ? allSessions : { sessionId };
}
