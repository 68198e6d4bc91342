import { acknowledge, removeCursor } from '../../core/named-cursors.js';
import { accepted, refused, reply, type Handlers } from '../handler.js';
import type { HandlerContext } from '../handler-context.js';

/** Named cursors: rows beside the log, which no decision about a session reads. */
export function createCursorHandlers({
  engine: { store, commit },
  daemon,
}: HandlerContext): Pick<Handlers, 'ack_cursor' | 'list_cursors' | 'remove_cursor'> {
  const { log, namedCursors } = store;
  return {
    ack_cursor({ name, seq }) {
      const usedMs = namedCursors.all().map((cursor) => cursor.usedMs);
      const standing = { head: log.head(), seq: namedCursors.seqOf(name), usedMs };
      const outcome = commit.decideShared((now) => acknowledge(name, seq, standing, now.nowMs));
      if (!outcome.ok) return refused(outcome.refusal);
      return accepted<'ack_cursor'>(outcome, { command: 'ack_cursor', name, seq: outcome.reply });
    },
    list_cursors() {
      const cursors = namedCursors.all().map(({ name, seq, usedMs }) => ({ name, seq, used_at: new Date(usedMs).toISOString() }));
      return reply<'list_cursors'>('cursors', { cursors, head: log.head(), floor: log.floor(), log_id: daemon.logId });
    },
    remove_cursor({ name }) {
      const outcome = commit.decideShared(() => removeCursor(name, namedCursors.seqOf(name) !== undefined));
      if (!outcome.ok) return refused(outcome.refusal);
      return accepted<'remove_cursor'>(outcome, { command: 'remove_cursor', name, removed: outcome.reply });
    },
  };
}
