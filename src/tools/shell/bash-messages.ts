import { basename, dirname } from 'node:path';
import { limits } from '../../protocol/limits.js';
import { shownPath } from '../files/file-paths.js';
import type { Confinement } from '../../sandbox/port.js';
import type { Excess } from '../../sandbox/resource-limits.js';
import type { Exit } from '../../sandbox/port.js';

export function describeExit({ code, signal }: Exit): string {
  return signal === null ? `exit code ${code}` : `exit code ${code}, ${signal}`;
}

/** A line for the model and the person about new autorun files, which programs run or agents follow later; empty when there are none. */
export function describeNewAutorun({ newAutorun }: Exit, cwd: string): string {
  if (newAutorun.length === 0) return '';
  return `[while the command ran, ${listPaths(newAutorun, cwd)} appeared or changed, which programs run or agents follow later without asking: tell the person]`;
}

function listPaths(paths: readonly string[], cwd: string): string {
  const listed = paths.slice(0, limits.autorunToldPathsMax).map((path) => shownPath(path, cwd));
  return paths.length > listed.length ? `${listed.join(', ')} and ${paths.length - listed.length} more` : listed.join(', ');
}

const bytesPerMb = 1024 * 1024;

/** Which resource limit a killed command exceeded, and the setting that raises the limit. */
export function describeExcess({ resource, limit }: Excess): string {
  if (resource === 'processes')
    return `ended: it had more than ${limit} processes at once; limits.command_processes in config.json allows more`;
  return `ended: it took more than ${Math.round(limit / bytesPerMb)} MB of memory; limits.command_memory_mb in config.json allows more`;
}

/** Network errors of package managers, git, curl and standard libraries; texts that nothing but a network failure produces. */
const noNetwork = new RegExp(
  [
    "network is unreachable|no route to host|connection refused|could ?n[o']t connect to|failed to connect to|unable to connect to",
    "could ?n[o']t resolve|temporary failure (?:in name resolution|resolving)|name or service not known|nodename nor servname provided",
    'unable to resolve host|unknown ?host|no such host|failed to lookup address|getaddrinfo|name resolution (?:failed|failure|error)',
    'ENETUNREACH|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT|ECONNREFUSED',
    'trouble with your network connection|spurious network error|error sending request|dial tcp|cannot initiate the connection',
    'failed to establish a new connection|max retries exceeded|urlopen error|fetch failed|failed to fetch|socket\\.gaierror',
    'could not find a version that satisfies the requirement',
  ].join('|'),
  'i',
);
const noWriting = /Read-only file system|EROFS|Device or resource busy|EBUSY/i;
/** The error of a program that could not write a file (EROFS, EBUSY); hardly anything else prints such a line. */
const couldNotWrite = /: (?:Read-only file system|Device or resource busy)\r?$/m;
const noPermission = /Permission denied|Operation not permitted|EACCES|EPERM|no new privileges|No space left on device/i;

export interface Sandboxed {
  cwd: string;
  confinement: Confinement;
  /** Paths that were read-only for the command. */
  readOnly: readonly string[];
}

/**
 * A hint for the model when the output looks like a failure caused by the sandbox; empty otherwise. The exit code may be 0 all the same:
 * `git checkout` succeeds when it cannot replace a file.
 */
export function sandboxHint(output: string, { code }: Exit, { cwd, confinement: { kind, network }, readOnly }: Sandboxed): string {
  if (kind !== 'sandbox') return '';
  const refused = refusedIn(output, readOnly);
  if (refused.length > 0)
    return (
      `[read-only for commands, because programs run it later or a rule says so: ${listPaths(refused, cwd)}. What the command wanted to change ` +
      'there is as it was: compare git status before a commit. Use write or edit, or unsandboxed: true; the person is asked]'
    );
  if (code !== 0 && !network && noNetwork.test(output)) return hint('has no network', 'network: true');
  if (code === 0 ? couldNotWrite.test(output) : noWriting.test(output))
    return hint('may write to the working directory and /tmp only, and not what programs run later', 'unsandboxed: true');
  if (code !== 0 && noPermission.test(output)) return hint('may not do everything', 'unsandboxed: true');
  return '';
}

/** The read-only paths that occur in lines about failed writes. */
function refusedIn(output: string, readOnly: readonly string[]): string[] {
  const lines = output.split('\n').filter((line) => noWriting.test(line));
  if (lines.length === 0) return [];
  return readOnly.filter((path) => {
    const last = basename(path);
    // A bare `hooks` is ambiguous: match it with its parent directory.
    const name = last.startsWith('.') ? last : `${basename(dirname(path))}/${last}`;
    return lines.some((line) => mentions(line, name));
  });
}

function mentions(line: string, name: string): boolean {
  const at = line.indexOf(name);
  return at >= 0 && !/[\w.-]/.test(`${line[at - 1] ?? ' '}${line[at + name.length] ?? ' '}`);
}

function hint(what: string, argument: string): string {
  return `[it ran in a sandbox that ${what}; ${argument} asks the person for more]`;
}
