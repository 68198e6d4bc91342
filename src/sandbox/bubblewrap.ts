import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { limits } from '../protocol/limits.js';
import type { Confinement } from './port.js';

/** The features of this machine's bubblewrap. */
export interface Bubblewrap {
  path: string;
  /** Has `--disable-userns`: commands cannot create nested user namespaces. */
  disablesUserns: boolean;
  /** Has `--bind-fd`: directories are bound by file descriptor, which prevents a TOCTOU race. */
  bindsDescriptors: boolean;
}
export type BubblewrapFound = Bubblewrap | { missing: string };

export interface BubblewrapOptions {
  /** Directories to search for bwrap. Never PATH: a repository could have put a program there. */
  directories?: readonly string[];
  /** A bwrap below these directories is never used. */
  workspaces?: readonly string[];
}

const trustedDirectories = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin', '/run/wrappers/bin'];

/** Finds bubblewrap and probes its features by starting a sandbox. */
export function findBubblewrap({ directories = trustedDirectories, workspaces = [] }: BubblewrapOptions = {}): BubblewrapFound {
  const path = directories.map((folder) => trustedFile(join(folder, 'bwrap'), workspaces)).find((found) => found !== undefined);
  if (path === undefined)
    return { missing: 'bubblewrap (bwrap) is not installed; install the package bubblewrap to run commands in a sandbox.' };
  const help = probe(path, ['--help']).stdout;
  const bindsDescriptors = help.includes('--bind-fd');
  let why = '';
  for (const disablesUserns of help.includes('--disable-userns') ? [true, false] : [false]) {
    const found = { path, disablesUserns, bindsDescriptors };
    const { status, stderr } = probe(path, [
      ...toBubblewrapArgs(sample, { cwd: '/', bubblewrap: found }).args,
      '--',
      '/bin/sh',
      '-c',
      'exit 7',
    ]);
    if (status === 7) return found;
    why ||= stderr.trim().split('\n')[0]?.slice(0, limits.bubblewrapReasonCharsMax) ?? '';
  }
  return { missing: explainFailure(path, why) };
}

/** Caches the result of `findBubblewrap`; a failure is probed again after `bubblewrapRetryMs`. */
export function createBubblewrap(options: BubblewrapOptions = {}, now = () => performance.now()): () => BubblewrapFound {
  let found: BubblewrapFound | undefined;
  let probedMs = 0;
  return () => {
    if (found === undefined || ('missing' in found && now() - probedMs >= limits.bubblewrapRetryMs)) {
      found = findBubblewrap(options);
      probedMs = now();
    }
    return found;
  };
}

const sample: Confinement = { kind: 'sandbox', network: false, writable: [], readOnly: [], hidden: [] };

function probe(path: string, args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr, error } = spawnSync(path, args, {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: limits.bubblewrapProofMs,
    killSignal: 'SIGKILL',
  });
  return error ? { status: null, stdout: '', stderr: error.message } : { status, stdout, stderr };
}

function explainFailure(path: string, why: string): string {
  const detail = why === '' ? '' : ` (${why})`;
  if (/namespace|uid map|gid map|No permissions/i.test(why))
    return (
      `${path} of the package bubblewrap cannot make user namespaces${detail}; they are switched off on this machine: ` +
      'look at kernel.unprivileged_userns_clone, user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns.'
    );
  return `${path} of the package bubblewrap does not work here${detail}; version 0.6 or newer is needed.`;
}

function trustedFile(path: string, workspaces: readonly string[]): string | undefined {
  const real = realPath(path);
  if (real === undefined || workspaces.some((folder) => isWithin(real, realPath(folder) ?? folder))) return undefined;
  const trustedUids = [0, process.getuid?.() ?? 0];
  const safe = [real, dirname(real)]
    .map((item) => statSync(item))
    .every(({ uid, mode }) => trustedUids.includes(uid) && (mode & 0o022) === 0);
  return safe && statSync(real).isFile() ? real : undefined;
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

/** Undefined when the path does not exist or may not be resolved. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

interface Mount {
  path: string;
  kind: 'base' | 'private' | 'writable' | 'readOnly' | 'guarded' | 'hidden' | 'pinned' | 'cwd';
  args: string[];
}

export interface BubblewrapArgs {
  args: string[];
  /** Paths to open as descriptors 3, 4 … of bubblewrap: a rename after that changes nothing in the sandbox. */
  pinned: string[];
  /** Writable paths that a bubblewrap without `--bind-fd` binds by name: device and inode are compared inside before the command runs. */
  boundByName: string[];
}

/**
 * The arguments of bubblewrap up to the command, which becomes pid 1 of its namespace, so that the kernel kills all processes with it.
 * Of two mounts the deeper path wins; of the same path, hidden before read-only before writable. bubblewrap sets no_new_privs.
 * With the network on, abstract sockets (X11, some D-Bus) can be reached: they belong to the network namespace.
 */
export function toBubblewrapArgs(
  confinement: Confinement,
  { cwd, bubblewrap }: { cwd: string; bubblewrap: Pick<Bubblewrap, 'disablesUserns' | 'bindsDescriptors'> },
): BubblewrapArgs {
  const lifetimeArgs = ['--unshare-pid', '--die-with-parent', '--new-session', '--as-pid-1', '--chdir', cwd];
  if (confinement.kind !== 'sandbox')
    return { args: ['--dev-bind', '/', '/', '--proc', '/proc', ...lifetimeArgs], pinned: [], boundByName: [] };
  const { mounts, pinned, boundByName } = planMounts(confinement, cwd, bubblewrap.bindsDescriptors);
  const covers = mounts.filter(
    ({ kind, args, path }) => (kind === 'hidden' && args.includes('--tmpfs')) || path === '/dev' || path === '/run',
  );
  return {
    args: [
      ...['--unshare-user', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
      ...(confinement.network ? [] : ['--unshare-net']),
      ...(bubblewrap.disablesUserns ? ['--disable-userns'] : []),
      ...mounts.flatMap(({ args }) => args),
      // Remounted last, because writable roots below a tmpfs still need their mount points.
      ...covers.flatMap(({ path }) => ['--remount-ro', path]),
      ...['--cap-drop', 'ALL'],
      ...lifetimeArgs,
    ],
    pinned,
    boundByName,
  };
}

function planMounts(confinement: Confinement, cwd: string, bindsDescriptors: boolean): Omit<BubblewrapArgs, 'args'> & { mounts: Mount[] } {
  const mounts = new Map<string, Mount>();
  const put = (kind: Mount['kind'], path: string, ...args: string[]): unknown => mounts.set(path, { path, kind, args: [...args, path] });
  const nearest = (path: string): Mount | undefined => {
    for (let at = path; ; at = dirname(at)) {
      const mount = mounts.get(at);
      if (mount !== undefined || at === '/') return mount;
    }
  };

  put('base', '/', '--ro-bind', '/');
  put('private', '/dev', '--dev');
  put('private', '/dev/shm', '--perms', '1777', '--size', String(limits.sandboxShmBytesMax), '--tmpfs');
  put('private', '/proc', '--proc');
  for (const path of listMachineProcPaths()) put('base', path, '--ro-bind', path);
  // /tmp and /run have the sockets of D-Bus, docker, X11 and ssh-agent.
  put('private', '/tmp', '--perms', '1777', '--size', String(limits.sandboxTmpBytesMax), '--tmpfs');
  if (realPath('/run') === '/run') put('private', '/run', '--size', String(limits.sandboxRunBytesMax), '--tmpfs');
  const resolver = confinement.network ? realPath('/etc/resolv.conf') : undefined;
  if (resolver !== undefined && nearest(resolver)?.kind === 'private') put('readOnly', resolver, '--ro-bind', resolver);

  for (const path of [...new Set([...confinement.writable, ...(confinement.gitWritable ?? [])])].sort()) {
    const real = realPath(path);
    // The policy judged a real path. A symlink that stands there now (TOCTOU race) leads to a path that was never judged.
    if (real !== undefined && real !== path)
      throw new Error(`${path} was just moved or replaced by a symbolic link; nothing was started. Try again.`);
    if (real !== undefined) put('writable', path, '--bind', path);
  }
  const hidden = realPaths(confinement.hidden);
  const covering = nearest(cwd);
  // A private tmpfs stays private, even when it is the working directory: the real directory has sockets.
  const isPrivate = covering?.kind === 'private' && covering.path !== cwd;
  const coversCwd = isPrivate || hidden.some((path) => path !== cwd && isWithin(cwd, path));
  // A working directory that a mount would hide is bound read-only.
  if (coversCwd && covering?.kind !== 'writable' && !hidden.includes(cwd)) put('cwd', cwd, '--ro-bind', cwd);
  for (const path of realPaths(confinement.guarded ?? [])) if (nearest(path)?.kind === 'writable') put('guarded', path, '--ro-bind', path);
  for (const path of realPaths(confinement.readOnly)) if (nearest(path)?.kind === 'writable') put('readOnly', path, '--ro-bind', path);
  for (const path of hidden) {
    const kind = nearest(path)?.kind;
    // Private and hidden directories are empty tmpfs mounts already.
    if (kind === 'private' || kind === 'hidden') continue;
    // A socket may have been deleted meanwhile.
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) put('hidden', path, '--tmpfs');
    else if (found) put('hidden', path, '--ro-bind', '/dev/null');
  }
  // A protected path could be moved away with its parent directory, unless the parent is a mount point as well.
  const pinned: string[] = [];
  if (bindsDescriptors) {
    for (const { path, kind } of [...mounts.values()]) {
      if (kind !== 'readOnly' && kind !== 'hidden') continue;
      for (let at = dirname(path); nearest(at)?.kind === 'writable' && !mounts.has(at); at = dirname(at)) pinned.push(at);
    }
    for (const path of new Set(pinned)) put('pinned', path);
  }
  const ordered = [...mounts.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const ownMounts = ordered.filter(({ kind }) => kind === 'writable' || kind === 'cwd');
  const pins = bindsDescriptors ? ordered.filter((mount) => mount.kind === 'pinned' || ownMounts.includes(mount)) : [];
  for (const [i, mount] of pins.entries())
    mount.args = [mount.kind === 'cwd' ? '--ro-bind-fd' : '--bind-fd', String(firstPinned + i), mount.path];
  return { mounts: ordered, pinned: pins.map(({ path }) => path), boundByName: bindsDescriptors ? [] : ownMounts.map(({ path }) => path) };
}

const firstPinned = 3;

/** Real paths of those that exist, parents before children. */
export function realPaths(paths: readonly string[]): string[] {
  return [...new Set(paths.map(realPath).filter((path) => path !== undefined))].sort();
}

/**
 * The parts of /proc that belong to the machine, not to a process. A command of root may write these even without capabilities: by setting
 * core_pattern it could start a program outside of the sandbox.
 */
function listMachineProcPaths(): string[] {
  const names = readdirSync('/proc').filter((name) => !/^(\d+|self|thread-self|net|mounts)$/.test(name));
  return names
    .map((name) => join('/proc', name))
    .filter((path) => {
      const stat = lstatSync(path);
      return stat.isDirectory() || (stat.isFile() && (stat.mode & 0o222) !== 0);
    });
}
