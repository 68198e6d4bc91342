import type { ServedEngine } from '../engine/engine.js';
import type { LineSink } from './lines/line-sink.js';
import { createLines } from './lines/lines.js';
import { createLogCursor, type CursorEvents, type CursorStart, type LogCursor } from './log-cursor.js';

/** All who read what happens, over the same lines: each is pumped when there is something new in its scope. */
export function createCursors({ engine, now }: { engine: ServedEngine; now(): number }) {
  const lines = createLines(engine, now);
  const bySession = new Map<string, Set<LogCursor>>();
  const ofAll = new Set<LogCursor>();

  engine.wakes.listen(pump);
  engine.liveWakes.listen(pump);

  function pump(sessionId: string): void {
    for (const cursor of bySession.get(sessionId) ?? []) cursor.pump();
    for (const cursor of ofAll) cursor.pump();
    lines.forget(sessionId);
  }

  function add(cursor: LogCursor): void {
    const { all, sessionId } = cursor.scope;
    if (all) ofAll.add(cursor);
    else bySession.set(sessionId, (bySession.get(sessionId) ?? new Set()).add(cursor));
  }

  function remove(cursor: LogCursor): void {
    const { all, sessionId } = cursor.scope;
    if (all) return void ofAll.delete(cursor);
    const others = bySession.get(sessionId);
    others?.delete(cursor);
    if (others?.size === 0) bySession.delete(sessionId);
  }

  return {
    /** A cursor of which the sink gets nothing before its first pump. It is there until it is stopped. */
    open(start: CursorStart, sink: LineSink, events: CursorEvents): LogCursor {
      const cursor = createLogCursor(start, sink, events, { engine, lines });
      add(cursor);
      return {
        ...cursor,
        stop() {
          cursor.stop();
          remove(cursor);
        },
      };
    },
  };
}
export type Cursors = ReturnType<typeof createCursors>;
