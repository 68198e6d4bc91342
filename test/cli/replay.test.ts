import { expect, test, vi } from 'vitest';
import { readPosition } from '../../src/cli/replay/log-position.js';
import { createPauses } from '../../src/cli/replay/pauses.js';
import { limits } from '../../src/protocol/limits.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, openQuestion, runCommand, runJson, runJsonLine, runOk, startCommand } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

test('a session is played as an attached view showed it, all of it or from a place, a time or the newest run on', async () => {
  await using daemon = openPlace(shared());
  const session = (await runOk(daemon, ['new', '--title', 'played'])).trim();
  await using watch = startCommand(daemon, ['attach', 'played']);
  await watch.until((text) => text.includes('played'));
  await runOk(daemon, ['send', 'played', 'echo this with approval']);
  await watch.until((text) => text.includes('[question] '));
  await runOk(daemon, ['send', 'played', '--follow-up', 'call 1 tool']);
  await runOk(daemon, ['answer', await openQuestion(daemon), 'a']);
  await watch.until((text) => text.includes('[run] completed'));
  const { seq } = await runJsonLine(daemon, ['state', 'played']);
  await runCommand(daemon, ['send', 'played', 'fail', '--wait']);
  await watch.until((text) => text.includes('[run] failed'));
  watch.endInput();
  const { stdout: live } = await watch.finished();
  expect(await runOk(daemon, ['replay', 'played', '--speed', '0'])).toBe(live);
  const last = /^(.*\n)[^]*(\n> fail\n[^]*)$/.exec(live);
  for (const since of ['last', String(seq)]) {
    expect(await runOk(daemon, ['replay', 'played', '--since', since, '--speed', '0'])).toBe(`${last?.[1]}${last?.[2]}`);
  }
  const events = await runJson(daemon, ['replay', session, '--since', '1h', '--speed', '0']);
  const attached = await runJson(daemon, ['attach', session, '--since', '0']);
  expect(events).toEqual(attached.filter(({ seq: at, type }) => at !== undefined && type !== 'attached'));
  expect(await runOk(daemon, ['replay', session, '--since', '2999-01-01'])).toBe(last?.[1]);
  expect(await runCommand(daemon, ['replay', session, '--since', 'soon'])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('an age such as 10m'),
  });
  expect(await runCommand(daemon, ['replay', session, '--since', '999999'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the log ends at'),
  });
});

test('pauses are those of the log, divided by the speed, and capped without one', () => {
  const times = [0, 400, 400, 30_000, 29_000, 4_000_000_000].map((ms) => ({ ts: new Date(ms).toISOString() }));
  const pauses = (speed?: number): number[] => times.map(createPauses(speed));
  expect(pauses()).toEqual([0, 400, 0, limits.replayPauseMs, 0, limits.replayPauseMs]);
  expect(pauses(4)).toEqual([0, 100, 0, 7_400, 0, 999_992_750]);
  expect(pauses(0.5)).toEqual([0, 800, 0, 59_200, 0, limits.timerMaxMs]);
  expect(pauses(0)).toEqual([0, 0, 0, 0, 0, 0]);
});

test('a place is a seq, an age, a time of today, a date or the newest run', () => {
  const now = new Date(2026, 10, 18, 14, 30).getTime();
  expect(readPosition('412', now)).toEqual({ kind: 'seq', seq: 412 });
  expect(readPosition('last', now)).toEqual({ kind: 'last' });
  expect(readPosition('90s', now)).toEqual({ kind: 'time', ms: now - 90_000 });
  expect(readPosition('1.5h', now)).toEqual({ kind: 'time', ms: now - 5400_000 });
  expect(readPosition('9:05', now)).toEqual({ kind: 'time', ms: new Date(2026, 10, 18, 9, 5).getTime() });
  expect(readPosition('2026-11-17T08:00:00Z', now)).toEqual({ kind: 'time', ms: Date.UTC(2026, 10, 17, 8) });
  for (const wrong of ['', '-1', '25:00', '10 minutes', 'yesterday', '2026-13-01'])
    expect(() => readPosition(wrong, now)).toThrow('--since is');
});
