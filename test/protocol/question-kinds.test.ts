import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('every kind of question that the daemon puts is described for whoever writes a client', () => {
  const sources = ['engine', 'tools'].flatMap((folder) =>
    readdirSync(join(root, 'src', folder)).map((name) => readFileSync(join(root, 'src', folder, name), 'utf8')),
  );
  const kinds = new Set(sources.flatMap((text) => [...text.matchAll(/params: \{\s*kind: '(\w+)'/g)].map(([, kind = '']) => kind)));
  expect(kinds.size).toBeGreaterThan(2);
  const intro = readFileSync(join(root, 'docs/protocol-intro.md'), 'utf8');
  expect([...kinds].filter((kind) => !intro.includes(`**${kind}** (`))).toEqual([]);
});
