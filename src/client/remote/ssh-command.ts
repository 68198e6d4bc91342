import { limits } from '../../protocol/limits.js';

/** A host that must not be given to ssh, or a setting of how to reach it that cannot be. */
export class HostRefused extends Error {
  override name = 'HostRefused';
}

/** Who is reached, and how. */
export interface SshTarget {
  /** As ssh takes it: `box`, `user@box`, `ssh://user@box:2222`. */
  host: string;
  /** What people call it; `host` when absent. */
  name?: string | undefined;
  /** The program that connects, with its first arguments; `ssh` when absent. */
  ssh?: readonly string[] | undefined;
  /** Berth there, with its first arguments; `berth` when absent. */
  command?: readonly string[] | undefined;
}

const plainWord = /^[\w./~:=@%+,-]+$/;

/** The arguments of a program that is started without a shell. Throws HostRefused. */
export function sshArguments({ host, ssh = ['ssh'], command = ['berth'] }: SshTarget, canAsk: boolean): [program: string, args: string[]] {
  refuseHost(host);
  const [program, ...first] = ssh;
  if (program === undefined || command.length === 0) throw new HostRefused('the program that reaches a host, and berth there, need a name');
  const options = {
    BatchMode: canAsk ? 'no' : 'yes',
    ConnectTimeout: String(limits.sshTcpMs / 1000),
    ServerAliveInterval: String(limits.sshAliveMs / 1000),
    ServerAliveCountMax: String(limits.sshAliveAttemptsMax),
    // What the ssh config of a person has for their own shells.
    ClearAllForwardings: 'yes',
    RemoteCommand: 'none',
  };
  const words = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  // A second `--` would end the options behind the host; the command follows as one word, as ssh would join it anyway.
  return [program, [...first, '-T', ...words, host, '--', [...command, 'relay'].map(quoteWord).join(' ')]];
}

/** A host that begins with `-` would be an option of ssh, and one with other characters more than a name to what it starts. */
function refuseHost(host: string): void {
  const shown = JSON.stringify(host);
  if (host === '' || host.length > limits.hostCharsMax) throw new HostRefused(`a host has 1 to ${limits.hostCharsMax} characters`);
  if (host.startsWith('-')) throw new HostRefused(`${shown} is not a host: it begins with -`);
  if (/[\s\p{Cc}"'`$;&|<>(){}*?!#]/u.test(host)) throw new HostRefused(`${shown} is not a host: it has characters that no host has`);
}

/** A word for the shell there. `~` at its beginning stays what it means. */
function quoteWord(word: string): string {
  if (/\0|\n/.test(word)) throw new HostRefused('the command of a host has a line break in it');
  return plainWord.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Why ssh ended before a relay answered: what it said, and what helps. */
export function explainSsh(ended: { code: number | null; said: string; host: string; command: string; isLate: boolean }): string {
  const { code, host, isLate } = ended;
  const lines = ended.said.split(/\r?\n/).map((line) => line.trim());
  const said = lines
    .filter((line) => line !== '' && !line.startsWith('Warning: Permanently added'))
    .slice(-tuning.saidLines)
    .join('; ');
  const told = said === '' ? '' : `: ${said}`;
  if (isLate) return `${host} was not reached in time${told}; try ssh ${host}`;
  const advice = adviceFor(code, said, ended);
  return `${host} cannot be reached${told === '' ? `: ssh ended with exit code ${code ?? 'unknown'}` : told}; ${advice}`;
}

const tuning = { saidLines: 3 } as const;

/** What people meet most, by what OpenSSH says, and by the exit codes of shells. */
function adviceFor(code: number | null, said: string, { host, command }: { host: string; command: string }): string {
  const isOfSsh = code === 255;
  if (code === 127 || code === 126 || (!isOfSsh && /not found|No such file/.test(said))) {
    return (
      `there is no ${command} for commands that ssh runs on ${host}, which read no login profile: install berth there, or say where ` +
      'it is with BERTH_REMOTE_COMMAND or hosts.NAME.command of config.json'
    );
  }
  if (code === 64) return `berth on ${host} is too old to be reached from elsewhere; install the same berth on both`;
  if (/Could not resolve|Name or service not known/i.test(said))
    return 'is its name right? It is a host as ssh takes it, or a name of hosts in config.json';
  if (/Host key verification failed|REMOTE HOST IDENTIFICATION/i.test(said)) return `see what ssh ${host} says of its key`;
  if (/Permission denied|Too many authentication failures/i.test(said)) {
    return `ssh ${host} has to work without asking: use a key, and ssh-agent if it has a passphrase`;
  }
  if (/refused|timed out|No route|unreachable/i.test(said)) return `is it on, and does ssh ${host} work?`;
  return `try ssh ${host} ${command} relay`;
}
