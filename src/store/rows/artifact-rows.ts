import { limits } from '../../protocol/limits.js';
import type { Database } from '../sqlite.js';

export interface ArtifactPiece {
  mimeType: string;
  data: Buffer;
  totalBytes: number;
  /** Bytes at the end that were not stored. */
  droppedBytes: number;
}

export interface FoundArtifact {
  sessionId: string;
  mimeType: string;
  bytes: number;
  droppedBytes: number;
  /** The file name below `artifacts/`; null for the text of a message. */
  file: string | null;
  entryId: string | null;
}

interface Row {
  session_id: string;
  entry_id: string | null;
  file: string | null;
  mime_type: string;
  bytes: number;
  dropped_bytes: number;
}

/** Artifacts: texts too long for a line. That of a message is read from its entry; others are files. Callers own the transaction. */
export function createArtifactRows(db: Database) {
  const find = db.prepare<[string], Row>('SELECT session_id, entry_id, file, mime_type, bytes, dropped_bytes FROM artifact WHERE id = ?');
  const piece = db.prepare<[number, number, string], Buffer>('SELECT substr(CAST(text AS BLOB), ?, ?) FROM entry WHERE id = ?').pluck();
  const contentPiece = db.prepare<[number, number, string], { data: Buffer; total: number }>(
    `SELECT substr(bytes, ?, ?) AS data, octet_length(bytes) AS total FROM (
       SELECT CAST(ifnull(content, json_array(json_object('type', 'text', 'text', text))) AS BLOB) AS bytes FROM entry WHERE id = ?)`,
  );
  const insert = db.prepare(
    'INSERT INTO artifact (id, session_id, file, mime_type, bytes, dropped_bytes, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes, dropped_bytes = excluded.dropped_bytes',
  );
  const exists = db.prepare<[string], number>('SELECT 1 FROM artifact WHERE file = ? AND bytes > 0').pluck();
  const files = db.prepare<[string], string>('SELECT file FROM artifact WHERE session_id = ? AND file IS NOT NULL').pluck();
  const fileBytes = db.prepare<[], number>('SELECT total(bytes) FROM artifact WHERE file IS NOT NULL').pluck();
  const oldestFiles = db.prepare<[string], { id: string; file: string; bytes: number }>(
    'SELECT id, file, bytes FROM artifact WHERE file IS NOT NULL AND bytes > 0 AND id <> ? ORDER BY at_ms, rowid',
  );
  const expired = db.prepare<[number, number], { id: string; file: string }>(
    'SELECT id, file FROM artifact WHERE file IS NOT NULL AND bytes > 0 AND at_ms < ? LIMIT ?',
  );
  const empty = db.prepare<[string]>('UPDATE artifact SET dropped_bytes = dropped_bytes + bytes, bytes = 0 WHERE id = ?');
  return {
    read: {
      find(artifactId: string): FoundArtifact | undefined {
        const row = find.get(artifactId);
        if (!row) return undefined;
        const { session_id: sessionId, mime_type: mimeType, bytes, dropped_bytes: droppedBytes, file, entry_id: entryId } = row;
        return { sessionId, mimeType, bytes, droppedBytes, file, entryId };
      },
      readEntry: (entryId: string, offset: number, limit: number): Buffer => piece.get(offset + 1, limit, entryId) ?? Buffer.alloc(0),
      /** Bytes of all artifact files together. */
      fileBytes: (): number => fileBytes.get() ?? 0,
      /** A piece of the content of an entry as JSON. */
      readContent(entryId: string, offset: number, limit: number): ArtifactPiece | undefined {
        const found = contentPiece.get(offset + 1, limit, entryId);
        return found && { mimeType: 'application/json', data: found.data, totalBytes: found.total, droppedBytes: 0 };
      },
      filesOf: (sessionId: string): string[] => files.all(sessionId),
      /** Whether a row refers to this file. */
      hasFile: (file: string): boolean => exists.get(file) !== undefined,
    },
    write: {
      addFile(
        artifact: Pick<FoundArtifact, 'sessionId' | 'mimeType' | 'bytes' | 'droppedBytes'> & { id: string; file: string },
        atMs: number,
      ): void {
        const { id, sessionId, file, mimeType, bytes, droppedBytes } = artifact;
        insert.run(id, sessionId, file, mimeType, bytes, droppedBytes, atMs);
      },
      /** Marks a batch of files from before a time as dropped. Returns their names. */
      dropExpired(beforeMs: number): string[] {
        const found = expired.all(beforeMs, limits.sweepBatchRows);
        for (const { id } of found) empty.run(id);
        return found.map(({ file }) => file);
      },
      /** Quota: marks the oldest files as dropped until all have `bytesMax` at most, but never that of `exceptId`. Returns their names. */
      dropOldest(bytesMax: number, exceptId = ''): string[] {
        let bytes = fileBytes.get() ?? 0;
        const dropped: string[] = [];
        if (bytes <= bytesMax) return dropped;
        for (const oldest of oldestFiles.all(exceptId)) {
          if (bytes <= bytesMax) break;
          empty.run(oldest.id);
          dropped.push(oldest.file);
          bytes -= oldest.bytes;
        }
        return dropped;
      },
    },
  };
}
