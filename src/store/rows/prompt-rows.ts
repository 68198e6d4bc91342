import { wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { SentPrompt } from '../../protocol/views.js';
import type { Database } from '../sqlite.js';

export interface PromptQuery {
  /** The prompts of this directory come first. */
  cwd: string;
  query: string;
  limit: number;
}

/** An entry that is being indexed. `cwd` is null when its session was deleted. */
export interface IndexedEntry {
  no: number;
  role: string;
  session_id: string;
  cwd: string | null;
  text: string;
}

interface PromptRow {
  no: number;
  session_id: string;
  folded: string;
}

/** What people have sent. Written behind the log with the full-text index. Callers own the transaction. */
export function createPromptRows(db: Database) {
  const add = db.prepare<[number, string, string, string]>(
    'INSERT OR REPLACE INTO prompt (no, session_id, cwd, folded) VALUES (?, ?, ?, ?)',
  );
  const drop = db.prepare<[number]>('DELETE FROM prompt WHERE no = ?');
  const entry = db.prepare<[number], { id: string; text: string; at_ms: number }>('SELECT id, text, at_ms FROM entry WHERE no = ?');
  // The inner LIMIT bounds the scan also where nothing matches. LIKE takes a quarter of the time of instr().
  const find = (where: string) =>
    db.prepare<[Record<string, unknown>], PromptRow>(
      `SELECT no, session_id, folded FROM (SELECT no, session_id, folded FROM prompt WHERE ${where} ORDER BY no DESC LIMIT :scan) AS newest
       WHERE folded LIKE :like ESCAPE '\\' AND EXISTS (SELECT 1 FROM session WHERE id = newest.session_id AND deleted = 0)
       ORDER BY no DESC`,
    );
  const findHere = find('cwd = :cwd');
  const findElsewhere = find('cwd <> :cwd');
  const count = db.prepare<[number], number>('SELECT count(*) FROM (SELECT 1 FROM prompt LIMIT ?)').pluck();

  function* matches(bound: Record<string, unknown>): Generator<PromptRow> {
    yield* findHere.iterate(bound);
    yield* findElsewhere.iterate(bound);
  }

  return {
    read: {
      /** The newest prompts that have the query in their text, in any case; each text once. */
      list({ cwd, query, limit }: PromptQuery): { prompts: SentPrompt[]; hasMore: boolean } {
        const prompts: SentPrompt[] = [];
        const seen = new Set<string>();
        const scan = limits.promptScanRowsMax;
        const like = `%${fold(query).replace(/[\\%_]/g, '\\$&')}%`;
        for (const { no, session_id, folded } of matches({ cwd, like, scan })) {
          if (seen.has(folded)) continue;
          const { id, text, at_ms } = entry.get(no) ?? { id: '', text: '', at_ms: 0 };
          // Long texts may differ after the part that is folded.
          const key = folded.length < limits.promptFoldedCharsMax ? folded : text;
          if (id === '' || seen.has(key)) continue;
          if (prompts.length === limit) return { prompts, hasMore: true };
          seen.add(key);
          prompts.push({ ...clipText(text), session_id, message_id: id, created_at: new Date(at_ms).toISOString() });
        }
        return { prompts, hasMore: (count.get(scan + 1) ?? 0) > scan };
      },
    },
    write: {
      /** Adds an entry that is a message of a person. */
      add({ no, role, session_id, cwd, text }: IndexedEntry): void {
        if (role === 'user' && cwd !== null && text.trim() !== '') add.run(no, session_id, cwd, fold(text));
      },
      forget(no: number): void {
        drop.run(no);
      },
    },
  };
}
export type PromptRows = ReturnType<typeof createPromptRows>;

function fold(text: string): string {
  return text.slice(0, limits.promptFoldedCharsMax).toLowerCase();
}

function clipText(text: string): { text: string; truncated?: true } {
  if (text.length <= limits.promptTextCharsMax) return { text };
  return { text: text.slice(0, wholeUnits(text, limits.promptTextCharsMax)), truncated: true };
}
