import { createOfflineProvider } from './offline.js';
import type { Provider, Providers } from './port.js';

const wordsPerSecondDefault = 100;

/** The providers this daemon has. Only the embedded guide needs nothing. */
export function createProviders(env: Record<string, string | undefined>): Providers {
  const wordsPerSecond = Number(env.BERTH_OFFLINE_WPS ?? wordsPerSecondDefault);
  const byName = new Map<string, Provider>([['offline', createOfflineProvider({ wordsPerSecond })]]);
  return {
    find: (model) => byName.get(model.slice(0, Math.max(0, model.indexOf('/')))),
    list: () => [{ model: 'offline/guide', title: 'embedded guide: not a model, needs no key and no network' }],
  };
}
