import type { Database } from '../sqlite.js';

/** The identity of a session's directory: its real path and inode when it was approved. */
export interface Anchor {
  realPath: string;
  device: string;
  inode: string;
}

interface AnchorRecord {
  real_path: string;
  device: string;
  inode: string;
}

/** The directories of sessions. Callers own the transaction. */
export function createAnchorRows(db: Database) {
  const read = db.prepare<[string], AnchorRecord>('SELECT real_path, device, inode FROM anchor WHERE session_id = ?');
  const write = db.prepare('INSERT OR REPLACE INTO anchor (session_id, real_path, device, inode) VALUES (?, ?, ?, ?)');
  const copy = db.prepare(
    'INSERT OR REPLACE INTO anchor (session_id, real_path, device, inode) SELECT ?, real_path, device, inode FROM anchor WHERE session_id = ?',
  );
  return {
    read: {
      /** Undefined for sessions of earlier versions that have not been used since. */
      read(sessionId: string): Anchor | undefined {
        const row = read.get(sessionId);
        return row && { realPath: row.real_path, device: row.device, inode: row.inode };
      },
    },
    write: {
      set(sessionId: string, { realPath, device, inode }: Anchor): void {
        write.run(sessionId, realPath, device, inode);
      },
      copy(from: string, to: string): void {
        copy.run(to, from);
      },
    },
  };
}
export type AnchorRows = ReturnType<typeof createAnchorRows>;
