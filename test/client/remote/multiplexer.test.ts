import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import {
  createFrameDecoder,
  createGreetingFinder,
  encodeFrame,
  encodeGreeting,
  RelayBroken,
  type Frame,
} from '../../../src/client/remote/frames.js';
import { createMultiplexer, type Multiplexer } from '../../../src/client/remote/multiplexer.js';
import { limits } from '../../../src/protocol/limits.js';
import { createRandom } from '../../support/random.js';

/** Two ends, and what lies between them and was not handed on. */
function joinEnds(): { near: Multiplexer; far: Multiplexer; underWay: () => number; deliver(): void } {
  const toFar: Buffer[] = [];
  const toNear: Buffer[] = [];
  const ignore = (frame: Frame): void => expect(frame).toHaveProperty('close');
  const near = createMultiplexer({ write: (bytes) => void toFar.push(Buffer.from(bytes)), onFrame: ignore });
  const far = createMultiplexer({ write: (bytes) => void toNear.push(Buffer.from(bytes)), onFrame: ignore });
  return {
    near,
    far,
    underWay: () => [...toFar, ...toNear].reduce((sum, { length }) => sum + length, 0),
    deliver() {
      for (const bytes of toFar.splice(0)) far.push(bytes);
      for (const bytes of toNear.splice(0)) near.push(bytes);
    },
  };
}

async function untilRead(stream: Duplex, bytes: number, deliver: () => void): Promise<Buffer> {
  const read: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => read.push(chunk));
  while (read.reduce((sum, { length }) => sum + length, 0) < bytes) {
    deliver();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return Buffer.concat(read);
}

test('a stream that nobody reads costs its window at both ends, and holds up no other stream', async () => {
  const { near, far, underWay, deliver } = joinEnds();
  const [stuckNear, stuckFar, otherNear, otherFar] = [near.open(1), far.open(1), near.open(2), far.open(2)];
  const long = createRandom(1).bytes(3 * limits.relayWindowBytesMax);
  let isWritten = false;
  stuckNear.write(long, () => (isWritten = true));
  for (let round = 0; round < 20; round++) {
    deliver();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(isWritten).toBe(false);
  expect(underWay()).toBe(0);
  expect(stuckFar.readableLength).toBeLessThanOrEqual(limits.relayWindowBytesMax);

  otherNear.write(long);
  expect((await untilRead(otherFar, long.length, deliver)).equals(long)).toBe(true);
  expect((await untilRead(stuckFar, long.length, deliver)).equals(long)).toBe(true);
  expect(isWritten).toBe(true);
});

test('bytes of both directions come whole and in order, however the carrier cuts them', async () => {
  const random = createRandom(2);
  const carried: Buffer[] = [];
  const far = createMultiplexer({ write: () => undefined, onFrame: () => undefined });
  const near = createMultiplexer({ write: (bytes) => void carried.push(Buffer.from(bytes)), onFrame: () => undefined });
  const [from, to] = [near.open(1), far.open(1)];
  const sent = random.bytes(100_000);
  for (let at = 0; at < sent.length; at += 7919) from.write(sent.subarray(at, at + 7919));
  from.end();
  const all = Buffer.concat(carried);
  const read = untilRead(to, sent.length, () => undefined);
  const ended = once(to, 'end');
  for (let at = 0; at < all.length;) {
    const size = 1 + random.below(900);
    far.push(all.subarray(at, at + size));
    at += size;
  }
  expect((await read).equals(sent)).toBe(true);
  await ended;
});

test('what was written before a stream was closed is read at the other end, and then its end', async () => {
  const { near, far, deliver } = joinEnds();
  const [from, to] = [near.open(1), far.open(1)];
  const closed = once(to, 'close');
  from.end('last words');
  const read = await untilRead(to, 10, deliver);
  expect(read.toString()).toBe('last words');
  deliver();
  await closed;
});

test('an end that does not keep to the frames is refused', () => {
  const { far } = joinEnds();
  const stream = far.open(1);
  const flood = Buffer.alloc(limits.relayWindowBytesMax, 'x');
  far.push(Buffer.concat([Buffer.from(`{"stream":1,"bytes":${flood.length}}\n`), flood]));
  expect(() => far.push(Buffer.from('{"stream":1,"bytes":1}\nx'))).toThrow(RelayBroken);
  expect(stream.readableLength).toBe(flood.length);
  const decoder = (): ReturnType<typeof createFrameDecoder> => createFrameDecoder({ onFrame: () => undefined, onBytes: () => undefined });
  expect(() => decoder().push(Buffer.from('hello\n'))).toThrow(RelayBroken);
  expect(() => decoder().push(Buffer.from('{"stream":1,"bytes":999999999}\n'))).toThrow(RelayBroken);
  expect(() => decoder().push(Buffer.alloc(limits.relayHeaderBytesMax + 1, 'x'))).toThrow(RelayBroken);
});

test('the first line of a relay is found behind what a shell prints, within a bound', () => {
  const greeting = { relay: 1, version: '9.9.9', protocol: '1', home: '/home/é' };
  const all = Buffer.from(`Welcome to box\r\nLast login: berth-relay\n$PS1 ${encodeGreeting(greeting)}${encodeFrame({ started: true })}`);
  const finder = createGreetingFinder();
  const found = [...all].map((byte) => finder.push(Buffer.of(byte))).find((answer) => answer !== undefined);
  expect(found?.greeting).toEqual(greeting);
  expect(createGreetingFinder().push(all)?.rest.toString()).toBe('{"started":true}\n');
  const noisy = createGreetingFinder();
  expect(() => noisy.push(Buffer.alloc(limits.relayNoiseBytesMax + 1, 'x'))).toThrow(RelayBroken);
});
