import type { OpenCompaction, SessionState } from '../../core/session.js';
import type { EventPayload } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import type { Usage } from '../../protocol/messages.js';
import type { SessionListRow } from '../../protocol/views.js';
import type { Database } from '../sqlite.js';

interface SessionRecord {
  id: string;
  parent_id: string | null;
  title: string;
  cwd: string;
  model: string;
  thinking: SessionState['thinking'];
  steering_mode: SessionState['steeringMode'];
  follow_up_mode: SessionState['followUpMode'];
  approval_mode: SessionState['approvalMode'];
  when_detached: SessionState['whenDetached'];
  recovery: SessionState['recovery'];
  active_tools: string | null;
  archived: number;
  one_off: number;
  deleting: number;
  deleted: number;
  paused: number;
  leaf_id: string | null;
  base_id: string | null;
  usage: string | null;
  context_left_percent: number | null;
  compaction: string | null;
}

interface ListRecord {
  id: string;
  title: string;
  cwd: string;
  model: string;
  archived: number;
  one_off: number;
  message_count: number;
  last_user_text: string;
  first_user_text: string | null;
  updated_ms: number;
  aborting: number | null;
  last_outcome: SessionListRow['last_outcome'];
  paused: number;
}

/** The state of a session without its queue, run and requests. */
export type SessionSettings = Omit<SessionState, 'inputs' | 'run' | 'lastRun' | 'requests'>;

export interface SessionQuery {
  cwd: string | undefined;
  query: string | undefined;
  archived: boolean;
  /** Only one-off sessions, or only others. */
  oneOff?: boolean | undefined;
  /** `updated_ms:id` of the last row of the page before. */
  cursor: string | undefined;
  limit: number;
}

/** Columns that a session_update event may set; the fields of its payload have the same names. */
const settable = [
  'title',
  'cwd',
  'model',
  'thinking',
  'steering_mode',
  'follow_up_mode',
  'approval_mode',
  'when_detached',
  'recovery',
  'active_tools',
  'archived',
  'one_off',
  'leaf_id',
  'deleting',
  'deleted',
] as const;

/** Sessions. Callers own the transaction. */
export function createSessionRows(db: Database) {
  const byId = db.prepare<[string], SessionRecord>('SELECT * FROM session WHERE id = ? AND deleted = 0');
  const insert = db.prepare(
    `INSERT INTO session (id, parent_id, title, cwd, model, thinking, steering_mode, follow_up_mode, approval_mode, when_detached, recovery,
       active_tools, one_off, leaf_id, base_id, message_count, path_count, created_ms, updated_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const setters = new Map(settable.map((name) => [name, db.prepare(`UPDATE session SET ${name} = ? WHERE id = ?`)]));
  const touch = db.prepare('UPDATE session SET updated_ms = max(updated_ms, ?) WHERE id = ?');
  const setPaused = db.prepare('UPDATE session SET paused = ? WHERE id = ? AND paused <> ?');
  const setCompaction = db.prepare('UPDATE session SET compaction = ? WHERE id = ?');
  const setUsage = db.prepare('UPDATE session SET usage = ?, context_left_percent = ? WHERE id = ?');
  const countMessage = db.prepare(
    `UPDATE session SET leaf_id = ?, message_count = message_count + 1, path_count = path_count + 1, updated_ms = max(updated_ms, ?)
     WHERE id = ?`,
  );
  const setPathCount = db.prepare('UPDATE session SET path_count = ? WHERE id = ?');
  const pathCount = db.prepare<[string], number>('SELECT path_count FROM session WHERE id = ?').pluck();
  const setLastUser = db.prepare('UPDATE session SET last_user_text = ? WHERE id = ?');
  const count = db.prepare<[], number>('SELECT count(*) FROM session WHERE deleted = 0').pluck();
  const deleted = db.prepare<[], string>('SELECT id FROM session WHERE deleted = 1').pluck();
  const archivedBefore = db
    .prepare<[number], string>(
      `SELECT id FROM session WHERE deleted = 0 AND archived = 1 AND updated_ms < ? AND deleting = 0
         AND NOT EXISTS (SELECT 1 FROM run WHERE run.session_id = session.id AND ended_seq IS NULL)
         AND NOT EXISTS (SELECT 1 FROM input WHERE input.session_id = session.id AND state = 'waiting')
       ORDER BY updated_ms LIMIT 1`,
    )
    .pluck();
  const firstUserText = db
    .prepare<[string], string>(
      `SELECT substr(text, 1, ${limits.snippetCharsMax}) FROM entry WHERE session_id = ? AND role = 'user' ORDER BY no LIMIT 1`,
    )
    .pluck();
  const exists = db.prepare<[string], number>('SELECT 1 FROM session WHERE id = ? AND deleted = 0').pluck();
  const page = db.prepare<[Record<string, unknown>], ListRecord>(
    `SELECT session.id, title, cwd, model, archived, one_off, message_count, last_user_text, updated_ms, run.aborting,
       (SELECT substr(text, 1, ${limits.snippetCharsMax}) FROM entry WHERE entry.session_id = session.id AND role = 'user'
        ORDER BY no LIMIT 1) AS first_user_text,
       (SELECT outcome FROM run last WHERE last.session_id = session.id AND last.ended_seq IS NOT NULL AND last.turns > 0
        ORDER BY last.started_seq DESC LIMIT 1) AS last_outcome,
       paused = 1 AND EXISTS (SELECT 1 FROM input WHERE input.session_id = session.id AND input.state = 'waiting') AS paused
     FROM session LEFT JOIN run ON run.session_id = session.id AND run.ended_seq IS NULL
     WHERE deleted = 0 AND archived = :archived
       AND (:cwd IS NULL OR cwd = :cwd)
       AND (:one_off IS NULL OR one_off = :one_off)
       AND (:like IS NULL OR title LIKE :like ESCAPE '\\' OR last_user_text LIKE :like ESCAPE '\\' OR session.id LIKE :like ESCAPE '\\')
       AND (:before_ms IS NULL OR updated_ms < :before_ms OR (updated_ms = :before_ms AND session.id < :before_id))
     ORDER BY updated_ms DESC, session.id DESC LIMIT :limit`,
  );

  return {
    read: {
      exists: (id: string): boolean => exists.get(id) !== undefined,
      /** The beginning of the first message of a person; empty when there is none. */
      firstUserText: (id: string): string => firstUserText.get(id) ?? '',
      load(id: string): SessionSettings | undefined {
        const row = byId.get(id);
        return row && toSettings(row);
      },
      baseOf: (id: string): string | null => byId.get(id)?.base_id ?? null,
      /** How many messages are on the path to the leaf. */
      pathCount: (id: string): number => pathCount.get(id) ?? 0,
      count: (): number => count.get() ?? 0,
      /** Deleted sessions whose rows have not been swept yet. */
      deleted: (): string[] => deleted.all(),
      /** An archived session that was not changed since a time, and has nothing to do. */
      archivedBefore: (ms: number): string | undefined => archivedBefore.get(ms),
      list(query: SessionQuery): { sessions: SessionListRow[]; cursor: string | null } {
        const [ms, id] = query.cursor?.split(':') ?? [];
        const like = query.query === undefined ? null : `%${query.query.replace(/[\\%_]/g, '\\$&')}%`;
        const rows = page.all({
          archived: Number(query.archived),
          one_off: query.oneOff === undefined ? null : Number(query.oneOff),
          cwd: query.cwd ?? null,
          like,
          before_ms: ms === undefined ? null : Number(ms),
          before_id: id ?? '',
          limit: query.limit + 1,
        });
        const sessions = rows.slice(0, query.limit).map(toListRow);
        return {
          sessions,
          cursor: rows.length > query.limit ? cursorAfter(sessions.at(-1)) : null,
        };
      },
    },
    write: {
      insert(payload: EventPayload<'session_update'>, pathCount: number, atMs: number): void {
        insert.run(
          payload.session_id,
          payload.parent_id ?? null,
          payload.title ?? '',
          payload.cwd ?? '',
          payload.model ?? '',
          payload.thinking ?? 'off',
          payload.steering_mode ?? 'one-at-a-time',
          payload.follow_up_mode ?? 'one-at-a-time',
          payload.approval_mode ?? 'ask',
          payload.when_detached ?? 'wait',
          payload.recovery ?? 'pause',
          payload.active_tools ? JSON.stringify(payload.active_tools) : null,
          Number(payload.one_off ?? false),
          payload.leaf_id ?? null,
          payload.leaf_id ?? null,
          pathCount,
          pathCount,
          atMs,
          atMs,
        );
      },
      /** `pathCount` is the path length of a new leaf. */
      update(payload: EventPayload<'session_update'>, pathCount: number | undefined, atMs: number): void {
        for (const [name, statement] of setters) {
          const value = payload[name];
          if (value !== undefined) statement.run(toColumn(value), payload.session_id);
        }
        if (pathCount !== undefined) setPathCount.run(pathCount, payload.session_id);
        touch.run(atMs, payload.session_id);
      },
      setPaused(id: string, paused: boolean): void {
        setPaused.run(Number(paused), id, Number(paused));
      },
      setCompaction(id: string, compaction: OpenCompaction | null): void {
        setCompaction.run(compaction && JSON.stringify(compaction), id);
      },
      setUsage(id: string, usage: Usage, contextLeftPercent: number | null): void {
        setUsage.run(JSON.stringify(usage), contextLeftPercent, id);
      },
      addMessage(id: string, leafId: string, lastUserText: string | undefined, atMs: number): void {
        countMessage.run(leafId, atMs, id);
        if (lastUserText !== undefined) setLastUser.run(lastUserText, id);
      },
    },
  };
}
export type SessionRows = ReturnType<typeof createSessionRows>;

/** The cursor for the page after a row. */
export function cursorAfter(row: SessionListRow | undefined): string | null {
  return row ? `${Date.parse(row.updated_at)}:${row.session_id}` : null;
}

function toColumn(value: string | boolean | string[] | null): string | number | null {
  if (Array.isArray(value)) return JSON.stringify(value);
  return typeof value === 'boolean' ? Number(value) : value;
}

function toSettings(row: SessionRecord): SessionSettings {
  return {
    id: row.id,
    parentId: row.parent_id,
    title: row.title,
    cwd: row.cwd,
    model: row.model,
    thinking: row.thinking,
    steeringMode: row.steering_mode,
    followUpMode: row.follow_up_mode,
    approvalMode: row.approval_mode,
    whenDetached: row.when_detached,
    recovery: row.recovery,
    activeTools: row.active_tools === null ? null : (JSON.parse(row.active_tools) as string[]),
    archived: row.archived === 1,
    oneOff: row.one_off === 1,
    deleting: row.deleting === 1,
    deleted: row.deleted === 1,
    leafId: row.leaf_id,
    paused: row.paused === 1,
    usage: row.usage === null ? null : (JSON.parse(row.usage) as Usage),
    contextLeftPercent: row.context_left_percent,
    compaction: row.compaction === null ? null : (JSON.parse(row.compaction) as OpenCompaction),
  };
}

function toListRow(row: ListRecord): SessionListRow {
  return {
    session_id: row.id,
    title: row.title,
    cwd: row.cwd,
    model: row.model,
    run_state: row.aborting === null ? 'idle' : row.aborting === 1 ? 'aborting' : 'running',
    last_outcome: row.last_outcome,
    paused: row.paused === 1,
    updated_at: new Date(row.updated_ms).toISOString(),
    message_count: row.message_count,
    last_user_message: row.last_user_text,
    first_user_message: row.first_user_text ?? '',
    archived: row.archived === 1,
    one_off: row.one_off === 1,
  };
}
