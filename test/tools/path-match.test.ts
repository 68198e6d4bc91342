import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchPaths } from '../../src/tools/search/path-match.js';
import { processorMs } from '../support/processor-time.js';

function match(paths: string[], query: string, recent: string[] = [], countMax = 100): string[] {
  const indexed = paths.map((path) => ({ path, folded: path.toLowerCase() }));
  return matchPaths(indexed, { query, countMax, recent: new Map(recent.map((path, age) => [path, age])) }).best;
}

describe('paths that match', () => {
  test('are names that begin with the query, names that have it, paths that have it, then those that have its characters in order', () => {
    const paths = ['w/alk-d/x', 'src/sidewalk.ts', 'walker/a/b', 'src/tools/walk.ts', 'docs/sw-alike.md', 'w-a/l/k'];
    expect(match(paths, 'walk')).toEqual([
      'src/tools/walk.ts',
      'src/sidewalk.ts',
      'walker/a/b',
      'docs/sw-alike.md',
      'w-a/l/k',
      'w/alk-d/x',
    ]);
    expect(match(paths, 'zz')).toEqual([]);
  });

  test('are shallow before deep, short before long, and then in the order of the alphabet', () => {
    expect(match(['a/b/test.ts', 'b/test.ts', 'test-long.ts', 'test.ts', 'a/test.ts', 'test/'], 'test')).toEqual([
      'test/',
      'test.ts',
      'test-long.ts',
      'a/test.ts',
      'b/test.ts',
      'a/b/test.ts',
    ]);
  });

  test('that were used are first among those that match as well, the newest of them first', () => {
    const paths = ['test.ts', 'a/test.ts', 'a/b/c/test.ts', 'a/b/', 'latest.ts'];
    expect(match(paths, 'test', ['latest.ts', 'a/b/c/test.ts', 'a/test.ts'])).toEqual([
      'a/b/c/test.ts',
      'a/test.ts',
      'test.ts',
      'latest.ts',
    ]);
    expect(match(paths, '', ['a/b'])).toEqual(['a/b/', 'test.ts', 'latest.ts', 'a/test.ts', 'a/b/c/test.ts']);
  });

  test('are those of a directory that the query names, its own entries first', () => {
    const paths = ['src/', 'src/a.ts', 'src/tools/', 'src/tools/a.ts', 'src/tools/search/', 'src/tools/search/a.ts', 'other/src/a.ts'];
    expect(match(paths, 'src/')).toEqual(['src/a.ts', 'src/tools/', 'src/tools/a.ts', 'src/tools/search/', 'src/tools/search/a.ts']);
    expect(match(paths, 'SRC/tools/se')).toEqual(['src/tools/search/', 'src/tools/search/a.ts']);
    expect(match(paths, 'src/a.')).toEqual(['src/a.ts', 'src/tools/a.ts', 'src/tools/search/a.ts']);
    // No directory of this name is at the top: a part of a path is meant.
    expect(match(paths, 'tools/sea')).toEqual(['src/tools/search/', 'src/tools/search/a.ts']);
  });

  test('are found in any case, also beyond ASCII', () => {
    expect(match(['README.md', 'docs/ÄRGER.txt'], 'readme')).toEqual(['README.md']);
    expect(match(['README.md', 'docs/ÄRGER.txt'], 'ärg')).toEqual(['docs/ÄRGER.txt']);
    expect(match(['a-💥-b'], '💥b')).toEqual(['a-💥-b']);
  });

  test('are the same however many are wanted', () => {
    const path = fc.stringMatching(/^[abAB]{1,3}(\/[abAB]{1,3}){0,3}\/?$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(path, { maxLength: 60 }),
        fc.stringMatching(/^[ab/]{0,3}$/),
        fc.integer({ min: 1, max: 8 }),
        (paths, query, count) => {
          expect(match(paths, query, paths.slice(0, 3), count)).toEqual(match(paths, query, paths.slice(0, 3)).slice(0, count));
        },
      ),
    );
  });
});

test('20,000 paths are matched in a moment', () => {
  const indexed = Array.from({ length: 20_000 }, (_, i) => {
    const path = `packages/package-${i % 40}/src/module-${i % 400}/SomeComponent${i}.tsx`;
    return { path, folded: path.toLowerCase() };
  });
  for (const query of ['', 'e', 'component1', 'pkgsrcmod7', 'packages/package-7/some', 'nowhere']) {
    const beforeMs = processorMs();
    matchPaths(indexed, { query, countMax: 250, recent: new Map([['x', 0]]) });
    expect(processorMs() - beforeMs, query).toBeLessThan(80);
  }
});
