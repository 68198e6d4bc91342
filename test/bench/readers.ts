import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { stopper } from './processes.js';

interface Wanted {
  socket: string;
  count: number;
  /** They are spread over these. */
  sessionIds: readonly string[];
  /** The type of the event after which nothing more is expected. */
  last: string;
  /** Where the lines go that one of them is sent. */
  recordFile: string;
}

export interface Readers extends AsyncDisposable {
  /** Resolves when everyone has the last event. */
  done: Promise<unknown>;
}

/** Subscribers to sessions, in a process of their own; resolves when all of them are heard. */
export async function startReaders({ socket, count, sessionIds, last, recordFile }: Wanted): Promise<Readers> {
  const file = fileURLToPath(new URL('reading-clients.js', import.meta.url));
  const child = fork(file, [socket, String(count), sessionIds.join(), last, recordFile], { execArgv: [] });
  const dispose = stopper(child);
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the readers ended')));
  ended.catch(() => undefined);
  await Promise.race([once(child, 'message'), ended]);
  const done = Promise.race([once(child, 'message'), ended]);
  done.catch(() => undefined);
  return { done, [Symbol.asyncDispose]: dispose };
}
