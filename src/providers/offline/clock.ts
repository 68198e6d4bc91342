import * as z from 'zod';
import { limits } from '../../protocol/limits.js';
import { toolText, touchesNothing, type Tool, type ToolResult } from '../../tools/port.js';
import { offlineToolFacts } from './offline-tools.js';
import { zodParameters } from '../../tools/zod-parameters.js';

const parameters = z.object({
  time_zone: z
    .string()
    .max(limits.timeZoneCharsMax)
    .optional()
    .describe('IANA name such as Europe/Berlin; without it, the zone of this machine'),
});

/** The current time with offset and time zone. An unknown zone is an error result. */
export function createClockTool({ now = Date.now }: { now?: () => number } = {}): Tool<z.infer<typeof parameters>> {
  return {
    ...offlineToolFacts.clock,
    parameters: zodParameters(parameters),
    prepare: touchesNothing,
    title: ({ time_zone }) => `Look at the clock${time_zone === undefined ? '' : ` in ${JSON.stringify(time_zone)}`}`,
    run: ({ time_zone }) => Promise.resolve(tellTime(now(), time_zone)),
  };
}

function tellTime(atMs: number, timeZone: string | undefined): ToolResult {
  const format = createFormat(timeZone);
  if (format === undefined) return toolText(`There is no time zone named ${JSON.stringify(timeZone)}.`, true);
  return toolText(`${formatIso(format, atMs)} (${format.resolvedOptions().timeZone})`);
}

function createFormat(timeZone: string | undefined): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function formatIso(format: Intl.DateTimeFormat, atMs: number): string {
  const parts = new Map<string, string>(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
  const read = (type: string): string => parts.get(type) ?? '';
  const offset = read('timeZoneName').replace(/^GMT(?:\+00:00)?/, '');
  const date = `${read('year')}-${read('month')}-${read('day')}`;
  return `${date}T${read('hour')}:${read('minute')}:${read('second')}${offset === '' ? 'Z' : offset}`;
}
