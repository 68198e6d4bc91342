import { expect, test } from 'vitest';
import type { BubblewrapFound } from '../../src/tools/bubblewrap.js';
import { listTools } from '../../src/tools/catalogue.js';
import { touchesNothing } from '../../src/tools/port.js';
import type { Processes } from '../../src/tools/processes-port.js';

test('what is known of a tool before it is loaded says whether it touches anything, as the tool itself does', async () => {
  const entries = listTools({
    todos: { read: () => [], write: () => undefined },
    processes: () => Promise.resolve({} as Processes),
    bubblewrap: () => Promise.resolve((): BubblewrapFound => ({ missing: 'a test' })),
  });
  for (const entry of entries) {
    const tool = await entry.load();
    expect([entry.name, entry.touchesNothing === true]).toEqual([entry.name, tool.prepare === touchesNothing]);
  }
});
