import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { sizedSuites } from '../../vitest.long.config.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('every suite that is short in npm test is run in its long size by npm run test:long', () => {
  const suites = readdirSync(join(root, 'test'), { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith('.test.ts') && !name.endsWith('.long.test.ts'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => /\b(faultSize|sized)\b.*\/fault-sizes\.js/.test(readFileSync(path, 'utf8')));
  expect(suites.map((path) => relative(root, path)).sort()).toEqual(sizedSuites);
});
