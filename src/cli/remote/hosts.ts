import { closeSync, openSync } from 'node:fs';
import type { SshTarget } from '../../client/remote/ssh-command.js';
import type { SshTransport } from '../../client/remote/ssh-transport.js';
import { isSystemError } from '../../machine/system-calls.js';
import { limits } from '../../protocol/limits.js';
import { readConfigRecord, toRecord } from '../config-file.js';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The transport to a host: a name of `hosts` in config.json, or what ssh takes. BERTH_SSH and BERTH_REMOTE_COMMAND are split at spaces, and
 * take precedence. Throws HostRefused. `canAsk`: ssh may ask on the terminal.
 */
export async function openHost(host: string, configDir: string, env: Env, canAsk: boolean): Promise<SshTransport> {
  const { createSshTransport } = await import('../../client/remote/ssh-transport.js');
  return createSshTransport({ ...findTarget(host, configDir, env), canAsk: canAsk && hasTerminal() });
}

/** The names of `hosts` in config.json. */
export function hostNames(configDir: string): string[] {
  return Object.keys(readConfigRecord(configDir, 'hosts')).slice(0, limits.hostsMax);
}

function findTarget(host: string, configDir: string, env: Env): SshTarget {
  const settings = readConfigRecord(configDir, 'hosts');
  const { ssh, command } = Object.hasOwn(settings, host) ? toRecord(settings[host]) : {};
  const configured = Array.isArray(command) ? command.filter((word) => typeof word === 'string') : undefined;
  return {
    host: typeof ssh === 'string' ? ssh : host,
    name: host,
    ssh: splitWords(env.BERTH_SSH),
    command: splitWords(env.BERTH_REMOTE_COMMAND) ?? configured,
  };
}

/** Undefined for a variable that is empty or not there. */
function splitWords(text: string | undefined): string[] | undefined {
  const words = (text ?? '').split(/\s+/).filter((word) => word !== '');
  return words.length === 0 ? undefined : words;
}

/** Whether ssh can ask somebody: it uses the controlling terminal, wherever its streams go. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r+'));
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return false;
  }
}
