import { createAnchorRows } from './anchor-rows.js';
import type { SessionState } from '../core/session.js';
import { createArtifactRows } from './artifact-rows.js';
import { createAuditRows } from './audit-rows.js';
import { createEntryRows } from './entry-rows.js';
import { createEventBodies } from './event-bodies.js';
import { createEventLog } from './event-log.js';
import { createInputRows } from './input-rows.js';
import { createMetaRows } from './meta-rows.js';
import { createPartialRows } from './partial-rows.js';
import { createPermissionRows } from './permission-rows.js';
import { createProcessRows } from './process-rows.js';
import { createProjection } from './projection.js';
import { createRequestRows } from './request-rows.js';
import { createRunRows } from './run-rows.js';
import { createSearchRows } from './search-rows.js';
import { createSessionRows } from './session-rows.js';
import type { Database } from './sqlite.js';
import { createSweep } from './sweep.js';
import { createTodoRows } from './todo-rows.js';
import { createTreeRows } from './tree-rows.js';

/** All that is remembered, over one connection. Reading is free; writing goes through `engine/commit`. */
export function createStore(db: Database, bootId: string) {
  const meta = createMetaRows(db);
  const sessions = createSessionRows(db);
  const entries = createEntryRows(db);
  const inputs = createInputRows(db);
  const runs = createRunRows(db);
  const requests = createRequestRows(db);
  const search = createSearchRows(db, meta);
  const permissions = createPermissionRows(db);
  const anchors = createAnchorRows(db);
  const partials = createPartialRows(db);
  const log = createEventLog(db, createEventBodies(entries, inputs), meta);
  return {
    db,
    bootId,
    meta,
    sessions,
    entries,
    inputs,
    runs,
    requests,
    partials,
    log,
    permissions,
    anchors,
    audit: createAuditRows(db),
    todos: createTodoRows(db),
    processes: createProcessRows(db, bootId),
    artifacts: createArtifactRows(db),
    search,
    tree: createTreeRows(db),
    sweep: createSweep(db, search),
    project: createProjection({ sessions, entries, inputs, runs, requests, partials, permissions, anchors }, bootId),
    /** Undefined when there is no such session, or it was deleted. */
    load(sessionId: string): SessionState | undefined {
      const settings = sessions.load(sessionId);
      if (!settings) return undefined;
      return {
        ...settings,
        inputs: inputs.waiting(sessionId),
        run: runs.active(sessionId),
        lastRun: runs.last(sessionId),
        requests: requests.open(sessionId),
      };
    },
  };
}
export type Store = ReturnType<typeof createStore>;
