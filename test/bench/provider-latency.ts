import { once } from 'node:events';
import { createConnection } from 'node:net';
import { apis, type Api } from '../../src/machine/provider-config.js';
import type { TestDaemon } from '../support/daemon.js';
import type { Measurement } from './figures.js';
import { call, commandLine, newSession, openLines } from './line-client.js';
import { deltaChars, modelOf, startModelDaemon, startModelServer, type ModelServer } from './model-server.js';
import { median } from './numbers.js';

const deltas = 60;
const everyMs = 20;
const warmUps = 2;

interface Heard {
  at: number;
  bytes: Buffer;
}

interface Update {
  type: string;
  payload: { offset: number; delta?: string };
}

/** Subscribes to one run and notes when each piece of it came; what is in them is read when it is over. */
async function hearRun(daemon: TestDaemon): Promise<Heard[]> {
  using commands = await openLines(daemon.paths.socket);
  const sessionId = await newSession(commands);
  const socket = createConnection(`${daemon.paths.socket}.events`);
  socket.write(commandLine('subscribe', { session_id: sessionId }));
  for (let told = ''; !told.includes('"type":"subscribed"');) told += String(await once(socket, 'data'));
  const heard: Heard[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('data', (bytes: Buffer) => {
      heard.push({ at: Number(process.hrtime.bigint()), bytes });
      if (bytes.includes('"type":"agent_end"')) resolve();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the daemon closed the subscription')));
  });
  await call(commands, 'prompt', { session_id: sessionId, text: 'hello', wait: false });
  await ended;
  socket.destroy();
  return heard;
}

/** When each delta was whole at the subscriber, by its place in the answer. */
function arrivalsOf(heard: Heard[]): number[] {
  const arrivals: number[] = [];
  let rest = '';
  for (const { at, bytes } of heard) {
    const lines = (rest + bytes.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { type, payload } = JSON.parse(line) as Update;
      if (type !== 'message_update' || payload.delta === undefined) continue;
      const end = (payload.offset + payload.delta.length) / deltaChars;
      for (let i = arrivals.length; i + 1 <= end; i++) arrivals.push(at);
    }
  }
  return arrivals;
}

/** Milliseconds from the model's socket to the subscriber's, delta by delta. */
async function latencies(daemon: TestDaemon, server: ModelServer): Promise<number[]> {
  const arrivals = arrivalsOf(await hearRun(daemon));
  const stamps = await server.stamps();
  if (arrivals.length !== deltas || stamps.length !== deltas) {
    throw new Error(`${stamps.length} deltas were said and ${arrivals.length} were heard`);
  }
  return arrivals.map((at, i) => (at - stamps[i]!) / 1e6);
}

function latencyOf(api: Api): Measurement {
  return {
    name: `provider latency ${api}`,
    async measure({ quick }) {
      await using server = await startModelServer();
      await using daemon = await startModelDaemon(server, api, modelOf(deltas, everyMs));
      for (let i = 0; i < warmUps; i++) await latencies(daemon, server);
      const runs: number[][] = [];
      for (let i = 0; i < (quick ? 5 : 15); i++) runs.push(await latencies(daemon, server));
      const first = median(runs.flatMap((run) => run.slice(0, 1)));
      const later = median(runs.flatMap((run) => run.slice(1)));
      return [
        { name: `first delta of ${api} to the client`, unit: 'ms', value: first, floor: null, must: 2, should: 0.6 },
        { name: `later deltas of ${api} to the client`, unit: 'ms', value: later, floor: null, must: 1, should: 0.3 },
      ];
    },
  };
}

export const providerLatency: Measurement[] = apis.map(latencyOf);
