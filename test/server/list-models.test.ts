import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.js';

test('clients that ask for models at the same time share one question to a provider', async () => {
  let asked = 0;
  const answers: (() => void)[] = [];
  const server = createServer((_request, response) => {
    asked++;
    answers.push(() => response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: [{ id: 'one' }] })));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const providers = { local: { api: 'openai-chat', base_url: `http://127.0.0.1:${port}/v1` } };
  try {
    await using daemon = await startDaemon({ config: { providers } });
    const berth = await daemon.connect();
    const replies = Array.from({ length: 50 }, () => berth.call('list_models', {}));
    // Commands of a connection are taken in order: when this one is answered, all have been.
    await berth.call('ping');
    while (answers.length === 0) await once(server, 'request');
    answers.splice(0).forEach((answer) => answer());
    const lists = await Promise.all(replies);
    expect(new Set(lists.map((list) => JSON.stringify(list.ok && list.payload))).size).toBe(1);
    expect(lists[0]).toMatchObject({
      ok: true,
      payload: { models: expect.arrayContaining([expect.objectContaining({ model: 'local/one' })]) },
    });
    expect(asked).toBe(1);
    berth.close();
  } finally {
    server.close();
  }
});
