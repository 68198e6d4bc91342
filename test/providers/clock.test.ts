import { expect, test } from 'vitest';
import { createClockTool } from '../../src/providers/offline/clock.js';
import { toolContext } from '../support/tool-context.js';

const clock = createClockTool({ now: () => Date.parse('2026-11-16T23:05:09.500Z') });
const context = toolContext({ cwd: '/', output: () => expect.unreachable() });

async function tell(timeZone: string): Promise<string> {
  const { content, isError } = await clock.run({ time_zone: timeZone }, context);
  expect(isError).toBe(false);
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

test('the clock tells the time, the offset and the zone', async () => {
  expect(await tell('UTC')).toBe('2026-11-16T23:05:09Z (UTC)');
  expect(await tell('Europe/London')).toBe('2026-11-16T23:05:09Z (Europe/London)');
  expect(await tell('Europe/Berlin')).toBe('2026-11-17T00:05:09+01:00 (Europe/Berlin)');
  expect(await tell('America/St_Johns')).toBe('2026-11-16T19:35:09-03:30 (America/St_Johns)');
});

test('what the clock tells is an ISO time that means now', async () => {
  for (const zone of ['Asia/Kathmandu', 'Pacific/Kiritimati', 'America/New_York']) {
    expect(Date.parse((await tell(zone)).split(' ')[0]!)).toBe(Date.parse('2026-11-16T23:05:09Z'));
  }
});

test('without a zone the clock tells that of the machine', async () => {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  expect((await clock.run({}, context)).content).toEqual([{ type: 'text', text: await tell(here) }]);
});

test('an unknown zone is an error result that names it', async () => {
  for (const zone of ['Mars/Olympus', '', '__proto__', '../etc/passwd', 'Europe/Berlin\n']) {
    expect(await clock.run({ time_zone: zone }, context)).toEqual({
      content: [{ type: 'text', text: `There is no time zone named ${JSON.stringify(zone)}.` }],
      isError: true,
    });
  }
});

test('the clock only looks, in one line', () => {
  expect([clock.readOnly, clock.resumable, 'approval' in clock]).toEqual([true, true, false]);
  expect(clock.description.length).toBeLessThanOrEqual(120);
  expect(clock.title({})).toBe('Look at the clock');
  expect(clock.title({ time_zone: 'Europe/\nBerlin' })).toBe('Look at the clock in "Europe/\\nBerlin"');
});
