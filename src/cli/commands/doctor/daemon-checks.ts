import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { checkStartable } from '../../../client/autostart.js';
import type { Berth } from '../../../client/connect.js';
import { DaemonUnresponsive, NoDaemon, OtherDaemon, StartFailed } from '../../../client/errors.js';
import { version } from '../../../client/version.js';
import type { ReplyPayload } from '../../../protocol/commands/commands.js';
import { formatAge } from '../../../view/durations.js';
import { orRefused } from '../../refusals.js';
import type { Cli } from '../../subcommand.js';
import { fail, ok, warn, type Finding } from './finding.js';

/** The daemon, and what only it knows. Starts none. */
export async function checkDaemon(cli: Cli): Promise<Finding[]> {
  const berth = await open(cli);
  if ('level' in berth) return [berth, ...(berth.level === 'ok' ? await checkStart(cli) : [])];
  const facts = orRefused(await berth.call('get_daemon'));
  return [...describeDaemon(facts), ...(await checkProviders(berth)), ...(await checkSessions(berth))];
}

async function open(cli: Cli): Promise<Berth | Finding> {
  try {
    return await cli.connect({ autostart: false });
  } catch (error) {
    if (error instanceof NoDaemon) return ok('daemon', 'none runs; commands start one when they need it');
    if (error instanceof DaemonUnresponsive) return fail('daemon', error.message, 'berth daemon stop --force');
    if (error instanceof OtherDaemon) return fail('daemon', error.message);
    throw error;
  }
}

/** Whether a daemon could start here, as the start itself would find out: config, sockets and store. */
async function checkStart({ paths }: Cli): Promise<Finding[]> {
  try {
    await checkStartable(paths);
    return [ok('start', 'a daemon can start here: config and store can be read')];
  } catch (error) {
    if (!(error instanceof StartFailed)) throw error;
    return [fail('start', error.message)];
  }
}

function describeDaemon(facts: ReplyPayload<'get_daemon'>): Finding[] {
  const age = formatAge(Date.now() - Date.parse(facts.started_at));
  const running = `version ${facts.version}, pid ${facts.pid}, for ${age}`;
  return [
    facts.version === version ? ok('daemon', running) : warn('daemon', `${running}; this is berth ${version}`, 'berth daemon restart'),
    ...(facts.config_problem === null ? [] : [fail('config', `${facts.config_problem}; the one before it counts`, 'berth config edit')]),
    ...(facts.config_stale === true && facts.config_problem === null
      ? [warn('config', 'it was changed after the daemon read it', 'berth daemon reload')]
      : []),
    ...(facts.config_warnings ?? []).map((warning) => warn('config', warning)),
    ...checkSocketFiles(facts.socket),
  ];
}

function checkSocketFiles(socket: string): Finding[] {
  const missing = [socket, `${socket}.events`].filter((path) => !existsSync(path));
  if (missing.length > 0) return [fail('sockets', `${missing.join(' and ')} are gone`, 'berth daemon restart')];
  return [ok('sockets', `${socket}, in a directory of mode ${(statSync(dirname(socket)).mode & 0o777).toString(8)}`)];
}

async function checkProviders(berth: Berth): Promise<Finding[]> {
  const found = orRefused(await berth.call('list_models'));
  const asked = found.providers.map(({ provider, problem }) => {
    if (problem === undefined) return ok('provider', `${provider} answers`);
    // A provider that nobody gave a key is no fault: nobody wants it.
    if (problem.startsWith('no key')) return ok('provider', problem);
    return warn('provider', `${provider} could not be asked: ${problem.replace(`${provider}: `, '')}`);
  });
  return [ok('model', `${found.default}, of new sessions`), ...asked];
}

/** Sessions that were changed in the future say that the clock went back. */
async function checkSessions(berth: Berth): Promise<Finding[]> {
  const { sessions } = orRefused(await berth.call('list_sessions', { limit: 1 }));
  const newest = sessions[0];
  if (!newest || Date.parse(newest.updated_at) <= Date.now()) return [];
  return [
    warn(
      'clock',
      `the newest session was changed at ${newest.updated_at}, which is in the future: the clock went back`,
      'timedatectl set-ntp true',
    ),
  ];
}
