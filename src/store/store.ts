import { createAnchorRows } from './rows/anchor-rows.js';
import type { SessionState } from '../core/session.js';
import { createArtifactRows } from './rows/artifact-rows.js';
import { createAuditRows } from './rows/audit-rows.js';
import { createDraftRows } from './rows/draft-rows.js';
import { createEntryRows } from './rows/entry-rows.js';
import { createEventBodies } from './event-bodies.js';
import { createEventLog } from './event-log.js';
import { createInputRows } from './rows/input-rows.js';
import { createMetaRows } from './rows/meta-rows.js';
import { createPartialRows } from './rows/partial-rows.js';
import { createPermissionRows } from './rows/permission-rows.js';
import { createPromptRows } from './rows/prompt-rows.js';
import { createProcessRows } from './rows/process-rows.js';
import { createProjection } from './projection.js';
import { createRequestRows } from './rows/request-rows.js';
import { createRunRows } from './rows/run-rows.js';
import { createSearchRows } from './rows/search-rows.js';
import { createSessionRows } from './rows/session-rows.js';
import { createNamedCursorRows } from './named-cursor-rows.js';
import type { Database } from './sqlite.js';
import { createSweep } from './sweep.js';
import { createTodoRows } from './rows/todo-rows.js';
import { createTreeRows } from './rows/tree-rows.js';

/**
 * The readers and writers of all tables, over one connection. Writers are apart, in `write`, which only `engine/door/commit.ts` gets.
 */
export function createStore(db: Database, bootId: string) {
  const meta = createMetaRows(db);
  const sessions = createSessionRows(db);
  const entries = createEntryRows(db);
  const inputs = createInputRows(db);
  const runs = createRunRows(db);
  const requests = createRequestRows(db);
  const prompts = createPromptRows(db);
  const search = createSearchRows(db, meta, prompts.write);
  const permissions = createPermissionRows(db);
  const anchors = createAnchorRows(db);
  const partials = createPartialRows(db);
  const audit = createAuditRows(db);
  const drafts = createDraftRows(db);
  const namedCursors = createNamedCursorRows(db);
  const todos = createTodoRows(db);
  const processes = createProcessRows(db, bootId);
  const artifacts = createArtifactRows(db);
  const log = createEventLog(db, createEventBodies(entries.read, inputs.read), meta);
  const projected = {
    sessions: sessions.write,
    entries: entries.write,
    inputs: inputs.write,
    runs: runs.write,
    requests: requests.write,
    partials: partials.write,
    permissions: permissions.write,
    anchors: anchors.write,
  };
  return {
    db,
    bootId,
    isOpen: (): boolean => db.open,
    meta: meta.read,
    sessions: sessions.read,
    entries: entries.read,
    inputs: inputs.read,
    runs: runs.read,
    requests: requests.read,
    partials: partials.read,
    log: log.read,
    permissions: permissions.read,
    anchors: anchors.read,
    audit: audit.read,
    drafts: drafts.read,
    namedCursors: namedCursors.read,
    todos: todos.read,
    processes: processes.read,
    artifacts: artifacts.read,
    prompts: prompts.read,
    search: search.read,
    tree: createTreeRows(db),
    write: {
      ...projected,
      meta: meta.write,
      log: log.write,
      audit: audit.write,
      drafts: drafts.write,
      namedCursors: namedCursors.write,
      todos: todos.write,
      processes: processes.write,
      artifacts: artifacts.write,
      search: search.write,
      sweep: createSweep(db, search.write),
      project: createProjection({ ...projected, pathLength: entries.read.pathLength, paramsOf: requests.read.paramsOf }, bootId),
    },
    /** Undefined when there is no such session, or the session was deleted. */
    load(sessionId: string): SessionState | undefined {
      const settings = sessions.read.load(sessionId);
      if (!settings) return undefined;
      return {
        ...settings,
        inputs: inputs.read.waiting(sessionId),
        run: runs.read.active(sessionId),
        lastRun: runs.read.last(sessionId),
        requests: requests.read.open(sessionId),
      };
    },
  };
}
export type Store = ReturnType<typeof createStore>;

/** The writers of rows. Callers own the transaction. */
export type StoreWriters = Store['write'];

/** The store without writers, for everyone but `engine/door/commit.ts`. */
export type ReadStore = Omit<Store, 'db' | 'write'>;

/** Removes the writers and the connection from a store. */
export function toReadStore({ db: _db, write: _write, ...readers }: Store): ReadStore {
  return readers;
}
