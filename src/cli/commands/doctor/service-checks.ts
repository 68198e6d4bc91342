import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findUser, homeOrRoot } from '../../../machine/home.js';
import { ok, warn, type Finding } from './finding.js';

const tuning = { answerMs: 3_000 } as const;

/** Whether a service manager keeps the daemon, and beyond the logout of its person. */
export function checkService(env: NodeJS.ProcessEnv): Finding[] {
  const manager = spawnSync('systemctl', ['--user', 'is-system-running'], { encoding: 'utf8', timeout: tuning.answerMs });
  // Without systemd, or without a manager for this user, it says nothing or that it is offline.
  if (manager.error || ['', 'offline'].includes(manager.stdout.trim())) {
    return [ok('service', 'no systemd for users here: the daemon is started by the first command, and ends with the machine')];
  }
  const configHome = nonEmpty(env.XDG_CONFIG_HOME) ?? join(homeOrRoot(env), '.config');
  if (!existsSync(join(configHome, 'systemd', 'user', 'berth.service'))) {
    return [ok('service', 'not installed; berth daemon install makes systemd keep the daemon')];
  }
  const name = findUser()?.username;
  if (name === undefined || existsSync(join('/var/lib/systemd/linger', name)))
    return [ok('service', 'systemd keeps the daemon, also after logout')];
  return [warn('service', 'systemd ends the daemon when you log out', 'loginctl enable-linger')];
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
