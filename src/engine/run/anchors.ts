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

/** Anchors each session to the inode of its directory: a person is asked about a directory that was moved or replaced. */
export function createAnchors({ store, bookkeeping, requests }: Deps) {
  const openRequests = new Map<string, Promise<void>>();

  async function ask(state: SessionState, call: OpenCall, recorded: Anchor, current: Anchor, waiting: Waiting): Promise<void> {
    const address = {
      sessionId: state.id,
      runId: state.run?.id ?? '',
      turnId: state.run?.turn?.id ?? '',
      toolCallId: call.id,
      askKey: `anchor ${current.device}:${current.inode} ${current.realPath}`,
    };
    const request = { params: toParams(state, recorded, current), timeoutMs: null };
    await waiting.withoutSlot(() => requests.ask(address, request, waiting.signal, false));
  }

  /** Asks about a directory once, however many calls of the session wait for the answer. */
  function askOnce(state: SessionState, call: OpenCall, recorded: Anchor, current: Anchor, waiting: Waiting): Promise<void> {
    const asked = openRequests.get(state.id) ?? ask(state, call, recorded, current, waiting).finally(() => openRequests.delete(state.id));
    openRequests.set(state.id, asked);
    return asked;
  }

  return {
    /** The anchor of a new session, for the commit that creates it. A directory that cannot be opened is recorded at its first use. */
    find: findDirectory,
    /** The real path of the session's directory, without asking anybody: undefined when it is gone, or another than the recorded one. */
    directoryOf({ id, cwd }: Pick<SessionState, 'id' | 'cwd'>): string | undefined {
      const current = findDirectory(cwd);
      const recorded = store.anchors.read(id);
      return current && (!recorded || isSame(recorded, current)) ? current.realPath : undefined;
    },
    /** The real path of the session's directory if its inode is the recorded one, or a person approved another; otherwise the problem. */
    async verify(state: SessionState, call: OpenCall, waiting: Waiting): Promise<{ workspace: string } | { problem: string }> {
      const current = findDirectory(state.cwd);
      if (!current) return { problem: `The directory ${state.cwd} of this session is gone. Make it again, or start a session elsewhere.` };
      const recorded = store.anchors.read(state.id);
      if (!recorded) bookkeeping.maintain((rows) => rows.anchors.set(state.id, current));
      else if (!isSame(recorded, current)) {
        await askOnce(state, call, recorded, current, waiting);
        // An approval writes the new anchor in the commit of its answer.
        const approved = store.anchors.read(state.id);
        if (!approved || !isSame(approved, current))
          return { problem: `${sayChange(recorded, current)} Nobody approved the new directory: nothing was done.` };
      }
      return { workspace: current.realPath };
    },
  };
}
export type Anchors = ReturnType<typeof createAnchors>;

/** Real path and inode of one and the same directory, read through a descriptor. Undefined when the path is no directory. */
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

function sayChange(recorded: Anchor, current: Anchor): string {
  if (recorded.realPath !== current.realPath)
    return `The directory of this session was ${recorded.realPath} and is now ${current.realPath}.`;
  return `The directory ${current.realPath} of this session was replaced by another one.`;
}

function toParams({ cwd }: SessionState, recorded: Anchor, current: Anchor): DirectoryParams {
  return {
    kind: 'directory',
    title: makeVisible(`Work in ${current.realPath} from now on?`),
    message: makeVisible(
      `${sayChange(recorded, current)} The session names it ${cwd}. Without a yes nothing is read, written or run there.`,
    ),
    anchor: current,
  };
}
