import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempDir extends Disposable {
  readonly path: string;
  file(name: string): string;
}

/** A directory that is gone when the test is over. */
export function makeTempDir(): TempDir {
  const path = mkdtempSync(join(tmpdir(), 'berth-dir-'));
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
