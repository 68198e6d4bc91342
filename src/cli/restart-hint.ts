import { resolvePaths, type Paths } from '../machine/paths.js';

/** Describes a daemon that is not running. Only with the default directories does any command start it again. */
export function describeGone({ socket, stateDir, configDir }: Paths): string {
  const usual = resolvePaths({}, process.env);
  const isUsual = usual.socket === socket && usual.stateDir === stateDir && usual.configDir === configDir;
  return isUsual ? 'it does not run; any berth command starts it again' : 'it does not run';
}
