import { expect, test } from 'vitest';
import { isShownId, matchIds, shortId, shortIds } from '../../src/view/short-ids.js';

test('short ids are as long as it takes to tell them apart', () => {
  const ids = ['ses_0123456789abc', 'ses_0123456789abd', 'ses_1'];
  expect([...shortIds(ids).values()]).toEqual(['0123456789abc', '0123456789abd', '1']);
  expect(matchIds(ids, '0123456789abd')).toEqual(['ses_0123456789abd']);
  expect(matchIds(ids, 'ses_0')).toHaveLength(2);
  expect(matchIds(['inp_1', 'inp_12'], 'inp_1')).toEqual(['inp_1']);
  expect(matchIds(ids, '')).toEqual([]);
});

test('what is shown of an id is taken back, and less is not enough to be sure', () => {
  expect(shortId('req_0123456789abcdef')).toBe('0123456789');
  expect(isShownId(shortId('req_0123456789abcdef'))).toBe(true);
  expect(isShownId('req_012345678')).toBe(false);
});
