import { expect, test } from 'vitest';
import { startDaemon } from '../support/daemon.js';

test('an attached client sees a whole answer, across a daemon that is killed and comes back', async () => {
  await using daemon = await startDaemon({ wps: 300 });
  const berth = await daemon.connect();
  const made = await berth.call('new_session', {});
  if (!made.ok) throw new Error(made.error.message);
  const { session_id } = made.payload;
  const attached = await berth.attach(session_id);
  await berth.call('prompt', { text: 'stream 5000 words', wait: false, session_id });
  const heard: string[] = [];
  let seen = '';
  for await (const item of attached) {
    heard.push(item.kind === 'event' ? item.event.type : item.kind);
    seen = attached.view().open[0]?.blocks[0]?.text ?? seen;
    if (item.kind === 'event' && item.event.type === 'message_update' && seen.length > 500 && !heard.includes('lost')) {
      await daemon.kill9();
      await daemon.start();
    }
    if (item.kind === 'event' && item.event.type === 'agent_end') break;
  }
  expect(heard).toContain('back');
  expect(heard.filter((type) => type === 'message_end')).toHaveLength(2);
  expect(attached.view().state.lastRun?.outcome).toBe('interrupted');
  const kept = attached.view().messages.at(-1)?.text ?? '';
  expect(kept).toMatch(/^word1/);
  expect(seen.startsWith(kept)).toBe(true);
  attached.close();
});
