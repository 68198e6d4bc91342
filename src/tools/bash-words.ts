import { limits } from '../protocol/limits.js';
import type { HeldCode } from './late-code.js';
import type { Confinement } from './port.js';
import type { Excess } from './process-watch.js';
import type { Exit } from './processes.js';

export function describeExit({ code, signal, held }: Exit): string {
  const end = signal === null ? `exit code ${code}` : `exit code ${code}, ${signal}`;
  return [end, ...describeHeld(held)].join('; ');
}

/** Names are shown without what a terminal would act on. */
export function describeHeld({ renamed, stuck, isPartial }: HeldCode): string[] {
  return [
    ...(renamed.length === 0
      ? []
      : [`programs would run it later, so it was renamed to ${named(renamed)}; write it with write, and the person is asked`]),
    ...(stuck.length === 0 ? [] : [`programs would run ${named(stuck)} later, and it could not be renamed: look at it first`]),
    ...(isPartial ? ['it made so many files that not all could be looked at: there may be some that programs would run later'] : []),
  ];
}

function named(paths: string[]): string {
  const told = paths.slice(0, limits.lateCodeToldPathsMax).map((path) => JSON.stringify(path));
  return paths.length > told.length ? `${told.join(', ')} and ${paths.length - told.length} more` : told.join(', ');
}

const bytesPerMb = 1024 * 1024;

/** Why a command was ended that took too much, and what would let it. */
export function describeExcess({ what, most }: Excess): string {
  if (what === 'processes') return `ended: it had more than ${most} processes at once; limits.command_processes in config.json allows more`;
  return `ended: it took more than ${Math.round(most / bytesPerMb)} MB of memory; limits.command_memory_mb in config.json allows more`;
}

const noNetwork =
  /Network is unreachable|Could not resolve host|Temporary failure in name resolution|Name or service not known|ENETUNREACH|EAI_AGAIN|ENOTFOUND|Couldn't connect to server|Could not connect to|connection refused/i;
const noWriting = /Read-only file system|EROFS|Device or resource busy/i;
const noPermission = /Permission denied|Operation not permitted|EACCES|EPERM|no new privileges|No space left on device/i;

/** A line for the model when what went wrong looks like the sandbox; empty otherwise. */
export function sandboxHint(output: string, { kind, network }: Confinement): string {
  if (kind !== 'sandbox') return '';
  if (!network && noNetwork.test(output)) return hint('has no network', 'network: true');
  if (noWriting.test(output)) return hint('may write to the working directory and /tmp only', 'unsandboxed: true');
  if (noPermission.test(output)) return hint('may not do everything', 'unsandboxed: true');
  return '';
}

function hint(what: string, argument: string): string {
  return `[it ran in a sandbox that ${what}; ${argument} asks the person for more]`;
}
