import { migrate, type Migration } from '../migrate.js';
import { markAsOwn } from '../database.js';
import { loadSqlite, type Database } from '../sqlite.js';
import { mendReferences } from './mend-references.js';
import { orUndefined, quote, readDamagedTable, type Values } from './read-damaged.js';

export interface Salvaged {
  sessions: number;
  messages: number;
  /** Rows of any kind that could not be read. */
  lost: number;
}

/** What a salvaged store remembers of where it comes from. */
export interface SalvageNote extends Salvaged {
  /** Where the damaged database is; its -wal and -shm are beside it, under the names that SQLite expects. */
  movedTo: string;
}

export function describeSalvage({ sessions, messages, lost, movedTo }: SalvageNote): string {
  const many = (count: number, what: string): string => `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
  const rest = lost === 0 ? 'nothing was lost' : `${lost.toLocaleString('en-US')} could not be read`;
  return `the store was damaged and is kept as ${movedTo}; salvaged ${many(sessions, 'session')}, ${many(messages, 'message')}; ${rest}`;
}

/**
 * Events are left behind: like events that were pruned they are not needed, and under a new log id all cursors expire. So are the words of
 * the search, which are found again, and pieces of the search's own.
 */
const leftBehind = /^(event|prompt|entry_search.*|sqlite_.*)$/;
const forgottenMeta = new Set(['log_id', 'log_floor', 'search_mark', 'salvage']);

/** Columns of JSON: damaged text must not reach a parser. */
const jsonColumns: Record<string, string[]> = {
  session: ['active_tools', 'usage', 'compaction'],
  entry: ['content', 'usage', 'details', 'compaction'],
  run: ['turn', 'error', 'usage', 'usage_before'],
  tool_call: ['args'],
  input: ['images'],
  input_text: ['content'],
  ui_request: ['params', 'result'],
  permission: ['rule'],
  todo: ['items'],
};

/**
 * Copies what can be read of a damaged database into a new one at `path`, of the newest version. Returns what became of it, and the names of
 * the artifact files that the new one knows.
 */
export function salvageInto(path: string, damagedPath: string, migrations: Migration[]): { note: SalvageNote; files: Set<string> } {
  const Sqlite = loadSqlite();
  const damaged = new Sqlite(damagedPath, { readonly: true });
  const db = new Sqlite(path);
  try {
    damaged.pragma('foreign_keys = OFF');
    damaged.pragma('trusted_schema = OFF');
    db.pragma('synchronous = FULL');
    markAsOwn(db);
    db.pragma('foreign_keys = OFF');
    const version = orUndefined(() => damaged.pragma('user_version', { simple: true }) as number) ?? 0;
    migrate(db, migrations.slice(0, version));
    const seqMax = orUndefined(() => newestSeq(damaged)) ?? 0;
    const tables = db.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid`).pluck().all();
    let lost = tables.length === 0 ? 1 : 0;
    for (const table of tables.filter((name) => !leftBehind.test(name))) lost += db.transaction(() => copyTable(damaged, db, table))();
    migrate(db, migrations);
    db.transaction(() => mendReferences(db, { seqMax, isIncomplete: lost > 0 }))();
    db.pragma('foreign_keys = ON');
    const count = (sql: string): number => db.prepare<[], number>(sql).pluck().get() ?? 0;
    const sessions = count('SELECT count(*) FROM session WHERE deleted = 0');
    const note = { movedTo: damagedPath, sessions, messages: count('SELECT count(*) FROM entry'), lost };
    db.prepare(`INSERT OR REPLACE INTO meta (key, value) VALUES ('salvage', ?)`).run(JSON.stringify(note));
    return { note, files: new Set(db.prepare<[], string>('SELECT file FROM artifact WHERE file IS NOT NULL').pluck().all()) };
  } finally {
    db.close();
    damaged.close();
  }
}

/** Returns how many rows were lost. */
function copyTable(damaged: Database, db: Database, table: string): number {
  const { columns, rows, lost } = readDamagedTable(damaged, table);
  if (columns.length === 0) return 1;
  const places = columns.map(() => '?').join(', ');
  const insert = db.prepare(`INSERT OR IGNORE INTO ${quote(table)} (${columns.map(quote).join(', ')}) VALUES (${places})`);
  const json = (jsonColumns[table] ?? []).map((name) => columns.indexOf(name)).filter((at) => at >= 0);
  let refused = 0;
  for (const row of rows) {
    if (table === 'meta' && forgottenMeta.has(String(row[0]))) continue;
    for (const at of json) if (!isJson(row[at])) row[at] = null;
    if (!insertRow(row)) refused++;
  }
  return refused + lost();

  function insertRow(row: Values): boolean {
    try {
      return insert.run(...row).changes === 1;
    } catch (error) {
      // A damaged value of another type than its column has.
      if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_CONSTRAINT')) return false;
      throw error;
    }
  }
}

function isJson(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== 'string') return false;
  try {
    JSON.parse(value);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Clients and rows know positions of the log: no position is used again. */
function newestSeq(damaged: Database): number {
  const sources = [
    'SELECT max(seq) FROM event',
    `SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'log_floor'`,
    'SELECT max(max(started_seq), coalesce(max(ended_seq), 0)) FROM run',
    'SELECT max(ack_seq) FROM input',
  ];
  const found = sources.map((sql) => orUndefined(() => damaged.prepare<[], number | null>(sql).pluck().get()) ?? 0);
  return Math.max(...found);
}
