import type { Database } from './sqlite.js';

export interface ArtifactPiece {
  mimeType: string;
  data: Buffer;
  totalBytes: number;
}

/** Things too long for a line. A message's artifact is its whole text, read in place. */
export function createArtifactRows(db: Database) {
  const find = db.prepare<[string], { entry_id: string; mime_type: string; bytes: number }>(
    'SELECT entry_id, mime_type, bytes FROM artifact WHERE id = ? AND entry_id IS NOT NULL',
  );
  const piece = db.prepare<[number, number, string], Buffer>('SELECT substr(CAST(text AS BLOB), ?, ?) FROM entry WHERE id = ?').pluck();
  return {
    read(artifactId: string, offset: number, limit: number): ArtifactPiece | undefined {
      const row = find.get(artifactId);
      if (!row) return undefined;
      const data = piece.get(offset + 1, limit, row.entry_id) ?? Buffer.alloc(0);
      return { mimeType: row.mime_type, data, totalBytes: row.bytes };
    },
  };
}
