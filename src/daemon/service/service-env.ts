type Env = Record<string, string | undefined>;

/** What a service manager says to a process in its environment (sd_listen_fds, sd_notify, sd_watchdog_enabled). */
export interface ServiceEnv {
  /** The name of the unit, from `BERTH_UNIT`; null without a service manager. */
  unit: string | null;
  /** The names of the passed descriptors, from 3 on; undefined without socket activation. */
  passedNames: string[] | undefined;
  notifySocket: string | undefined;
  /** Undefined without a watchdog. */
  watchdogMs: number | undefined;
}

const variables = ['BERTH_UNIT', 'LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', 'NOTIFY_SOCKET', 'WATCHDOG_PID', 'WATCHDOG_USEC'] as const;

/** Reads the variables and removes them, so that no child inherits them. Those that name another pid are for another process. */
export function takeServiceEnv(env: Env, pid: number): ServiceEnv {
  const taken = Object.fromEntries(variables.map((name) => [name, env[name]])) as Record<(typeof variables)[number], string | undefined>;
  // Node removes a variable from the environment of children only by delete.
  for (const name of variables) Reflect.deleteProperty(env, name);
  const isOurs = taken.LISTEN_PID === String(pid);
  const isWatched = taken.WATCHDOG_PID === undefined || taken.WATCHDOG_PID === String(pid);
  const watchdogUs = Number(taken.WATCHDOG_USEC);
  return {
    unit: nonEmpty(taken.BERTH_UNIT) ?? null,
    passedNames: isOurs ? namesOf(Number(taken.LISTEN_FDS), taken.LISTEN_FDNAMES) : undefined,
    notifySocket: nonEmpty(taken.NOTIFY_SOCKET),
    watchdogMs: isWatched && watchdogUs > 0 ? watchdogUs / 1000 : undefined,
  };
}

function namesOf(count: number, names = ''): string[] | undefined {
  if (!Number.isSafeInteger(count) || count < 1) return undefined;
  const known = names.split(':');
  return Array.from({ length: count }, (_, at) => known[at] ?? '');
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
