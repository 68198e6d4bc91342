import { createOfflineProvider } from './offline.js';
import type { Provider, Providers } from './port.js';

const wordsPerSecondDefault = 100;

/** The providers this daemon has. Only the embedded guide needs nothing. */
export function createProviders(env: Record<string, string | undefined>): Providers {
  const speed = env.BERTH_OFFLINE_WPS;
  const wordsPerSecond = speed === undefined || speed === '' ? wordsPerSecondDefault : Number(speed);
  const byName = new Map<string, Provider>([['offline', createOfflineProvider({ wordsPerSecond })]]);
  return {
    find: (model) => byName.get(model.slice(0, Math.max(0, model.indexOf('/')))),
    list: () => [{ model: 'offline/guide', title: 'embedded guide: not a model, needs no key and no network' }],
  };
}
