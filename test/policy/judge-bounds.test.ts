import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createGlob } from '../../src/policy/globs.js';
import { parseCommand } from '../../src/policy/shell/command.js';
import type { Rule } from '../../src/policy/port.js';
import { toRealPath } from '../../src/policy/real-paths.js';
import { limits } from '../../src/protocol/limits.js';
import { allow, makeWorld } from './judge-world.js';

/** What grows with the square of its input takes far longer than this. */
const judgedMsMax = 5_000;

const many = (count: number, one: (i: number) => string, between = ' '): string =>
  Array.from({ length: count }, (_, i) => one(i)).join(between);
const rules: Rule[] = [
  { tool: 'read', path: '.env', action: 'deny' },
  { tool: '*', path: '*.pem', action: 'deny' },
  { tool: '*', path: 'a/**/b*c/**/d?e', action: 'deny' },
  { tool: 'bash', pattern: '*rm*-r*-f*', action: 'deny' },
  { tool: 'bash', command: 'rm -rf', action: 'deny' },
];

describe('judging takes a bounded time', () => {
  test.each<[string, string]>([
    ['stars', `ls /${'*'.repeat(46)}Q`],
    ['stars between letters', `ls /${'*a'.repeat(46)}Q`],
    ['stars for folders', `ls /${'**/'.repeat(46)}Q`],
    ['a path of many names', `cat ${'a/'.repeat(30_000)}`],
    ['a path that goes up', `cat ${'../'.repeat(20_000)}`],
    ['a write to a path of many names', `rm ${'a/'.repeat(30_000)}`],
    ['commas', `cat ${'a/b/c,'.repeat(10_000)}`],
    ['names between commas', `cat ${many(8_000, (i) => `a/b${i}`, ',')}`],
    ['words like those of a pattern', `echo ${'rm -r '.repeat(10_000)}`],
    ['open brackets', `ls ${'['.repeat(60_000)}`],
    ['writes', `touch ${many(10_000, (i) => `f${i}`)}`],
    ['writes below a directory', `rm ${many(5_000, (i) => `a/b/c/${i}`)}`],
    ['flags that write', `sort ${'-oF '.repeat(10_000)}`],
    ['redirections', `ls ${many(5_000, (i) => `>f${i}`)}`],
    ['wrappers', `${'xargs '.repeat(9_000)}rm`],
    ['texts that may be commands', `${'sudo '.repeat(20)}${"'a b' ".repeat(8_000)}`],
    ['changes of the directory', `${'cd src && '.repeat(900)}touch x`],
  ])('%s', (_, command) => {
    using world = makeWorld();
    for (const mode of ['ask', 'auto_edit'] as const) {
      for (const some of [[], rules]) {
        const before = process.cpuUsage();
        expect(['allow', 'ask', 'deny']).toContain(world.bash(command, { mode, rules: some }).action);
        const { user, system } = process.cpuUsage(before);
        // Time on the processor: what else the machine does is not judged here.
        expect((user + system) / 1_000).toBeLessThan(judgedMsMax);
      }
    }
  });

  test('a path that is longer than any can be is asked about, and one that is denied stays denied beside it', () => {
    using world = makeWorld();
    for (const path of [
      'x'.repeat(limits.pathBytesMax + 1),
      `${'é/'.repeat(limits.pathBytesMax / 2)}x`,
      '../'.repeat(limits.pathNamesMax + 1),
    ]) {
      expect(world.write(path, { mode: 'full' }), path).toMatchObject({
        action: 'ask',
        why: 'the path is too long for any file (ENAMETOOLONG)',
        remember: [],
      });
      expect(world.read(path, { mode: 'full' }).action, path).toBe('ask');
      expect(world.write(path, { mode: 'read_only' }).action, path).toBe('deny');
      expect(world.bash(`cat ${path}.env`, { rules: [...rules, allow('cat')] }).action, path).toBe('ask');
      expect(world.bash(`cat ${path} .env`, { rules: [...rules, allow('cat')] }).action, path).toBe('deny');
      expect(world.bash(`cat ${path}.env`, { rules: [allow('cat')] }).action, path).toBe('allow');
      const { action, reach } = world.bash(`touch ${path}`, { mode: 'auto_edit' });
      expect([action, reach.confinement.kind], path).toEqual(['ask', 'sandbox']);
    }
  });

  test('more files than are looked at are asked about', () => {
    using world = makeWorld();
    const names = many(limits.shellPathsMax + 1, (i) => `f${i}`);
    expect(world.bash(`cat ${names}`, { rules: [...rules, allow('cat')] }).action).toBe('ask');
    expect(world.bash(`cat ${names}`, { rules: [allow('cat')] }).action).toBe('allow');
    expect(world.bash(`touch ${names}`, { mode: 'auto_edit' }).action).toBe('ask');
  });
});

test('a path leads where the system would go, also behind what is not there', () => {
  using world = makeWorld();
  const at = (path: string): string => join(world.workspace, path);
  mkdirSync(at('src/deep'));
  symlinkSync('src/deep', at('link'));
  symlinkSync('loop', at('loop'));
  expect(toRealPath(at('link/x'))).toBe(at('src/deep/x'));
  expect(toRealPath(`${world.workspace}/link/../x`)).toBe(at('src/x'));
  expect(toRealPath(`${world.workspace}/gone/link/../../link/x`)).toBe(at('src/deep/x'));
  expect(toRealPath(`${world.workspace}/a.txt/../link`)).toBe(at('src/deep'));
  expect(toRealPath(`${world.workspace}//./gone/.//x/`)).toBe(at('gone/x'));
  expect(toRealPath('/../..')).toBe('/');
  expect(toRealPath(at('loop'))).toBeUndefined();
});

test('a glob means what the same regular expression does', () => {
  const toRegExp = (glob: string, slashes: boolean): RegExp => {
    const parts: (string | undefined)[] = slashes ? glob.split(/(?<=^|\/)(\*\*\/)|(\*\*|\*|\?)/) : glob.split(/(\*\*|\*|\?)/);
    const meaning: Record<string, string> = {
      '**/': '(?:[^]*/)?',
      '**': '[^]*',
      '*': slashes ? '[^/]*' : '[^]*',
      '?': slashes ? '[^/]' : '[^]',
    };
    return new RegExp(`^${parts.map((part = '') => meaning[part] ?? part.replaceAll(/[.[\]]/g, '\\$&')).join('')}$`, 'u');
  };
  const letters = (...units: string[]): fc.Arbitrary<string> =>
    fc.array(fc.constantFrom(...units), { maxLength: 8 }).map((some) => some.join(''));
  const globs = letters('a', 'b', '/', '*', '**', '**/', '?', '.', '[', '😀');
  fc.assert(
    fc.property(globs, letters('a', 'b', '/', '.', '[', '😀'), fc.boolean(), (glob, text, slashes) => {
      // Three stars are taken from the left, as they stand.
      fc.pre(!glob.includes('***'));
      const { matches, matchesOrContains } = createGlob(glob, { slashes });
      const expected = toRegExp(glob, slashes);
      expect(matches(text)).toBe(expected.test(text));
      const above = text.split('/').map((_, i, names) => names.slice(0, i + 1).join('/'));
      expect(matchesOrContains(text)).toBe(above.some((path) => expected.test(path)));
    }),
    { numRuns: 5_000 },
  );
});

test('more words than are analysed are unclear, also when wrappers make them many', () => {
  const why = `it has more than ${limits.shellWordsMax} words, counted for each wrapper around them`;
  expect(parseCommand(`${'sudo '.repeat(limits.shellWordsMax - 1)}ls`)).toEqual({ unclear: why });
  expect(parseCommand(`echo ${'x '.repeat(limits.shellWordsMax)}`)).toEqual({ unclear: why });
  expect(parseCommand(`echo ${'x '.repeat(limits.shellWordsMax - 1)}`)).toMatchObject({ parts: [{}] });
});

test('a pattern with thousands of stars costs one look through the text', () => {
  const { matches } = createGlob('*a'.repeat(2_000) + 'b', { slashes: false });
  const text = 'a'.repeat(limits.shellTextCharsMax);
  // Without a bound on the work, ten of these take minutes.
  for (let i = 0; i < 10; i++) expect([matches(text), matches(`${text}b`)]).toEqual([false, true]);
});
