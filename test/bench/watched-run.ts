import { once } from 'node:events';
import { createConnection } from 'node:net';
import type { TestDaemon } from '../support/daemon.js';
import { call, commandLine, newSession, openLines } from './line-client.js';

export interface WatchedRun {
  /** From the prompt to the end of the run at the subscriber. */
  wallMs: number;
  /** What a subscriber was sent from the response's beginning on, with the events that frame it. */
  bytes: number;
}

const newline = 10;

/** One run in a session of its own, with one subscriber in this process. */
export async function watchRun(daemon: TestDaemon, text: string): Promise<WatchedRun> {
  using commands = await openLines(daemon.paths.socket);
  const sessionId = await newSession(commands);
  const socket = createConnection(`${daemon.paths.socket}.events`);
  socket.write(commandLine('subscribe', { session_id: sessionId }));
  for (let heard = ''; !heard.includes('"type":"subscribed"');) heard += String(await once(socket, 'data'));
  const chunks: Buffer[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunk.includes('"type":"agent_end"') && chunk.at(-1) === newline) resolve();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the daemon closed the subscription')));
  });
  const from = performance.now();
  await call(commands, 'prompt', { session_id: sessionId, text, wait: false });
  await ended;
  const wallMs = performance.now() - from;
  socket.destroy();
  const all = Buffer.concat(chunks);
  const response = all.lastIndexOf('"type":"message_start"');
  return { wallMs, bytes: all.length - all.lastIndexOf(newline, response) - 1 };
}
