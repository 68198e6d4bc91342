import { test } from 'vitest';
import { startDaemon } from '../support/daemon.js';
import { newSession, say } from '../support/wire.js';
test.each(['', '--max-old-space-size=96', '--max-semi-space-size=2', '--expose-gc --trace-gc'])('%s', async (flags) => {
  await using daemon = await startDaemon({ env: flags ? { NODE_OPTIONS: flags } : {} });
  const client = await daemon.raw();
  const mb = () => Math.round(daemon.rssBytes() / 1048576);
  const out = [`start ${mb()}`];
  const sessions = await Promise.all(Array.from({ length: 10 }, () => newSession(client)));
  for (let w = 0; w < 3; w++) { await Promise.all(sessions.map((s) => say(client, s, `stream 200000 words`))); out.push(`warm ${mb()}`); }
  console.log(flags, out.join(' '));
}, 200000);
