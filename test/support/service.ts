import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { launch, type Launched, type Place } from './processes.js';

/** Starts the daemon as systemd would: with these listening sockets, from the first connection on. */
export async function activate(place: Place, sockets: readonly string[], options: string[] = [], changes = {}): Promise<Launched> {
  mkdirSync(dirname(place.socket), { recursive: true, mode: 0o700 });
  const env = place.env(changes);
  const args = [
    ...sockets.flatMap((path) => ['-l', path]),
    ...options,
    ...Object.entries(env).map(([name, value]) => `-E${name}=${value}`),
  ];
  const daemon = launch({ env, through: ['systemd-socket-activate', ...args] });
  const { stderr } = daemon.child;
  // It says so when it listens.
  while (stderr && (daemon.stderr().match(/^Listening on /gm) ?? []).length < sockets.length && daemon.alive()) {
    await Promise.race([once(stderr, 'data'), daemon.ended]);
  }
  return daemon;
}

/** What a service manager has been told. */
export interface Notified extends AsyncDisposable {
  readonly socket: string;
  readonly messages: string[];
  /** The next message that was not yet handed out and that fits. */
  next(fits: (message: string) => boolean): Promise<string>;
}

/** Node has no Unix datagrams. A descriptor that comes along (BARRIER=1) is closed at once, as systemd does. */
const receiver = `
import array, json, os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print(json.dumps("bound"), flush=True)
while True:
    message, ancillary, _, _ = s.recvmsg(65536, 1024)
    for _, _, data in ancillary:
        descriptors = array.array("i")
        descriptors.frombytes(data)
        for descriptor in descriptors: os.close(descriptor)
    print(json.dumps(message.decode()), flush=True)
`;

/** Plays the notification socket of a service manager. */
export async function receiveNotifications(socket: string): Promise<Notified> {
  const child: ChildProcess = spawn('python3', ['-c', receiver, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  const messages: string[] = [];
  let handed = 0;
  let wake: () => void = () => undefined;
  const lines = createInterface({ input: child.stdout! });
  await once(lines, 'line');
  lines.on('line', (line) => {
    messages.push(JSON.parse(line) as string);
    wake();
  });
  return {
    socket,
    messages,
    async next(fits) {
      for (;;) {
        const at = messages.findIndex((message, index) => index >= handed && fits(message));
        if (at !== -1) {
          handed = at + 1;
          return messages[at]!;
        }
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
