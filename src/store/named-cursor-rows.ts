import type { NamedCursorChange } from '../core/named-cursors.js';
import { limits } from '../protocol/limits.js';
import type { Database } from './sqlite.js';

export interface NamedCursorRow {
  name: string;
  seq: number;
  usedMs: number;
}

/** How far those who follow the log under a name have acknowledged it. Callers own the transaction. */
export function createNamedCursorRows(db: Database) {
  const all = db.prepare<[], NamedCursorRow>('SELECT name, seq, used_ms AS usedMs FROM named_cursor ORDER BY name');
  const seqOf = db.prepare<[string], number>('SELECT seq FROM named_cursor WHERE name = ?').pluck();
  const put = db.prepare<[string, number, number]>('INSERT OR REPLACE INTO named_cursor (name, seq, used_ms) VALUES (?, ?, ?)');
  const drop = db.prepare<[string]>('DELETE FROM named_cursor WHERE name = ?');
  const dropUnused = db.prepare<[string, number]>('DELETE FROM named_cursor WHERE name <> ? AND used_ms < ?');
  return {
    read: {
      /** By name. */
      all: (): NamedCursorRow[] => all.all(),
      seqOf: (name: string): number | undefined => seqOf.get(name),
    },
    write: {
      /** Moves or removes a cursor. Cursors that nobody has used for `namedCursorIdleMs` go at the same time. */
      set({ name, seq }: NamedCursorChange, atMs: number): void {
        if (seq === null) drop.run(name);
        else put.run(name, seq, atMs);
        dropUnused.run(name, atMs - limits.namedCursorIdleMs);
      },
    },
  };
}
