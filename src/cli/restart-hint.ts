import type { Berth } from '../client/connect.js';
import { resolvePaths } from '../machine/paths.js';
import { berthOn } from './remote/host-words.js';

/** Describes a daemon that is not running. Only with the default directories does any command start it again. */
export function describeGone({ paths: { socket, stateDir, configDir }, transport: { host } }: Berth): string {
  if (host !== undefined) return `it does not run; ${berthOn(host)} ls starts it again`;
  const usual = resolvePaths({}, process.env);
  const isUsual = usual.socket === socket && usual.stateDir === stateDir && usual.configDir === configDir;
  return isUsual ? 'it does not run; any berth command starts it again' : 'it does not run';
}
