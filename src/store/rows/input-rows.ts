import assert from 'node:assert/strict';
import type { Admission } from '../../core/decision.js';
import type { EarlierInput } from '../../core/inputs.js';
import type { QueuedImage, QueuedInput } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import type { ContentBlock } from '../../protocol/messages.js';
import type { Database } from '../sqlite.js';

interface WaitingRow {
  id: string;
  kind: 'prompt' | 'steer' | 'follow_up';
  revision: number;
  hold: number;
  client: string | null;
  for_next_run: number;
  ack_run_id: string;
  text: string;
  images: string | null;
}

interface AckRow {
  session_id: string;
  command: string;
  ack_run_id: string;
  ack_seq: number;
  text: string;
  content: string | null;
}

/** The input queue, and the acknowledged inputs for idempotent retries. Callers own the transaction. */
export function createInputRows(db: Database) {
  const waiting = db.prepare<[string], WaitingRow>(
    `SELECT id, kind, input.revision, hold, client, for_next_run, ack_run_id, coalesce(t.text, first_text) AS text, images
     FROM input LEFT JOIN input_text t ON t.input_id = id AND t.revision = text_revision
     WHERE session_id = ? AND state = 'waiting' ORDER BY position`,
  );
  const insert = db.prepare(
    `INSERT INTO input (id, session_id, command, kind, state, position, client, bytes, for_next_run, ack_run_id, ack_seq, run_id, at_ms,
       images, first_text)
     VALUES (?, ?, ?, ?, ?, coalesce((SELECT max(position) + 1 FROM input WHERE session_id = ? AND state = 'waiting'), 0), ?, ?, ?, ?, ?, ?, ?, ?,
       ?)`,
  );
  const insertText = db.prepare('INSERT INTO input_text (input_id, revision, text, content) VALUES (?, ?, ?, ?)');
  const acknowledged = db.prepare<[string], AckRow>(
    `SELECT session_id, command, ack_run_id, ack_seq, coalesce(t.text, first_text) AS text, content
     FROM input LEFT JOIN input_text t ON t.input_id = id AND t.revision = 1 WHERE id = ?`,
  );
  const leave = db.prepare(`UPDATE input SET state = ?, run_id = ? WHERE id = ? AND state = 'waiting'`);
  const change = db.prepare(`UPDATE input SET kind = ?, hold = ?, revision = ? WHERE id = ? AND state = 'waiting'`);
  const changeText = db.prepare(`UPDATE input SET text_revision = ? WHERE id = ? AND state = 'waiting'`);
  const begin = db.prepare('UPDATE input SET for_next_run = 0 WHERE ack_run_id = ? AND for_next_run = 1');
  const move = db.prepare(`UPDATE input SET position = ? WHERE id = ? AND state = 'waiting'`);
  const contentOf = db.prepare<[string], string | null>('SELECT content FROM input_text WHERE input_id = ? AND revision = 1').pluck();
  const imagesOf = db.prepare<[string], string | null>('SELECT images FROM input WHERE id = ?').pluck();
  const textAt = db
    .prepare<[{ id: string; revision: number }], string>(
      `SELECT text FROM input_text WHERE input_id = :id AND revision = :revision
       UNION ALL SELECT first_text FROM input WHERE id = :id AND :revision = 1 AND first_text IS NOT NULL`,
    )
    .pluck();
  const textRevision = db.prepare<[string], number>('SELECT text_revision FROM input WHERE id = ?').pluck();

  return {
    read: {
      waiting: (sessionId: string): QueuedInput[] => waiting.all(sessionId).map(toWaiting),
      acknowledged(inputId: string): EarlierInput | undefined {
        const row = acknowledged.get(inputId);
        if (!row) return undefined;
        const { session_id: sessionId, command, ack_run_id: runId, ack_seq: seq, text } = row;
        return { sessionId, command, text, content: parseContent(row.content), runId, seq };
      },
      /** The content that an input was sent with. An edit changes the text, never the content. */
      contentOf: (inputId: string): ContentBlock[] | null => parseContent(contentOf.get(inputId) ?? null),
      imagesOf: (inputId: string): QueuedImage[] | undefined => parseImages(imagesOf.get(inputId) ?? null),
      textRevision: (inputId: string): number => textRevision.get(inputId) ?? 1,
      textAt: (inputId: string, revision: number): string => textAt.get({ id: inputId, revision }) ?? '',
    },
    write: {
      admit(sessionId: string, input: Admission, seq: number, atMs: number): void {
        const { inputId, command, kind, state, text, content, images, client, runId, forNextRun } = input;
        const json = content ? JSON.stringify(content) : null;
        const bytes = Buffer.byteLength(text) + (json ? Buffer.byteLength(json) : 0);
        const isBrief = json === null && text.length <= limits.inputRowCharsMax;
        const takenBy = state === 'taken' ? runId : null;
        insert.run(
          inputId,
          sessionId,
          command,
          kind,
          state,
          sessionId,
          client,
          bytes,
          Number(forNextRun),
          runId,
          seq,
          takenBy,
          atMs,
          toJson(images),
          isBrief ? text : null,
        );
        if (!isBrief) insertText.run(inputId, 1, text, json);
      },
      /** The run that inputs were accepted for has begun: those still waiting are ordinary inputs now. */
      begin(runId: string): void {
        begin.run(runId);
      },
      /** An input leaves the queue once: taken, removed or dropped. */
      leave(inputId: string, state: 'taken' | 'removed' | 'dropped', runId: string | null): void {
        assert.equal(leave.run(state, runId, inputId).changes, 1, 'an input leaves the queue once');
      },
      change({ input_id: id, kind, hold, revision, text }: QueuedInput): void {
        assert.equal(change.run(kind, Number(hold), revision, id).changes, 1, 'only a waiting input changes');
        if (textAt.get({ id, revision: textRevision.get(id) ?? 1 }) === text) return;
        insertText.run(id, revision, text, null);
        changeText.run(revision, id);
      },
      reorder(order: readonly string[]): void {
        for (const [position, id] of order.entries()) move.run(position, id);
      },
    },
  };
}
export type InputRows = ReturnType<typeof createInputRows>;

function parseContent(json: string | null): ContentBlock[] | null {
  return json === null ? null : (JSON.parse(json) as ContentBlock[]);
}

function parseImages(json: string | null): QueuedImage[] | undefined {
  return json === null ? undefined : (JSON.parse(json) as QueuedImage[]);
}

function toJson(images: QueuedImage[]): string | null {
  return images.length === 0 ? null : JSON.stringify(images);
}

function toWaiting(row: WaitingRow): QueuedInput {
  const { id: input_id, kind, text, revision, client } = row;
  const images = parseImages(row.images);
  return {
    input_id,
    kind,
    text,
    hold: row.hold === 1,
    revision,
    client,
    ...(row.for_next_run === 1 ? { for_run: row.ack_run_id } : {}),
    ...(images ? { images } : {}),
  };
}
