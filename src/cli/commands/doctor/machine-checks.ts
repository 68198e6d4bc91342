import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fail, ok, warn, type Finding } from './finding.js';

const tuning = {
  nodeMin: { major: 20, minor: 19 },
  /** Enough for a hundred clients beside models and tools. */
  descriptorsMin: 1_024,
  inodesMin: 1_000,
  /** Below this the store soon refuses to write. */
  diskBytesMin: 50 * 1024 * 1024,
  /** Below this a few long outputs can fill the disk: artifacts alone may take 512 MB. */
  diskLowBytes: 1024 * 1024 * 1024,
  /** No clock of a machine that runs this program is earlier. */
  clockYearMin: 2026,
} as const;
const megabyte = 1024 * 1024;

/** What berth needs of this computer. */
export function checkMachine(stateDir: string): Finding[] {
  return [checkNode(process.versions.node), checkProc(), checkDescriptors(), checkClock(new Date()), checkDisk(stateDir)].flat();
}

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const { nodeMin } = tuning;
  const isOld = major < nodeMin.major || (major === nodeMin.major && minor < nodeMin.minor);
  return isOld
    ? fail('node', `${version} is too old: berth needs ${nodeMin.major}.${nodeMin.minor} or newer`, 'install a newer Node.js')
    : ok('node', version);
}

function checkProc(): Finding[] {
  if (process.platform === 'linux' && existsSync('/proc/self/stat')) return [];
  return [fail('system', 'berth needs Linux with /proc: without it no process can be told from another')];
}

function checkDescriptors(): Finding[] {
  const line = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  if (line === undefined || line === 'unlimited' || Number(line) >= tuning.descriptorsMin)
    return [ok('open files', `${line ?? '?'} at once`)];
  return [warn('open files', `only ${line} at once: fewer clients and tools are served`, `ulimit -n ${tuning.descriptorsMin}`)];
}

function checkClock(now: Date): Finding {
  return now.getUTCFullYear() < tuning.clockYearMin
    ? fail('clock', `it says ${now.toISOString()}: keys and certificates are refused with a wrong clock`, 'timedatectl set-ntp true')
    : ok('clock', now.toISOString());
}

/** Space and inodes where the store is, or will be. */
export function checkDisk(stateDir: string): Finding {
  let dir = stateDir;
  while (!existsSync(dir) && dirname(dir) !== dir) dir = dirname(dir);
  const { bavail, bsize, ffree, files } = statfsSync(dir);
  const free = bavail * bsize;
  const said = `${Math.floor(free / megabyte).toLocaleString('en-US')} MB free for ${stateDir}`;
  const remedy = 'free some space, or move the state with BERTH_STATE_DIR';
  if (files > 0 && ffree < tuning.inodesMin) return fail('disk', `only ${ffree} inodes are left for ${stateDir}`, remedy);
  if (free < tuning.diskBytesMin) return fail('disk', `${said}: nothing can be kept when it is full`, remedy);
  return free < tuning.diskLowBytes ? warn('disk', said, remedy) : ok('disk', said);
}
