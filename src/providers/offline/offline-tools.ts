import { toolEntry } from '../../tools/tool-entry.js';
import type { ToolEntry, ToolFacts } from '../../tools/port.js';

/** Metadata of the demonstration tools. Only the offline model gets their specs. */
export const offlineToolFacts = {
  clock: {
    name: 'clock',
    description: 'Tells the current date and time, here or in a time zone.',
    readOnly: true,
    resumable: true,
    offlineOnly: true,
    touchesNothing: true,
  },
  echo: {
    name: 'echo',
    description: 'Says a text back, at once or word by word over some seconds. With confirm, a person is asked first.',
    readOnly: false,
    resumable: false,
    offlineOnly: true,
    touchesNothing: true,
  },
} as const satisfies Record<string, ToolFacts>;

/** The demonstration tools of the offline guide. */
export function listOfflineTools(): ToolEntry[] {
  return [
    toolEntry(offlineToolFacts.clock, async () => (await import('./clock.js')).createClockTool()),
    toolEntry(offlineToolFacts.echo, async () => (await import('./echo.js')).createEchoTool()),
  ];
}
