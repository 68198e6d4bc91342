import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import type { OpenCall, SessionState } from '../../core/session.js';
import { O_PATH } from '../../machine/system-calls.js';
import type { DirectoryParams } from '../../protocol/requests/requests.js';
import { makeVisible } from '../../protocol/sanitize.js';
import type { Anchor } from '../../store/rows/anchor-rows.js';
import type { ReadStore } from '../../store/store.js';
import type { Requests } from '../calls/requests.js';
import type { Bookkeeping } from '../door/commit.js';
import type { StepContext } from './step-context.js';

interface Deps {
  store: ReadStore;
  bookkeeping: Bookkeeping;
  requests: Requests;
}

type Waiting = Pick<StepContext, 'signal' | 'withoutSlot'>;

/** Keeps each session in the directory that it was made in: one that was moved or replaced is asked about, never followed. */
export function createAnchors({ store, bookkeeping, requests }: Deps) {
  const asking = new Map<string, Promise<void>>();

  async function ask(state: SessionState, call: OpenCall, known: Anchor, found: Anchor, waiting: Waiting): Promise<void> {
    const address = {
      sessionId: state.id,
      runId: state.run?.id ?? '',
      turnId: state.run?.turn?.id ?? '',
      toolCallId: call.id,
      askKey: `anchor ${found.device}:${found.inode} ${found.realPath}`,
    };
    const request = { params: toParams(state, known, found), timeoutMs: null };
    await waiting.withoutSlot(() => requests.ask(address, request, waiting.signal, false));
  }

  /** Asks once, however many calls of the session wait for the answer. */
  function askOnce(state: SessionState, call: OpenCall, known: Anchor, found: Anchor, waiting: Waiting): Promise<void> {
    const asked = asking.get(state.id) ?? ask(state, call, known, found, waiting).finally(() => asking.delete(state.id));
    asking.set(state.id, asked);
    return asked;
  }

  return {
    /** Remembers the directory of a session that was just made. What fails here is done when the directory is first used. */
    note(sessionId: string, cwd: string): void {
      const found = findDirectory(cwd);
      if (found) bookkeeping.maintain((rows) => rows.anchors.set(sessionId, found));
    },
    /** The real path of the session's directory, once it is certain that it is the same one; otherwise why nothing may be done there. */
    async hold(state: SessionState, call: OpenCall, waiting: Waiting): Promise<{ workspace: string } | { problem: string }> {
      const found = findDirectory(state.cwd);
      if (!found) return { problem: `The directory ${state.cwd} of this session is gone. Make it again, or start a session elsewhere.` };
      const known = store.anchors.read(state.id);
      if (!known) bookkeeping.maintain((rows) => rows.anchors.set(state.id, found));
      else if (!isSame(known, found)) {
        await askOnce(state, call, known, found, waiting);
        // A yes has written it in its own commit.
        const agreed = store.anchors.read(state.id);
        if (!agreed || !isSame(agreed, found))
          return { problem: `${sayChange(known, found)} Nobody agreed to work there: nothing was done.` };
      }
      return { workspace: found.realPath };
    },
  };
}
export type Anchors = ReturnType<typeof createAnchors>;

/** What a name leads to now: path and inode of one and the same directory. Undefined when there is none that can be entered. */
function findDirectory(path: string): Anchor | undefined {
  let fd: number;
  try {
    fd = openSync(path, O_PATH | constants.O_DIRECTORY);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
  try {
    const { dev, ino, nlink } = fstatSync(fd, { bigint: true });
    return nlink === 0n ? undefined : { realPath: readlinkSync(`/proc/self/fd/${fd}`), device: String(dev), inode: String(ino) };
  } finally {
    closeSync(fd);
  }
}

function isSame(one: Anchor, other: Anchor): boolean {
  return one.realPath === other.realPath && one.device === other.device && one.inode === other.inode;
}

function sayChange(known: Anchor, found: Anchor): string {
  if (known.realPath !== found.realPath) return `The directory of this session was ${known.realPath} and is now ${found.realPath}.`;
  return `The directory ${found.realPath} of this session was replaced by another one.`;
}

function toParams({ cwd }: SessionState, known: Anchor, found: Anchor): DirectoryParams {
  return {
    kind: 'directory',
    title: makeVisible(`Work in ${found.realPath} from now on?`),
    message: makeVisible(`${sayChange(known, found)} The session names it ${cwd}. Without a yes nothing is read, written or run there.`),
    anchor: found,
  };
}
