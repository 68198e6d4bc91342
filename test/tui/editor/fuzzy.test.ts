import { expect, test } from 'vitest';
import { fuzzyFilter } from '../../../src/tui/editor/completion/fuzzy.js';

function filter(items: readonly string[], query: string): string[] {
  return fuzzyFilter(items, query, (item) => item).map(({ item }) => item);
}

test('the same text comes first, then its beginning, a word of it, any part of it, and letters in order', () => {
  const items = ['x o y p z e w n', 'reopen', 'file-open', 'opener', 'open'];
  expect(filter(items, 'open')).toEqual(['open', 'opener', 'file-open', 'reopen', 'x o y p z e w n']);
});

test('adjacent letters come before scattered ones, and beginnings of words before insides', () => {
  expect(filter(['s_r_c_m', 'xsrcxm'], 'srcm')).toEqual(['xsrcxm', 's_r_c_m']);
  expect(filter(['xaxbxc', 'a-b-c'], 'abc')).toEqual(['a-b-c', 'xaxbxc']);
  expect(filter(['createsessionpane', 'createSessionPane'], 'csp')).toEqual(['createSessionPane', 'createsessionpane']);
});

test('equal matches keep their order, and no query keeps everything', () => {
  expect(filter(['b one', 'a one', 'c one'], 'one')).toEqual(['b one', 'a one', 'c one']);
  expect(filter(['b', 'a'], '')).toEqual(['b', 'a']);
  expect(filter(['b', 'a'], '  ')).toEqual(['b', 'a']);
});

test('upper and lower case are the same, and what is missing does not match', () => {
  expect(filter(['README.md', 'other'], 'readme')).toEqual(['README.md']);
  expect(filter(['abc'], 'abcd')).toEqual([]);
  expect(filter(['abc'], 'ba')).toEqual([]);
});

test('every word of a query must match, in any order', () => {
  expect(filter(['fix the parser', 'the parser', 'parser fix'], 'fix parser')).toEqual(['fix the parser', 'parser fix']);
});

test('positions are of the letters that match', () => {
  expect(fuzzyFilter(['src/Reader.ts'], 'read', (item) => item)[0]?.positions).toEqual([4, 5, 6, 7]);
  expect(fuzzyFilter(['abcab'], 'ab', (item) => item)[0]?.positions).toEqual([0, 1]);
  expect(fuzzyFilter(['a-x-ab-c'], 'abc', (item) => item)[0]?.positions).toEqual([4, 5, 7]);
  expect(fuzzyFilter(['two one'], 'one two', (item) => item)[0]?.positions).toEqual([0, 1, 2, 4, 5, 6]);
});

test('20,000 items are filtered letter by letter as a query is typed', () => {
  const items = Array.from({ length: 20_000 }, (_, index) => `packages/module-${index % 97}/src/components/file-${index}.component.ts`);
  const query = 'pmsccts';
  for (let length = 1; length <= query.length; length++) expect(filter(items, query.slice(0, length))).toHaveLength(20_000);
  expect(filter(items, 'file-12345.c')).toEqual(['packages/module-26/src/components/file-12345.component.ts']);
});
