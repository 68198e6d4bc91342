import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The built program where every user of this machine can read and run it, wherever the checkout and Node lie. */
export interface ReadableProgram extends Disposable {
  /** The Node to run it with. */
  readonly node: string;
  readonly program: string;
}

const project = fileURLToPath(new URL('../..', import.meta.url));
const bundledParts = ['bin', 'dist', 'package.json'];
/** What the bundle leaves outside and loads when it starts. */
const startupPackages = ['better-sqlite3', 'better-sqlite3-napi'];

/** Copies the program: a checkout in a home directory with mode 0700 is closed to a daemon that is started as another user. */
export function copyReadableProgram(): ReadableProgram {
  const root = mkdtempSync(join(publicTempDir(), 'berth-program-'));
  for (const part of bundledParts) cpSync(join(project, part), join(root, part), { recursive: true });
  for (const name of withDependencies(startupPackages)) {
    cpSync(join(project, 'node_modules', name), join(root, 'node_modules', name), { recursive: true, dereference: true });
  }
  const node = isOpenToOthers(process.execPath) ? process.execPath : join(root, 'node');
  if (node !== process.execPath) copyFileSync(process.execPath, node);
  openToOthers(root);
  return {
    node,
    program: join(root, 'bin', 'berth.js'),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** A directory for temporary files that other users can reach: that of a login session may be private. */
export function publicTempDir(): string {
  return isOpenToOthers(tmpdir()) ? tmpdir() : '/tmp';
}

function isOpenToOthers(path: string): boolean {
  for (let at = realpathSync(path); ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (dirname(at) === at) return true;
  }
}

/** Files keep the modes of a checkout that was made with umask 077. */
function openToOthers(root: string): void {
  chmodSync(root, 0o755);
  for (const item of readdirSync(root, { recursive: true, withFileTypes: true })) chmodSync(join(item.parentPath, item.name), 0o755);
}

/** Installed packages, and those that they depend on. */
function withDependencies(names: string[]): string[] {
  const found = new Set<string>();
  const left = [...names];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    const manifest = join(project, 'node_modules', name, 'package.json');
    if (found.has(name) || !existsSync(manifest)) continue;
    found.add(name);
    left.push(...Object.keys((JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies?: object }).dependencies ?? {}));
  }
  return [...found];
}
