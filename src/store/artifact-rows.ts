import type { Database } from './sqlite.js';

export interface ArtifactPiece {
  mimeType: string;
  data: Buffer;
  totalBytes: number;
}

export interface FoundArtifact {
  sessionId: string;
  mimeType: string;
  bytes: number;
  /** Its name below `artifacts/`; null for the text of a message. */
  file: string | null;
  entryId: string | null;
}

interface Row {
  session_id: string;
  entry_id: string | null;
  file: string | null;
  mime_type: string;
  bytes: number;
}

/** Things too long for a line. A message's artifact is its whole text, read in place; others are files. Callers own the transaction. */
export function createArtifactRows(db: Database) {
  const find = db.prepare<[string], Row>('SELECT session_id, entry_id, file, mime_type, bytes FROM artifact WHERE id = ?');
  const piece = db.prepare<[number, number, string], Buffer>('SELECT substr(CAST(text AS BLOB), ?, ?) FROM entry WHERE id = ?').pluck();
  const insert = db.prepare(
    'INSERT INTO artifact (id, session_id, file, mime_type, bytes, at_ms) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes',
  );
  const exists = db.prepare<[string], number>('SELECT 1 FROM artifact WHERE file = ?').pluck();
  const files = db.prepare<[string], string>('SELECT file FROM artifact WHERE session_id = ? AND file IS NOT NULL').pluck();
  return {
    find(artifactId: string): FoundArtifact | undefined {
      const row = find.get(artifactId);
      return row && { sessionId: row.session_id, mimeType: row.mime_type, bytes: row.bytes, file: row.file, entryId: row.entry_id };
    },
    readEntry: (entryId: string, offset: number, limit: number): Buffer => piece.get(offset + 1, limit, entryId) ?? Buffer.alloc(0),
    addFile(artifact: { id: string; sessionId: string; file: string; mimeType: string; bytes: number }, atMs: number): void {
      const { id, sessionId, file, mimeType, bytes } = artifact;
      insert.run(id, sessionId, file, mimeType, bytes, atMs);
    },
    filesOf: (sessionId: string): string[] => files.all(sessionId),
    hasFile: (file: string): boolean => exists.get(file) !== undefined,
  };
}
