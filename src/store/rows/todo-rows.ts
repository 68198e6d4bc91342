import type { TodoItem } from '../../protocol/todos.js';
import type { Database } from '../sqlite.js';

/** The to-do list of an agent, one a session. Callers own the transaction. */
export function createTodoRows(db: Database) {
  const read = db.prepare<[string], string>('SELECT items FROM todo WHERE session_id = ?').pluck();
  const write = db.prepare(
    'INSERT INTO todo (session_id, items) VALUES (?, ?) ON CONFLICT (session_id) DO UPDATE SET items = excluded.items',
  );
  const drop = db.prepare('DELETE FROM todo WHERE session_id = ?');
  return {
    read: {
      read: (sessionId: string): TodoItem[] => JSON.parse(read.get(sessionId) ?? '[]') as TodoItem[],
    },
    write: {
      set(sessionId: string, items: TodoItem[]): void {
        if (items.length === 0) drop.run(sessionId);
        else write.run(sessionId, JSON.stringify(items));
      },
    },
  };
}
