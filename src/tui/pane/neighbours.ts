import { printableLine } from '../../view/printable.js';
import { attempt, type TuiContext } from '../app/context.js';
import { accepted } from '../app/refusals.js';

/** Who else is attached to this session, and how many other sessions ask. */
export interface Neighbours {
  /** Reads them again; calls while one is under way are joined. */
  look(): void;
  /** Without a daemon nobody knows. */
  forget(): void;
  names(): readonly string[];
  asking(): number;
  close(): void;
}

export function createNeighbours(context: TuiContext, sessionId: string): Neighbours {
  const { berth } = context;
  let names: readonly string[] = [];
  let asking = 0;
  let isLooking = false;
  let isWanted = false;
  let isClosed = false;

  async function read(): Promise<void> {
    const [{ clients }, { requests }] = await Promise.all([
      // Who subscribes counts: after a daemon has come back, a connection has no session of its own.
      berth.call('get_state', { session_id: sessionId }).then(accepted<'get_state'>),
      berth.call('list_ui_requests', {}).then(accepted<'list_ui_requests'>),
    ]);
    const own = berth.hello().client_id;
    names = clients.filter(({ client_id, subscribed }) => client_id !== own && subscribed).map(({ name }) => printableLine(name));
    asking = new Set(requests.map(({ session_id }) => session_id).filter((id) => id !== sessionId)).size;
    context.invalidate();
  }

  async function readWhileWanted(): Promise<void> {
    isLooking = true;
    try {
      while (isWanted && !isClosed) {
        isWanted = false;
        await read();
      }
    } finally {
      isLooking = false;
    }
  }

  return {
    look() {
      isWanted = true;
      if (!isLooking && !isClosed) attempt(context, 'other sessions are not known', readWhileWanted);
    },
    forget() {
      names = [];
      asking = 0;
      context.invalidate();
    },
    names: () => names,
    asking: () => asking,
    close: () => void (isClosed = true),
  };
}
