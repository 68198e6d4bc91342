import type * as settings from '../../../machine/config/settings.js';
import { Refused } from '../../exit.js';

/** Loads what the commands do with config.json, which is a bundle of its own. */
export function loadSettings(): Promise<typeof settings> {
  return import('../../../machine/config/settings.js');
}

/** Throws the refusal, if it is one. */
export function orSettingRefused<T extends object>(result: T | { refused: string }): T {
  if ('refused' in result) throw new Refused(result.refused, { code: 'config_refused' });
  return result;
}
