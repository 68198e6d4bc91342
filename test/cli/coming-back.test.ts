import { expect, test, vi } from 'vitest';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { runCommand, runOk, startCommand } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

async function newSession(daemon: TestDaemon): Promise<{ id: string; named: string }> {
  const id = (await runOk(daemon, ['new'])).trim();
  return { id, named: id.slice(4, 14) };
}

test('whoever comes back to a run that failed reads why and what to do, wherever they look', async () => {
  await using daemon = await startDaemon();
  const { named } = await newSession(daemon);
  await runCommand(daemon, ['send', '.', 'fail', '--wait']);
  const why = 'failed: the offline guide was asked to fail \\(overloaded[^\\n]*\\)';
  const attached = await runOk(daemon, ['attach', '.']);
  expect(attached).toMatch(new RegExp(`\\n\\[run\\] ${why}; /resume here, or berth resume ${named}, tries again\\n$`));
  expect(attached).not.toContain('[queue]');
  expect(await runOk(daemon, ['log', '.'])).toMatch(new RegExp(`> fail\\n\\[run\\] ${why}; berth resume ${named} tries again\\n$`));
  expect(await runOk(daemon, ['state', '.'])).toMatch(new RegExp(`last run +${why}; berth resume ${named} tries again`));
  expect(await runOk(daemon, ['ls'])).toMatch(/ failed /);
  expect(await runOk(daemon, ['queue', '.'])).toBe('Nothing waits.\n');
  // Once something else was said, it is part of the history and there is nothing to resume.
  await runOk(daemon, ['send', '.', 'say ahoy', '--wait']);
  const log = await runOk(daemon, ['log', '.']);
  expect(log).toMatch(new RegExp(`\\n\\[run\\] ${why}\\n\\n> say ahoy\\nahoy\\n$`));
  expect(await runOk(daemon, ['attach', '.'])).not.toContain('[run]');
});

test('whoever comes back to a run that the daemon was killed in reads that it was interrupted, and resumes it in place', async () => {
  await using daemon = await startDaemon({ wps: 300 });
  const { named } = await newSession(daemon);
  await using first = startCommand(daemon, ['attach', '.']);
  first.type('stream 90000 words\n');
  // 210 words are 0.7 s of text: far more than the last 250 ms, which the kill may cost.
  await first.until((text) => text.includes('word300 '));
  await runOk(daemon, ['send', '.', '--follow-up', 'say later']);
  // Whoever is attached when it dies would start it again.
  first.child.kill('SIGKILL');
  await first.finished();
  await daemon.kill9();
  await daemon.start();
  await using watch = startCommand(daemon, ['attach', '.']);
  const seen = await watch.until((text) => text.includes(' waiting; '));
  expect(seen).toMatch(/word90 [^]*\n\[the answer breaks off here\]\n/);
  expect(seen).toContain(
    `\n[run] interrupted: the daemon stopped while it ran; /resume here, or berth resume ${named}, continues it\n` +
      `[queue] follow-up waits: say later\n[queue] paused with 1 message waiting; berth queue ${named} resume sends it\n`,
  );
  const why = 'interrupted: the daemon stopped while it ran';
  expect(await runOk(daemon, ['log', '.'])).toContain(`\n[run] ${why}; berth resume ${named} continues it\n`);
  expect(await runOk(daemon, ['state', '.'])).toContain(`${why}; berth resume ${named} continues it`);
  expect(await runOk(daemon, ['ls'])).toMatch(/ interrupted /);
  watch.type('/resume\n');
  await watch.until((text) => /\[run\] goes on after run_\w+\n/.test(text));
  watch.type('/abort\n');
  await watch.until((text) => text.includes('[run] stopped'));
});

test('a pause is told when something waits, and not otherwise', async () => {
  await using daemon = await startDaemon({ wps: 300 });
  const { named } = await newSession(daemon);
  await using watch = startCommand(daemon, ['attach', '.']);
  watch.type('fail\n');
  const failed = await watch.until((text) => text.includes('[run] failed'));
  watch.type('stream 90000 words\n');
  await watch.until((text) => text.includes('word20 '));
  expect(failed + watch.stdout()).not.toContain('[queue]');
  for (const text of ['say one', 'say two']) await runOk(daemon, ['send', '.', '--follow-up', text]);
  await runOk(daemon, ['queue', '.', 'move', '2', '1']);
  await watch.until((text) => text.includes('[queue] the order was changed to:\n  follow-up: say two\n  follow-up: say one\n'));
  await runOk(daemon, ['abort', '.', '--keep-queue']);
  await watch.until((text) => text.includes(`[queue] paused with 2 messages waiting; berth queue ${named} resume sends them\n`));
  await runOk(daemon, ['queue', '.', 'resume']);
  await watch.until((text) => /\[queue\] resumed\n[^]*> say two\n/.test(text));
});
