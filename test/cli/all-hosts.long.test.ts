import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFakeSsh, runningIn } from '../support/fake-ssh.js';
import { makeHome, poll, runJson, runJsonLine } from './run-cli.js';

test('a host that says nothing is waited for so long and no longer, and its ssh is ended', { timeout: 60_000 }, async () => {
  await using home = makeHome();
  const env = { BERTH_SSH: makeFakeSsh(home.root) };
  writeFileSync(
    join(home.paths.configDir, 'config.json'),
    JSON.stringify({ hosts: { mute: { command: ['sh', '-c', 'exec sleep 1000'] } } }),
  );
  const { session_id } = await runJsonLine(home, ['new']);
  const lines = await runJson(home, ['ls', '--all-hosts'], { env });
  expect(lines).toMatchObject([
    { host: null, session_id },
    { host: 'mute', error: { code: 'host_unreachable', message: 'it has not answered for 10 s' } },
  ]);
  await poll(
    () => runningIn(home.root),
    (pids) => pids.length === 0,
  );
});
