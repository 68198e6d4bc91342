import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownerOnly } from '../machine/atomic-file.js';
import { readSmallText } from '../machine/bounded-read.js';
import { isSystemError } from '../machine/system-calls.js';
import { limits } from '../protocol/limits.js';
import type { TuiOptions } from '../tui/main.js';

type MemoryFile = TuiOptions['memoryFile'];
type Remembered = ReturnType<MemoryFile['load']>;

/**
 * What screens remember, in `screen.json` of the state directory. The last one to leave wins; a file that cannot be read or written is as
 * good as none, because nothing of a session is in it.
 */
export function createScreenFile(stateDir: string): MemoryFile {
  const file = join(stateDir, 'screen.json');
  let known: Remembered | undefined;
  return {
    load() {
      known ??= toRemembered(readSmallText(file, { bytesMax: limits.screenFileBytesMax, followLinks: true }) ?? '');
      return known;
    },
    save(remembered) {
      known = remembered;
      try {
        mkdirSync(stateDir, { recursive: true, mode: 0o700 });
        writeFileSync(`${file}.${process.pid}.tmp`, JSON.stringify(remembered), { mode: ownerOnly });
        renameSync(`${file}.${process.pid}.tmp`, file);
      } catch (error) {
        // Race: the state directory was removed, or there is no room.
        if (!isSystemError(error)) throw error;
      }
    },
  };
}

function toRemembered(text: string): Remembered {
  const { folds, seen } = toRecord(parse(text));
  const isSeen = (value: unknown): value is { seq: number; atMs: number } => {
    const { seq, atMs } = toRecord(value);
    return typeof seq === 'number' && typeof atMs === 'number';
  };
  return {
    folds: Object.fromEntries(Object.entries(toRecord(folds)).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean')),
    seen: Object.fromEntries(
      Object.entries(toRecord(seen)).filter((entry): entry is [string, { seq: number; atMs: number }] => isSeen(entry[1])),
    ),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
