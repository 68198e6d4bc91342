import type { Database } from '../sqlite.js';

type MetaKey = 'log_id' | 'log_floor' | 'active_session' | 'search_mark' | 'first_session' | 'salvage';

/** Key-value pairs about the store itself. Callers own the transaction. */
export function createMetaRows(db: Database) {
  const read = db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck();
  const write = db.prepare<[string, string]>(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  const remove = db.prepare<[string]>('DELETE FROM meta WHERE key = ?');
  return {
    read: {
      get: (key: MetaKey): string | undefined => read.get(key),
    },
    write: {
      set(key: MetaKey, value: string): void {
        write.run(key, value);
      },
      remove(key: MetaKey): void {
        remove.run(key);
      },
    },
  };
}
export type MetaRows = ReturnType<typeof createMetaRows>;
