import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionLost, DaemonUnresponsive, NoDaemon, OtherDaemon } from '../../client/errors.js';
import { HostRefused } from '../../client/remote/ssh-command.js';
import type { Transport } from '../../client/transport.js';
import { createUnixTransport } from '../../client/unix-transport.js';
import { limits } from '../../protocol/limits.js';
import type { SessionListRow } from '../../protocol/views.js';
import { formatAge } from '../../view/durations.js';
import { printableLine } from '../../view/printable.js';
import { exit, Refused, type ExitCode } from '../exit.js';
import { readSessions, type ListedSessions, type SessionFilter } from '../sessions/session-rows.js';
import { toSessionTable } from '../sessions/session-table.js';
import type { Cli } from '../subcommand.js';
import { outputColumns } from '../terminal/standard-streams.js';
import { hostNames, openHost } from './hosts.js';

/** A machine, null for this one, and its sessions or why there are none. */
interface Asked {
  host: string | null;
  listed?: ListedSessions;
  away?: { code: string; message: string };
}

const awayCodes: [kind: new (...args: never[]) => Error, code: string][] = [
  [NoDaemon, 'no_daemon'],
  [DaemonUnresponsive, 'daemon_unresponsive'],
  [ConnectionLost, 'host_unreachable'],
  [OtherDaemon, 'other_daemon'],
  [HostRefused, 'usage'],
  [Refused, 'refused'],
];

/** Prints the sessions of this machine and of all hosts in one list, newest first, and a line for each machine that is away. */
export async function listAllHosts(cli: Cli, filter: SessionFilter, json: true | undefined): Promise<ExitCode> {
  const hosts = new Set([...hostNames(cli.paths.configDir), ...(cli.host === undefined ? [] : [cli.host])]);
  const asked = await Promise.all([null, ...hosts].map((host) => ask(cli, host, filter)));
  const found = asked.flatMap(({ host, listed }) => (listed?.rows ?? []).map((row) => ({ host, row })));
  const rows = found.sort((a, b) => Date.parse(b.row.updated_at) - Date.parse(a.row.updated_at)).slice(0, filter.rowsMax);
  const away = asked.flatMap((one) => (one.away ? [{ host: one.host, error: one.away }] : []));
  if (json) {
    for (const { host, row } of rows) cli.printJson({ host, ...row });
    for (const line of away) cli.printJson(line);
    return exit.ok;
  }
  if (rows.length === 0) cli.print('No sessions on the machines that answered.');
  else {
    const hostOfRow = new Map(rows.map(({ host, row }) => [row, host ?? 'here']));
    const hostOf = (row: SessionListRow): string => hostOfRow.get(row) ?? '';
    const asking = new Set(asked.flatMap(({ listed }) => [...(listed?.asking ?? [])]));
    const now = Date.now();
    const time = { head: 'AGE', of: (updatedMs: number) => formatAge(now - updatedMs) };
    const table = toSessionTable(
      rows.map(({ row }) => row),
      { asking, columns: outputColumns(), time, hostOf },
    );
    for (const line of table) cli.print(line);
  }
  for (const { host, error } of away) cli.print(`${printableLine(host ?? 'here')} is away: ${printableLine(error.message)}`);
  if (rows.length < found.length || asked.some(({ listed }) => listed?.hasMore))
    cli.print(`… and more; berth ls --all-hosts --limit ${filter.rowsMax * 10} shows them.`);
  return exit.ok;
}

async function ask(cli: Cli, host: string | null, filter: SessionFilter): Promise<Asked> {
  try {
    // Several that asked for a password at once would be one too many.
    const there = host === null ? undefined : await openHost(host, cli.paths.configDir, process.env, false);
    const listing = connectAndList(cli, filter, there ?? createUnixTransport(cli.paths));
    const listed = await Promise.race([listing, delay(limits.hostAnswerMs, undefined)]);
    if (listed) return { host, listed };
    listing.catch(() => undefined);
    there?.close();
    return { host, away: { code: 'host_unreachable', message: `it has not answered for ${limits.hostAnswerMs / 1000} s` } };
  } catch (error) {
    const code = awayCodes.find(([kind]) => error instanceof kind)?.[1];
    if (code === undefined || !(error instanceof Error)) throw error;
    return { host, away: { code, message: error.message } };
  }
}

async function connectAndList(cli: Cli, filter: SessionFilter, transport: Transport): Promise<ListedSessions> {
  const berth = await cli.connect({ autostart: false, transport });
  return readSessions(berth, filter);
}
