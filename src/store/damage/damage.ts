import { limits } from '../../protocol/limits.js';
import { StoreRefused } from '../faults.js';
import type { Database } from '../sqlite.js';

/** The database is berth's own, and is damaged. */
export class StoreDamaged extends Error {
  override name = 'StoreDamaged';
}

/** Whether SQLite found a damaged file, here or in a cause; not for one that was refused as no store of berth. */
export function isDamage(error: unknown): boolean {
  for (let at = error; at instanceof Error && !(at instanceof StoreRefused); at = at.cause) {
    if (at instanceof StoreDamaged || ('code' in at && /^SQLITE_(CORRUPT|NOTADB)/.test(String(at.code)))) return true;
  }
  return false;
}

/** Tables that every start reads; small also in a large store. */
const readAtStart = ['sqlite_schema', 'meta', 'session', 'run', 'tool_call', 'ui_request', 'permission', 'process'];

/**
 * Throws StoreDamaged for a damaged database. Without `inFull` the check is bounded: the whole file up to `checkedBytesMax`, only the tables
 * that every start reads beyond that.
 */
export function refuseDamage(db: Database, inFull: boolean): void {
  const found = findDamage(db, inFull);
  if (found !== undefined) throw new StoreDamaged(`${db.name} is damaged: ${found.replaceAll(/\s+/g, ' ')}`);
}

function findDamage(db: Database, inFull: boolean): string | undefined {
  try {
    const check = (pragma: string): string | undefined => {
      const found = db.pragma(pragma, { simple: true }) as string;
      return found === 'ok' ? undefined : found;
    };
    if (inFull) return check('integrity_check(1)');
    const bytes = (db.pragma('page_count', { simple: true }) as number) * (db.pragma('page_size', { simple: true }) as number);
    if (bytes <= limits.checkedBytesMax) return check('quick_check(1)');
    const tables = new Set(db.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all());
    for (const table of readAtStart.filter((name) => name === 'sqlite_schema' || tables.has(name))) {
      const found = check(`quick_check('${table}')`);
      if (found !== undefined) return found;
    }
    return undefined;
  } catch (error) {
    if (isDamage(error)) return (error as Error).message;
    throw error;
  }
}
