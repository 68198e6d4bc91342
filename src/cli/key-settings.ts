import type { TuiOptions } from '../tui/main.js';
import { readConfigRecord } from './config-file.js';

/** The `keys` of config.json. The daemon checks the file; here only their shape counts. */
export function readKeySettings(configDir: string): NonNullable<TuiOptions['keys']> {
  return Object.fromEntries(Object.entries(readConfigRecord(configDir, 'keys')).filter(isSetting));
}

function isSetting(entry: [string, unknown]): entry is [string, string | string[]] {
  const [, keys] = entry;
  return typeof keys === 'string' || (Array.isArray(keys) && keys.every((key) => typeof key === 'string'));
}
