import type { Confinement } from './port.js';
import type { Exit } from './processes.js';

export function describeExit({ code, signal, held }: Exit): string {
  const end = signal === null ? `exit code ${code}` : `exit code ${code}, ${signal}`;
  return held.length === 0 ? end : `${end}; ${sayHeld(held)}`;
}

/** Names are shown without what a terminal would act on. */
function sayHeld(held: string[]): string {
  const names = held.map((path) => JSON.stringify(path)).join(', ');
  return `programs would run it later, so it was renamed to ${names}; write it with write, and the person is asked`;
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
