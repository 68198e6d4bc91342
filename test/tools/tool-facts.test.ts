import { expect, test } from 'vitest';
import type { BubblewrapFound } from '../../src/sandbox/bubblewrap.js';
import { listOfflineTools } from '../../src/providers/offline/offline-tools.js';
import { listTools } from '../../src/tools/catalogue.js';
import { touchesNothing } from '../../src/tools/port.js';
import type { Processes } from '../../src/sandbox/port.js';

test('what is known of a tool before it is loaded says whether it touches anything, as the tool itself does', async () => {
  const own = listTools({
    todos: { read: () => [], write: () => undefined },
    processes: () => Promise.resolve({} as Processes),
    bubblewrap: () => Promise.resolve((): BubblewrapFound => ({ missing: 'a test' })),
  });
  for (const entry of [...own, ...listOfflineTools()]) {
    const tool = await entry.load();
    expect([entry.name, entry.touchesNothing === true]).toEqual([entry.name, tool.prepare === touchesNothing]);
  }
});
