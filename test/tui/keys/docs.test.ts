import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { allActions } from '../../../src/tui/keys/actions.js';
import { createKeyMap } from '../../../src/tui/keys/key-map.js';

const page = readFileSync(fileURLToPath(new URL('../../../docs/tui.md', import.meta.url)), 'utf8');

test('docs/tui.md names every key of the inventory, and what it does', () => {
  const made = createKeyMap();
  const rows = allActions
    .filter(({ name }) => !name.startsWith('edit.'))
    .map(({ name, label, focus }) => [made.keyMap.keysOf(name).join(', '), label, focus === 'always' ? '' : focus]);
  const table = /<!-- keys -->\n([^]*)<!-- \/keys -->/.exec(page)?.[1] ?? '';
  const told = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll(/^`|`$/g, '').replaceAll('\\', '')),
    );
  expect(told).toEqual(rows);
});
