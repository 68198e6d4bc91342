import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createSshTransport } from '../../../src/client/index.js';
import { limits } from '../../../src/protocol/limits.js';
import { program, startDaemon } from '../../support/daemon.js';
import { makeFakeSsh, runningIn } from '../../support/fake-ssh.js';

const prompts = 25;
const textUnits = 400_000;
/** Less than half of what a relay would hold that did not wait for credit. */
const growthBytesMax = 16 * 1024 * 1024;

function rssBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

test('a client that does not read its events costs a window on either side, holds up no command, and misses nothing', async () => {
  await using daemon = await startDaemon();
  const set = Object.entries(daemon.env).flatMap(([name, value]) => (/^BERTH_|^HOME$/.test(name) ? [`${name}=${value}`] : []));
  const transport = createSshTransport({
    host: 'box',
    ssh: [makeFakeSsh(daemon.root)],
    command: ['env', ...set, process.execPath, program],
  });
  const berth = await daemon.connect({ transport });
  const stuck = await transport.open('events');
  stuck.write(`${JSON.stringify({ v: '1', id: 's', type: 'subscribe', payload: { session_id: '*', after: 0 } })}\n`);
  const home = await daemon.connect();
  const made = await home.call('new_session', {});
  if (!made.ok) throw new Error(made.error.message);
  const { session_id } = made.payload;
  const [relay = 0] = runningIn(daemon.root);
  const before = rssBytes(relay);

  let seq = 0;
  for (let i = 0; i < prompts; i++) {
    const reply = await home.call('prompt', { session_id, text: `say ${i} ${'x'.repeat(textUnits)}` });
    if (!reply.ok) throw new Error(reply.error.message);
    ({ seq } = reply);
  }

  expect(await berth.call('ping')).toMatchObject({ ok: true });
  expect(stuck.readableLength).toBeGreaterThan(0);
  expect(stuck.readableLength).toBeLessThanOrEqual(limits.relayWindowBytesMax);
  expect(rssBytes(relay) - before).toBeLessThan(growthBytesMax);

  let text = '';
  let bytes = 0;
  const seqs: number[] = [];
  stuck.setEncoding('utf8').on('data', (piece: string) => {
    bytes += piece.length;
    const lines = (text + piece).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const { seq: heard, id } = JSON.parse(line) as { seq?: number; id?: string };
      if (id !== 's' && heard !== undefined) seqs.push(heard);
    }
    if ((seqs.at(-1) ?? 0) >= seq) stuck.destroy();
  });
  await once(stuck, 'close');
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
  expect(bytes).toBeGreaterThan(2 * growthBytesMax);
});
