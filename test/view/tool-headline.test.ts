import { expect, test } from 'vitest';
import { toolHeadline } from '../../src/view/tool-headline.js';

test('a call is told by what it does, without JSON', () => {
  expect(toolHeadline('bash', { command: 'git status', timeout: 5 })).toBe('$ git status');
  expect(toolHeadline('write', { path: 'a b.txt', content: '{"x":1}' })).toBe('write a b.txt');
  expect(toolHeadline('grep', { pattern: 'x+', path: 'src' })).toBe('grep x+ src');
  expect(toolHeadline('bash', { id: 'bg_1', kill: true })).toBe('bash id: bg_1, kill: true');
  expect(toolHeadline('unknown', { list: ['a', { b: 1 }], none: null })).toBe('unknown list: a, b: 1, none: null');
  expect(toolHeadline('clock', {})).toBe('clock');
});
