import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createClients } from '../../src/server/clients.js';
import { createCursors } from '../../src/server/cursors.js';
import { createEventServer } from '../../src/server/event-server.js';
import { createFairQueue } from '../../src/server/budgets/fair-queue.js';
import { createLineRoom } from '../../src/server/budgets/line-room.js';
import type { TestEngine } from './engine.js';
import { openRaw, type RawClient } from './raw-client.js';

/** Serves the event socket of an engine, beside whatever else reads it. */
export async function serveEvents(berth: TestEngine) {
  const now = (): number => berth.clock.nowMs;
  const cursors = createCursors({ engine: berth.engine, now });
  const clients = createClients({ onChange: () => undefined });
  const events = createEventServer({
    engine: berth.engine,
    cursors,
    clients,
    logId: 'log_test',
    now,
    lineRoom: createLineRoom(),
    fairQueue: createFairQueue(),
  });
  const root = mkdtempSync(join(tmpdir(), 'berth-sinks-'));
  const server = createServer((socket) => events.accept(socket)).listen(join(root, 'events'));
  await once(server, 'listening');
  const opened: RawClient[] = [];
  return {
    cursors,
    async subscribe(payload: object): Promise<RawClient> {
      const client = await openRaw(join(root, 'events'));
      opened.push(client);
      expect(await client.call('subscribe', payload)).toMatchObject({ ok: true });
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of opened) client.close();
      server.close();
      await once(server, 'close');
      rmSync(root, { recursive: true });
    },
  };
}
