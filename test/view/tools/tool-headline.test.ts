import { expect, test } from 'vitest';
import { limits } from '../../../src/protocol/limits.js';
import { startedHeadline, toolHeadline } from '../../../src/view/tools/tool-headline.js';
import { hidden, hostileText } from '../hostile-text.js';

test('a call is told by what it does, without JSON', () => {
  expect(toolHeadline('bash', { command: 'git status', timeout: 5 })).toBe('$ git status');
  expect(toolHeadline('write', { path: 'a b.txt', content: '{"x":1}' })).toBe('write a b.txt');
  expect(toolHeadline('grep', { pattern: 'x+', path: 'src' })).toBe('grep x+ src');
  expect(toolHeadline('bash', { id: 'bg_1', kill: true })).toBe('bash id: bg_1, kill: true');
  expect(toolHeadline('unknown', { list: ['a', { b: 1 }], none: null })).toBe('unknown list: a, b: 1, none: null');
  expect(toolHeadline('clock', {})).toBe('clock');
});

test('a tool may have any name', () => {
  expect(['toString', '__proto__', 'constructor'].map((name) => toolHeadline(name, { a: 1 }))).toEqual([
    ...['toString a: 1', '__proto__ a: 1', 'constructor a: 1'],
  ]);
});

test('a call that has started is told by its title, a command and one without a title by its arguments', () => {
  expect(startedHeadline({ title: 'edit a.txt (2 places)', tool_name: 'edit', args: { path: 'a.txt' } })).toBe('edit a.txt (2 places)');
  expect(startedHeadline({ title: 'run make', tool_name: 'bash', args: { command: 'make' } })).toBe('$ make');
  expect(startedHeadline({ title: 'edit', tool_name: 'edit', args: { path: 'a.txt' } })).toBe('edit a.txt');
});

test('a headline is one short line with nothing hidden in it, whatever the arguments are', () => {
  const long = `${'x'.repeat(300_000)}\n${hostileText}`;
  const nested = { a: Array.from({ length: 5_000 }, () => ({ deep: long.slice(0, 50) })) };
  const headlines = [
    toolHeadline('bash', { command: `make \n\t${hostileText}` }),
    toolHeadline('bash', { command: long }),
    toolHeadline(hostileText, { [hostileText]: hostileText }),
    toolHeadline('other', nested),
    toolHeadline('write', { path: '😀'.repeat(1_000) }),
    startedHeadline({ title: long, tool_name: 'edit', args: {} }),
  ];
  for (const headline of headlines) {
    expect(headline).not.toMatch(/[\n\t]/);
    expect(hidden.test(headline)).toBe(false);
    expect(headline.length).toBeLessThanOrEqual(limits.headlineCharsMax);
    expect(headline.isWellFormed()).toBe(true);
  }
});
