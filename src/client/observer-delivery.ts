import type { Delivery } from './delivery.js';
import { ReadOnlyClient } from './errors.js';

/** The delivery of an observer: nothing is sent, and what other processes left in the outbox stays there. */
export const observerDelivery: Delivery = {
  send: () => Promise.reject(new ReadOnlyClient('this client only observes: it sends nothing')),
  sent: () => [],
  dismiss: () => undefined,
  flushed: () => Promise.resolve(),
  flush: () => undefined,
  hear: () => undefined,
  hearQueue: () => undefined,
  close: () => undefined,
};
