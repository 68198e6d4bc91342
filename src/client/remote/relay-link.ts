import type { Duplex, Readable, Writable } from 'node:stream';
import { limits } from '../../protocol/limits.js';
import { ConnectionLost, DaemonUnresponsive, NoDaemon, StartFailed } from '../errors.js';
import type { StreamKind } from '../transport.js';
import { createGreetingFinder, RelayBroken, relayVersion, type Frame, type Greeting, type RelayRefusal } from './frames.js';
import { createMultiplexer } from './multiplexer.js';

/** A relay that was reached. */
export interface RelayLink {
  readonly greeting: Greeting;
  open(kind: StreamKind): Promise<Duplex>;
  /** Starts the daemon there. Throws StartFailed or DaemonUnresponsive. */
  start(): Promise<void>;
}

interface Deps {
  /** What the relay says, and what it is told. */
  input: Readable;
  output: Writable;
  /** For messages: the machine of the relay. */
  host: string;
  /** Called when what waits for the relay or reads from it has changed: streams, and starts of the daemon. */
  onUse(count: number): void;
  /** Called once, when the link is over: with why, if the relay did not speak as one. */
  onEnd(error?: RelayBroken): void;
}

interface Settle<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

/** Speaks to a relay, once its first line was found behind what a shell may print. Rejects when that does not come. */
export function openRelayLink({ input, output, host, onUse, onEnd }: Deps): Promise<RelayLink> {
  const finder = createGreetingFinder();
  const opening = new Map<number, Settle<Duplex>>();
  const open = new Set<number>();
  let starting: Settle<void>[] = [];
  let greeting: Greeting | undefined;
  let count = 0;
  let isOver = false;
  const streams = createMultiplexer({ write: (bytes) => void output.write(bytes), onFrame });
  let greeted: Settle<RelayLink> | undefined;
  const link = new Promise<RelayLink>((resolve, reject) => (greeted = { resolve, reject }));

  function onFrame({ stream, opened, refused, started }: Frame): void {
    if (stream === undefined) {
      const asked = starting;
      starting = [];
      for (const { resolve, reject } of asked) {
        if (started) resolve();
        else reject(toError(refused));
      }
      return tellUse();
    }
    const asked = opening.get(stream);
    opening.delete(stream);
    if (asked && opened) asked.resolve(openStream(stream));
    else if (asked) asked.reject(toError(refused));
  }

  function tellUse(): void {
    onUse(open.size + opening.size + starting.length);
  }

  function openStream(stream: number): Duplex {
    const duplex = streams.open(stream);
    duplex.once('close', () => {
      open.delete(stream);
      tellUse();
    });
    open.add(stream);
    return duplex;
  }

  function toError({ code, message }: RelayRefusal = { code: 'start_failed', message: 'berth relay gave no reason' }): Error {
    const there = `on ${host}: ${message}`;
    if (code === 'no_daemon') return new NoDaemon(there);
    return code === 'daemon_unresponsive' || code === 'too_many_streams' ? new DaemonUnresponsive(there) : new StartFailed(there, { code });
  }

  function end(error?: RelayBroken): void {
    if (isOver) return;
    isOver = true;
    const lost = error ?? new ConnectionLost(`the connection to ${host} was lost`);
    streams.end();
    greeted?.reject(lost);
    for (const { reject } of [...opening.values(), ...starting]) reject(new ConnectionLost(lost.message));
    opening.clear();
    starting = [];
    onEnd(error);
  }

  function take(chunk: Buffer): void {
    if (isOver) return;
    if (greeting) return streams.push(chunk);
    const found = finder.push(chunk);
    if (!found) return;
    ({ greeting } = found);
    if (greeting.relay !== relayVersion) {
      throw new RelayBroken(
        `berth ${greeting.version} on ${host} has version ${greeting.relay} of the relay, and this one ${relayVersion}; install the same berth on both`,
      );
    }
    greeted?.resolve({ greeting, open: openNew, start });
    streams.push(found.rest);
  }

  function openNew(kind: StreamKind): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      if (isOver) return reject(new ConnectionLost(`the connection to ${host} was lost`));
      const stream = ++count;
      const timer = setTimeout(() => {
        opening.delete(stream);
        streams.send({ stream, close: true });
        reject(new DaemonUnresponsive(`berth relay on ${host} has not answered for ${limits.unansweredMs / 1000} s`));
      }, limits.unansweredMs + limits.answerMs);
      opening.set(stream, {
        resolve(duplex) {
          clearTimeout(timer);
          resolve(duplex);
        },
        reject(error) {
          clearTimeout(timer);
          tellUse();
          reject(error);
        },
      });
      tellUse();
      streams.send({ stream, open: kind });
    });
  }

  function start(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (isOver) return reject(new ConnectionLost(`the connection to ${host} was lost`));
      starting.push({ resolve, reject });
      tellUse();
      streams.send({ start: true });
    });
  }

  input.on('data', (chunk: Buffer) => {
    try {
      take(chunk);
    } catch (error) {
      if (!(error instanceof RelayBroken)) throw error;
      end(error);
    }
  });
  // That the other end is gone is told by the end of what it says.
  output.on('error', () => end());
  input.on('error', () => end());
  input.on('close', () => end());
  return link;
}
