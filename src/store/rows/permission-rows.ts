import type { KeptRule, RuleScope } from '../../core/permissions.js';
import type { RuleRow } from '../../protocol/permissions.js';
import type { Database } from '../sqlite.js';

export interface PermissionRow extends KeptRule {
  by: string;
  atMs: number;
}

interface Row {
  no: number;
  workspace: string | null;
  session_id: string | null;
  rule: string;
  said_by: string;
  at_ms: number;
}

/** Permission rules, and trust in workspace configs. Callers own the transaction. */
export function createPermissionRows(db: Database) {
  const insert = db.prepare('INSERT INTO permission (no, workspace, session_id, rule, said_by, at_ms) VALUES (?, ?, ?, ?, ?, ?)');
  const remove = db.prepare<[number]>('DELETE FROM permission WHERE no = ?');
  const same = db
    .prepare<[string, string, string], number>(
      `SELECT no FROM permission WHERE coalesce(workspace, '') = ? AND coalesce(session_id, '') = ? AND rule = ?`,
    )
    .pluck();
  const byNo = db.prepare<[number], Row>('SELECT * FROM permission WHERE no = ?');
  const last = db.prepare<[], number>(`SELECT seq FROM sqlite_sequence WHERE name = 'permission'`).pluck();
  const all = db.prepare<[], Row>('SELECT * FROM permission ORDER BY no');
  const inForce = db.prepare<[string, string], Row>(
    `SELECT * FROM permission WHERE (session_id IS NULL AND workspace IS NULL) OR (session_id IS NULL AND workspace = ?) OR session_id = ?
     ORDER BY no`,
  );
  const count = db.prepare<[], number>('SELECT count(*) FROM permission').pluck();
  const trusted = db.prepare<[string, string], number>('SELECT trusted FROM trust WHERE workspace = ? AND digest = ?').pluck();
  const trust = db.prepare(
    `INSERT INTO trust (workspace, digest, trusted, said_by, at_ms) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (workspace, digest) DO UPDATE SET trusted = excluded.trusted, said_by = excluded.said_by, at_ms = excluded.at_ms`,
  );
  return {
    read: {
      all: (): PermissionRow[] => all.all().map(toPermission),
      /** The rules in force for a session in a workspace. */
      inForce: (workspace: string, sessionId: string): PermissionRow[] => inForce.all(workspace, sessionId).map(toPermission),
      count: (): number => count.get() ?? 0,
      /** The number of an equal rule. */
      find: (scope: RuleScope, rule: RuleRow): number | undefined =>
        same.get(scope.workspace ?? '', scope.sessionId ?? '', JSON.stringify(rule)),
      /** The highest number that any rule ever had: numbers are not reused. */
      last: (): number => last.get() ?? 0,
      get(no: number): PermissionRow | undefined {
        const row = byNo.get(no);
        return row && toPermission(row);
      },
      /** Undefined when nobody has decided about this digest yet. */
      isTrusted(workspace: string, digest: string): boolean | undefined {
        const trust = trusted.get(workspace, digest);
        return trust === undefined ? undefined : trust === 1;
      },
    },
    write: {
      add({ no, workspace, sessionId, rule }: KeptRule, by: string, atMs: number): void {
        insert.run(no, workspace, sessionId, JSON.stringify(rule), by, atMs);
      },
      remove(no: number): void {
        remove.run(no);
      },
      setTrust(workspace: string, digest: string, isTrusted: boolean, by: string, atMs: number): void {
        trust.run(workspace, digest, Number(isTrusted), by, atMs);
      },
    },
  };
}
export type PermissionRows = ReturnType<typeof createPermissionRows>;

function toPermission(row: Row): PermissionRow {
  const rule = JSON.parse(row.rule) as RuleRow;
  return { no: row.no, workspace: row.workspace, sessionId: row.session_id, rule, by: row.said_by, atMs: row.at_ms };
}
