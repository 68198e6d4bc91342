import { attachSession, type AttachedSession } from '../../client/attach.js';
import { AttachRefused, type Berth } from '../../client/connect.js';
import { observerDelivery } from '../../client/observer-delivery.js';
import { describeRefusal } from '../../view/refusal-text.js';
import { orRefused } from '../refusals.js';

/** Attaches to a session to look only. Reconnects like `berth.attach`, and works for observers. */
export async function watchSession(berth: Berth, sessionId: string): Promise<AttachedSession> {
  const { transport } = berth;
  return attachSession({
    transport,
    clientId: () => berth.hello().client_id,
    revive: () => transport.start?.() ?? Promise.resolve(),
    async connected() {
      // A ping alone would be repeated for long where no daemon listens.
      (await transport.open('commands')).destroy();
      orRefused(await berth.call('ping'));
    },
    async snapshot() {
      const reply = await berth.call('attach', { session_id: sessionId });
      if (!reply.ok) throw new AttachRefused(describeRefusal(reply.error));
      return reply.payload;
    },
    async readPage(page) {
      return orRefused(await berth.call('get_messages', { ...page }));
    },
    openDelivery: () => observerDelivery,
  });
}

/** A connection whose attached sessions only look, for views that attach by themselves. */
export function toObserver(berth: Berth): Berth {
  return { ...berth, attach: (sessionId) => watchSession(berth, sessionId) };
}
