import { resolvePaths, type Paths } from '../machine/paths.js';

/** What to say of a daemon that does not run: whoever has the same directories starts it with any command. */
export function describeGone({ socket, stateDir, configDir }: Paths): string {
  const usual = resolvePaths({}, process.env);
  const isUsual = usual.socket === socket && usual.stateDir === stateDir && usual.configDir === configDir;
  return isUsual ? 'it does not run; any berth command starts it again' : 'it does not run';
}
