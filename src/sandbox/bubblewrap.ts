import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { limits } from '../protocol/limits.js';
import type { Confinement } from './port.js';

/** What this machine's bubblewrap can do. */
export interface Bubblewrap {
  path: string;
  /** Commands can be kept from making user namespaces of their own. */
  disablesUserns: boolean;
  /** Directories can be handed over as descriptors, so that nobody can swap them meanwhile. */
  bindsDescriptors: boolean;
}
export type BubblewrapFound = Bubblewrap | { missing: string };

export interface BubblewrapOptions {
  /** Where it may be. Never a PATH: a repository could have put something there. */
  directories?: readonly string[];
  /** Nothing below these is ever started as a helper. */
  workspaces?: readonly string[];
}

const trustedDirectories = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin', '/run/wrappers/bin'];

/** Looks for bubblewrap and tries it out. */
export function findBubblewrap({ directories = trustedDirectories, workspaces = [] }: BubblewrapOptions = {}): BubblewrapFound {
  const path = directories.map((folder) => trustedFile(join(folder, 'bwrap'), workspaces)).find((found) => found !== undefined);
  if (path === undefined) return { missing: 'bubblewrap is not installed; the Debian package bubblewrap brings the sandbox.' };
  const help = tryOut(path, ['--help']).stdout;
  const bindsDescriptors = help.includes('--bind-fd');
  let why = '';
  for (const disablesUserns of help.includes('--disable-userns') ? [true, false] : [false]) {
    const found = { path, disablesUserns, bindsDescriptors };
    const { status, stderr } = tryOut(path, [
      ...toBubblewrapArgs(sample, { cwd: '/', bubblewrap: found }).args,
      '--',
      '/bin/sh',
      '-c',
      'exit 7',
    ]);
    if (status === 7) return found;
    why ||= stderr.trim().split('\n')[0]?.slice(0, limits.bubblewrapReasonCharsMax) ?? '';
  }
  return { missing: explain(path, why) };
}

/** The same, remembered: it is tried out once, and looked for again after a while if it did not work. */
export function createBubblewrap(options: BubblewrapOptions = {}, now = () => performance.now()): () => BubblewrapFound {
  let found: BubblewrapFound | undefined;
  let lookedMs = 0;
  return () => {
    if (found === undefined || ('missing' in found && now() - lookedMs >= limits.bubblewrapRetryMs)) {
      found = findBubblewrap(options);
      lookedMs = now();
    }
    return found;
  };
}

const sample: Confinement = { kind: 'sandbox', network: false, writable: [], readOnly: [], hidden: [] };

function tryOut(path: string, args: string[]): { status: number | null; stdout: string; stderr: string } {
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

function explain(path: string, why: string): string {
  const detail = why === '' ? '' : ` (${why})`;
  if (/namespace|uid map|gid map|No permissions/i.test(why))
    return (
      `${path} of the Debian package bubblewrap cannot make user namespaces${detail}; they are switched off on this machine: ` +
      'look at kernel.unprivileged_userns_clone, user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns.'
    );
  return `${path} of the Debian package bubblewrap does not work here${detail}; version 0.6 or newer is needed.`;
}

function trustedFile(path: string, workspaces: readonly string[]): string | undefined {
  const real = realPath(path);
  if (real === undefined || workspaces.some((folder) => isWithin(real, realPath(folder) ?? folder))) return undefined;
  const ours = [0, process.getuid?.() ?? 0];
  const safe = [real, dirname(real)].map((item) => statSync(item)).every(({ uid, mode }) => ours.includes(uid) && (mode & 0o022) === 0);
  return safe && statSync(real).isFile() ? real : undefined;
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

/** Undefined for what is not there, or cannot be looked at. */
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
  /** What is to be open as descriptors 3, 4 … of bubblewrap: whoever exchanges a name after that exchanges nothing in the sandbox. */
  pinned: string[];
  /** What an older bubblewrap binds by name, where it can be written: it has to be compared from inside before anything is run. */
  named: string[];
}

/**
 * The arguments of bubblewrap up to the command, which becomes process 1: when bubblewrap has exited, nothing of it is left.
 * Of two paths the deeper one wins; of the same path, hidden before read-only before writable. Everything runs with no_new_privs.
 * With the network on, abstract sockets (X11, some D-Bus) can be reached: they belong to the network namespace.
 */
export function toBubblewrapArgs(
  confinement: Confinement,
  { cwd, bubblewrap }: { cwd: string; bubblewrap: Pick<Bubblewrap, 'disablesUserns' | 'bindsDescriptors'> },
): BubblewrapArgs {
  const ends = ['--unshare-pid', '--die-with-parent', '--new-session', '--as-pid-1', '--chdir', cwd];
  if (confinement.kind !== 'sandbox') return { args: ['--dev-bind', '/', '/', '--proc', '/proc', ...ends], pinned: [], named: [] };
  const { mounts, pinned, named } = planMounts(confinement, cwd, bubblewrap.bindsDescriptors);
  const covers = mounts.filter(
    ({ kind, args, path }) => (kind === 'hidden' && args.includes('--tmpfs')) || path === '/dev' || path === '/run',
  );
  return {
    args: [
      ...['--unshare-user', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
      ...(confinement.network ? [] : ['--unshare-net']),
      ...(bubblewrap.disablesUserns ? ['--disable-userns'] : []),
      ...mounts.flatMap(({ args }) => args),
      // Last, because roots inside of what is covered still need their mount points.
      ...covers.flatMap(({ path }) => ['--remount-ro', path]),
      ...['--cap-drop', 'ALL'],
      ...ends,
    ],
    pinned,
    named,
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
  for (const path of ownedByRoot()) put('base', path, '--ro-bind', path);
  // Sockets of D-Bus, docker, X11 and agents live in these two.
  put('private', '/tmp', '--perms', '1777', '--size', String(limits.sandboxTmpBytesMax), '--tmpfs');
  if (realPath('/run') === '/run') put('private', '/run', '--size', String(limits.sandboxRunBytesMax), '--tmpfs');
  const resolver = confinement.network ? realPath('/etc/resolv.conf') : undefined;
  if (resolver !== undefined && nearest(resolver)?.kind === 'private') put('readOnly', resolver, '--ro-bind', resolver);

  for (const path of [...new Set([...confinement.writable, ...(confinement.gitWritable ?? [])])].sort()) {
    const real = realPath(path);
    // What was judged is a real path. By now a link stands there, or in its way: where that leads to was never judged.
    if (real !== undefined && real !== path) throw new Error(`${path} was just moved or replaced by a link; nothing was started.`);
    if (real !== undefined) put('writable', path, '--bind', path);
  }
  const hidden = realPaths(confinement.hidden);
  const covering = nearest(cwd);
  // A private directory stays private, even when the command is started in it: the real one has sockets.
  const isPrivate = covering?.kind === 'private' && covering.path !== cwd;
  const coversCwd = isPrivate || hidden.some((path) => path !== cwd && isWithin(cwd, path));
  // A directory that may only be read must be there all the same.
  if (coversCwd && covering?.kind !== 'writable' && !hidden.includes(cwd)) put('cwd', cwd, '--ro-bind', cwd);
  for (const path of realPaths(confinement.guarded ?? [])) if (nearest(path)?.kind === 'writable') put('guarded', path, '--ro-bind', path);
  for (const path of realPaths(confinement.readOnly)) if (nearest(path)?.kind === 'writable') put('readOnly', path, '--ro-bind', path);
  for (const path of hidden) {
    const kind = nearest(path)?.kind;
    // Nothing of the machine is to be seen in private directories and below what is hidden.
    if (kind === 'private' || kind === 'hidden') continue;
    // Sockets come and go.
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) put('hidden', path, '--tmpfs');
    else if (found) put('hidden', path, '--ro-bind', '/dev/null');
  }
  // What is protected could still be moved away with the directory that it is in, unless that is a mount point itself.
  const pinned: string[] = [];
  if (bindsDescriptors) {
    for (const { path, kind } of [...mounts.values()]) {
      if (kind !== 'readOnly' && kind !== 'hidden') continue;
      for (let at = dirname(path); nearest(at)?.kind === 'writable' && !mounts.has(at); at = dirname(at)) pinned.push(at);
    }
    for (const path of new Set(pinned)) put('pinned', path);
  }
  const ordered = [...mounts.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const opened = ordered.filter(({ kind }) => kind === 'writable' || kind === 'cwd');
  const pins = bindsDescriptors ? ordered.filter((mount) => mount.kind === 'pinned' || opened.includes(mount)) : [];
  for (const [i, mount] of pins.entries())
    mount.args = [mount.kind === 'cwd' ? '--ro-bind-fd' : '--bind-fd', String(firstPinned + i), mount.path];
  return { mounts: ordered, pinned: pins.map(({ path }) => path), named: bindsDescriptors ? [] : opened.map(({ path }) => path) };
}

const firstPinned = 3;

/** Of what is there; parents come before what is in them. */
export function realPaths(paths: readonly string[]): string[] {
  return [...new Set(paths.map(realPath).filter((path) => path !== undefined))].sort();
}

/**
 * Parts of /proc that are the machine's and not a process's. To the kernel, a command of root is root here even without
 * capabilities: it could set core_pattern and have a program of its own started outside.
 */
function ownedByRoot(): string[] {
  const names = readdirSync('/proc').filter((name) => !/^(\d+|self|thread-self|net|mounts)$/.test(name));
  return names
    .map((name) => join('/proc', name))
    .filter((path) => {
      const stat = lstatSync(path);
      return stat.isDirectory() || (stat.isFile() && (stat.mode & 0o222) !== 0);
    });
}
