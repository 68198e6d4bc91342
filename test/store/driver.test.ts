import { describe, expect, test } from 'vitest';
import { StoreRefused } from '../../src/store/faults.js';
import { findDriver } from '../../src/store/sqlite.js';

class Working {
  close(): void {}
}

class WithoutNativePart {
  constructor() {
    throw new Error('Could not locate the bindings file. Tried:\n → build/better_sqlite3.node\n → build/Debug/better_sqlite3.node');
  }
  close(): void {}
}

/** A `require` that finds these packages, and says of which it loaded the code. */
function installed(packages: Record<string, { version: string; Driver: unknown }>) {
  const loaded: string[] = [];
  const require = (path: string): unknown => {
    const name = path.replace('/package.json', '');
    const found = packages[name];
    if (!found) throw Object.assign(new Error(`Cannot find module '${path}'`), { code: 'MODULE_NOT_FOUND' });
    if (path.endsWith('.json')) return { version: found.version };
    loaded.push(`${name} ${found.version}`);
    return found.Driver;
  };
  return { require, loaded };
}

const old = { node: '20.20.2', napi: 9, arch: 'linux x64' };
const current = { node: '24.21.0', napi: 10, arch: 'linux x64' };
const v12 = { version: '12.11.1', Driver: Working };
const v13 = { version: '13.0.3', Driver: Working };

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(StoreRefused);
    return (error as Error).message;
  }
  throw new Error('a driver was loaded');
}

describe('the SQLite driver', () => {
  test.each([
    ['an old Node of an installed package', old, { 'better-sqlite3': v12 }, 'better-sqlite3 12.11.1'],
    ['a current Node of an installed package', current, { 'better-sqlite3': v13 }, 'better-sqlite3 13.0.3'],
    ['an old Node of a checkout', old, { 'better-sqlite3': v12, 'better-sqlite3-napi': v13 }, 'better-sqlite3 12.11.1'],
    ['a current Node of a checkout', current, { 'better-sqlite3': v12, 'better-sqlite3-napi': v13 }, 'better-sqlite3-napi 13.0.3'],
  ])('is the one for %s, and no other is loaded', (_whose, need, packages, expected) => {
    const { require, loaded } = installed(packages);
    expect(findDriver(require, need)).toBe(Working);
    expect(loaded).toEqual([expected]);
  });

  test.each([
    ['on an old Node', old, v13],
    ['on a current Node', current, v12],
  ])('that would end the process is not loaded (%s)', (_where, need, driver) => {
    const { require, loaded } = installed({ 'better-sqlite3': driver });
    expect(refusal(() => findDriver(require, need))).toContain(`version ${driver.version} is installed, which does not work with it`);
    expect(loaded).toEqual([]);
  });

  test('that was installed without its native part is refused in one paragraph, with the remedy', () => {
    const { require } = installed({ 'better-sqlite3': { version: '12.11.1', Driver: WithoutNativePart } });
    const said = refusal(() => findDriver(require, old));
    expect(said).toMatch(/better-sqlite3 12, on Node 20\.20\.2 \(linux x64\).*--ignore-scripts.*Node 22\.14/);
    expect(said).not.toContain('\n');
  });

  test('that is not installed is named, with the remedy', () => {
    const said = refusal(() => findDriver(installed({}).require, current));
    expect(said).toMatch(/better-sqlite3 13, on Node 24\.21\.0 .*it is not installed.*--omit=optional.*nothing is compiled/);
  });
});
