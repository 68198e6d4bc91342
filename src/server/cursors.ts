import type { ServedEngine } from '../engine/engine.js';
import type { LineSink } from './lines/line-sink.js';
import { createLines } from './lines/lines.js';
import { createLogCursor, type CursorEvents, type CursorStart, type LogCursor } from './log-cursor.js';

/** The log cursors of all subscribers, over shared encoded lines: a cursor is pumped when an event of its scope is new. */
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
    const cursors = bySession.get(sessionId);
    cursors?.delete(cursor);
    if (cursors?.size === 0) bySession.delete(sessionId);
  }

  return {
    /** Opens a cursor, which writes nothing before its first pump. The caller must stop it. */
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
