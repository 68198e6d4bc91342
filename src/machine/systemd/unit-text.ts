import { isAbsolute } from 'node:path';
import type { Paths } from '../paths.js';
import { unitMark } from './installed-units.js';
import { serviceUnit, socketUnits } from './user-manager.js';

/** What an installed unit says beyond the shipped one. */
export interface UnitFacts {
  paths: Paths;
  /** The program and its first arguments: Node and `berth`. */
  program: readonly string[];
  /** Where commands look for programs. */
  path: string;
  systemdVersion: number;
}

/** The file with API keys for the service, lines `NAME=value`. */
export function environmentFile({ configDir }: Pick<Paths, 'configDir'>): string {
  return `${configDir}/environment`;
}

/** From this version on, delays between restarts can grow. */
const growingDelaysVersion = 254;

/** An installed unit: the shipped text with the real paths. Throws RangeError for a path that no unit can name. */
export function toInstalledUnit(name: string, shipped: string, facts: UnitFacts): string {
  const { paths } = facts;
  const replaced: Record<string, string[]> = {
    [serviceUnit]: serviceLines(facts),
    [socketUnits[0]]: [`ListenStream=${toSpecifierText(paths.socket)}`],
    [socketUnits[1]]: [`ListenStream=${toSpecifierText(`${paths.socket}.events`)}`],
  };
  let text = shipped;
  for (const line of replaced[name] ?? []) text = put(text, line);
  return `${unitMark} ${name}\n${text}`;
}

/** systemd expands variables in the arguments of ExecStart, but not in the name of the program. */
function serviceLines({ paths, program, path, systemdVersion }: UnitFacts): string[] {
  const variables = {
    BERTH_SOCKET: paths.socket,
    BERTH_STATE_DIR: paths.stateDir,
    BERTH_CONFIG_DIR: paths.configDir,
    PATH: path
      .split(':')
      .filter((dir) => isAbsolute(dir) && !dir.includes('\n'))
      .join(':'),
  };
  const assignments = Object.entries(variables).map(([name, value]) => toQuoted(`${name}=${value}`));
  return [
    `ExecStart=${[...program, 'daemon', 'run'].map((word, at) => (at === 0 ? toQuoted(word) : toQuoted(word).replaceAll('$', '$$$$'))).join(' ')}`,
    `Environment=BERTH_UNIT=%n ${assignments.join(' ')}`,
    `EnvironmentFile=-${toSpecifierText(environmentFile(paths))}`,
    ...(systemdVersion < growingDelaysVersion ? [] : ['RestartSec=500ms\nRestartSteps=7\nRestartMaxDelaySec=1min']),
  ];
}

/** Replaces the line of the same setting. */
function put(text: string, line: string): string {
  const setting = line.slice(0, line.indexOf('=') + 1);
  const lines = text.split('\n');
  const at = lines.findIndex((found) => found.startsWith(setting));
  if (at === -1) throw new Error(`the shipped unit has no line ${setting}`);
  lines[at] = line;
  return lines.join('\n');
}

/** A word in quotes, in which no specifier (%) is expanded. */
function toQuoted(word: string): string {
  return `"${toSpecifierText(word).replaceAll(/[\\"]/g, '\\$&')}"`;
}

function toSpecifierText(text: string): string {
  if (/[\n\r]/.test(text)) throw new RangeError(`a unit of systemd cannot name ${JSON.stringify(text)}: it has a line break`);
  return text.replaceAll('%', '%%');
}
