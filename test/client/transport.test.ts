import { expect, test } from 'vitest';
import { NoDaemon } from '../../src/client/index.js';
import { startDaemon } from '../support/daemon.js';
import { startRelay } from '../support/relay-transport.js';

test('a client attaches, prompts and comes back through a pipe to a relay as it does through the sockets', async () => {
  await using daemon = await startDaemon({ wps: 300 });
  await using relay = startRelay(daemon.paths.socket);
  const berth = await daemon.connect({ transport: relay });
  const made = await berth.call('new_session', {});
  if (!made.ok) throw new Error(made.error.message);
  const { session_id } = made.payload;
  const attached = await berth.attach(session_id);
  await berth.call('prompt', { session_id, text: 'stream 5000 words', wait: false });
  const heard: string[] = [];
  for await (const item of attached) {
    heard.push(item.kind === 'event' ? item.event.type : item.kind);
    const said = attached.view().open[0]?.blocks[0]?.text ?? '';
    if (said.length > 500 && !heard.includes('lost')) {
      await daemon.kill9();
      await daemon.start();
    }
    if (item.kind === 'event' && item.event.type === 'agent_end') break;
  }
  expect(heard).toContain('back');
  expect(attached.view().state.lastRun?.outcome).toBe('interrupted');
  expect(attached.view().messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(new Set(relay.opened)).toEqual(new Set(['commands', 'events']));
});

test('a relay that finds no daemon is a daemon that is not there', async () => {
  await using daemon = await startDaemon();
  await using relay = startRelay(daemon.paths.socket);
  await daemon.terminate();
  await expect(daemon.connect({ transport: relay })).rejects.toThrow(NoDaemon);
});

test('a transport that can start a daemon is asked to when none is there', async () => {
  await using daemon = await startDaemon();
  await using relay = startRelay(daemon.paths.socket);
  await daemon.terminate();
  const berth = await daemon.connect({ autostart: true, transport: { ...relay, start: () => daemon.start() } });
  expect(await berth.call('ping')).toMatchObject({ ok: true });
});
