import type { Database } from '../sqlite.js';
import { isDamage } from './damage.js';

export type Values = unknown[];

export interface TableRows {
  columns: string[];
  /** What can be read, in the order of the key. */
  rows: Iterable<Values>;
  /** Rows that could not be read, to be asked after `rows` has ended; at least that many where the damage leaves no count. */
  lost(): number;
}

/** Reads what can be read of a table of a damaged database. */
export function readDamagedTable(db: Database, table: string): TableRows {
  const info =
    orUndefined(() => db.prepare<[], { name: string; pk: number }>(`SELECT name, pk FROM pragma_table_info('${table}')`).all()) ?? [];
  const columns = info.map(({ name }) => name);
  const key = info.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
  const isWithoutRowid = orUndefined(() => db.prepare<[], number>(`SELECT wr FROM pragma_table_list('${table}')`).pluck().get()) === 1;
  const list = columns.map(quote).join(', ');
  let read = 0;
  let gaps = 0;
  const found = isWithoutRowid ? byKey(db, table, list, key.map(({ name }) => name), addGap) : byRowid(db, table, list, addGap); // prettier-ignore
  // An index that is whole still knows how many there were.
  const counted = orUndefined(() =>
    db
      .prepare<[], number>(`SELECT count(*) FROM ${quote(table)}`)
      .pluck()
      .get(),
  );

  function addGap(count: number): void {
    gaps += count;
  }

  function* count(): Generator<Values> {
    for (const row of found) {
      read++;
      yield row;
    }
  }
  return {
    columns,
    rows: columns.length === 0 ? [] : count(),
    lost: () => (gaps === 0 ? 0 : Math.max(1, (counted ?? read + gaps) - read)),
  };
}

/** Goes on after a damaged page: rows behind it are found by their rowid, in steps that double. */
function* byRowid(db: Database, table: string, list: string, onGap: (rows: number) => void): Generator<Values> {
  const from = orUndefined(() =>
    db.prepare<[number], Values>(`SELECT rowid, ${list} FROM ${quote(table)} WHERE rowid > ? ORDER BY rowid`).raw(),
  );
  if (!from) {
    onGap(1);
    return;
  }
  const probe = db.prepare<[number], number>(`SELECT rowid FROM ${quote(table)} WHERE rowid > ? ORDER BY rowid LIMIT 1`).pluck();
  const last =
    orUndefined(() =>
      db
        .prepare<[], number | null>(`SELECT max(rowid) FROM ${quote(table)}`)
        .pluck()
        .get(),
    ) ?? Number.MAX_SAFE_INTEGER;
  /** Whether what follows this rowid can be read, also when nothing does. */
  const canRead = (rowid: number): boolean => orUndefined(() => probe.get(rowid) ?? rowid) !== undefined;

  let at = 0;
  while (at < last) {
    try {
      for (const [rowid, ...values] of from.iterate(at)) {
        at = rowid as number;
        yield values;
      }
      return;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    const next = afterGap(at, last, canRead);
    onGap(next === undefined ? 1 : next - at);
    if (next === undefined) return;
    at = next;
  }
}

/** The first rowid from which rows can be read again; undefined when there is none. */
function afterGap(damagedAt: number, last: number, canRead: (rowid: number) => boolean): number | undefined {
  let damaged = damagedAt;
  for (let step = 1; damaged < last; step *= 2) {
    let readable = Math.min(damagedAt + step, last);
    if (!canRead(readable)) {
      damaged = readable;
      continue;
    }
    while (readable - damaged > 1) {
      const middle = Math.floor((damaged + readable) / 2);
      if (canRead(middle)) readable = middle;
      else damaged = middle;
    }
    return readable;
  }
  return undefined;
}

/** From both ends to the damage. */
function* byKey(db: Database, table: string, list: string, key: string[], onGap: (rows: number) => void): Generator<Values> {
  const columns = key.map(quote).join(', ');
  const places = key.map(() => '?').join(', ');
  const select = `SELECT ${columns}, ${list} FROM ${quote(table)}`;
  let last: Values | undefined;
  try {
    for (const row of db.prepare<[], Values>(`${select} ORDER BY ${columns}`).raw().iterate()) {
      last = row.slice(0, key.length);
      yield row.slice(key.length);
    }
    return;
  } catch (error) {
    if (!isDamage(error)) throw error;
    onGap(1);
  }
  const backwards = key.map((name) => `${quote(name)} DESC`).join(', ');
  try {
    const rest = db.prepare<Values, Values>(`${select} ${last ? `WHERE (${columns}) > (${places})` : ''} ORDER BY ${backwards}`).raw();
    for (const row of rest.iterate(...(last ?? []))) yield row.slice(key.length);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
}

export function quote(name: string): string {
  return `"${name}"`;
}

/** Undefined where the file is damaged. */
export function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}
