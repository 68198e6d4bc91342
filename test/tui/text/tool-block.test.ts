import { expect, test } from 'vitest';
import { rowText } from '../../../src/tui/rows/row.js';
import { stripWrappers } from '../../../src/tui/text/command-headline.js';
import { renderDivider } from '../../../src/tui/text/divider.js';
import { renderToolBlock, type ToolBlock } from '../../../src/tui/text/tool-block.js';
import { copiedText } from '../rows/copied-text.js';

const read: ToolBlock = { state: 'ok', name: 'read', headline: 'read src/a.ts', output: 'one\ntwo\nthree\n', took: '3 ms', folded: true };
const command: ToolBlock = { state: 'ok', name: 'bash', headline: '$ npm test', output: 'passed', took: '3.2 s', folded: false };
const textsOf = (block: ToolBlock, columns = 60): string[] => renderToolBlock(block, columns).map(rowText);

test('the first line has the tool, its object and the outcome', () => {
  expect(textsOf(read)).toEqual(['✓ read src/a.ts  3 lines']);
  expect(textsOf({ ...read, output: 'one' })).toEqual(['✓ read src/a.ts  1 line']);
  expect(textsOf({ ...command, folded: true })).toEqual(['✓ $ npm test  1 line, 3.2 s']);
  expect(textsOf({ ...command, state: 'failed', reason: 'exit code 1', output: '' })).toEqual(['✗ $ npm test  exit 1, 3.2 s']);
  expect(textsOf({ ...read, headline: '', output: '' })).toEqual(['✓ read']);
});

test.each<[ToolBlock['state'], string]>([
  ['waiting', '○ read src/a.ts'],
  ['running', '● read src/a.ts'],
  ['ok', '✓ read src/a.ts'],
  ['failed', '✗ read src/a.ts  failed'],
  ['skipped', '⊘ read src/a.ts  skipped'],
  ['interrupted', '… read src/a.ts  interrupted'],
])('a call that is %s has its mark', (state, shown) => {
  expect(textsOf({ ...read, state, output: '' })).toEqual([shown]);
});

test('what it says is below, unless it is folded', () => {
  expect(textsOf(command)).toEqual(['✓ $ npm test  3.2 s', '  │ passed']);
  expect(copiedText(renderToolBlock({ ...command, output: 'a\n\tb' }, 60))).toBe('$ npm test  3.2 s\na\n\tb');
});

test('of a long output the middle is hidden', () => {
  const output = Array.from({ length: 100 }, (_, at) => `line ${at}`).join('\n');
  const rows = renderToolBlock({ ...command, output }, 60);
  const texts = rows.map(rowText);
  expect(texts.slice(8, 11)).toEqual(['  │ line 7', '  │ … 80 lines hidden', '  │ line 88']);
  expect(texts).toHaveLength(1 + 8 + 1 + 12);
  expect(copiedText([rows[9]!])).toBe('');
});

test('one line more than fits is shown instead of a remark about it', () => {
  const output = Array.from({ length: 21 }, (_, at) => `line ${at}`).join('\n');
  expect(textsOf({ ...command, output })).toHaveLength(22);
});

test('a line of output that goes on and on is cut', () => {
  const rows = renderToolBlock({ ...command, output: 'x'.repeat(50_000) }, 60);
  expect(rows).toHaveLength(1 + Math.ceil(1_001 / 56));
});

test('colours and progress of programs are left out', () => {
  expect(textsOf({ ...command, output: '\u001b[32mok\u001b[0m\n10%\r50%\r100%\r' })).toEqual([
    '✓ $ npm test  3.2 s',
    '  │ ok',
    '  │ …100%',
  ]);
});

test('a change is shown as a diff, and counted', () => {
  const diff = '--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n';
  const edit: ToolBlock = { state: 'ok', name: 'edit', headline: 'edit x', output: '', diff, folded: false };
  expect(textsOf(edit)).toEqual(['✓ edit x  +2 −1', '  │ x', '  │ line 1', '  │ 1   -a', '  │   1 +b', '  │   2 +c']);
  expect(textsOf({ ...edit, folded: true })).toEqual(['✓ edit x  +2 −1']);
});

test('a reason stands beside the call, or below when it is long', () => {
  const reason = 'the file does not exist, and neither does its directory';
  expect(textsOf({ ...read, state: 'failed', output: '', reason: 'no such file' })).toEqual(['✗ read src/a.ts  no such file']);
  expect(textsOf({ ...read, state: 'failed', output: '', reason, folded: false })).toEqual(['✗ read src/a.ts  failed', `  │ ${reason}`]);
  expect(textsOf({ ...read, state: 'skipped', output: '', reason: 'denied' })).toEqual(['⊘ read src/a.ts  skipped: denied']);
});

test('folded, a call is one row however narrow the screen is', () => {
  const long = { ...command, headline: `$ ${'word '.repeat(40)}`, folded: true };
  expect(textsOf(long, 40)).toEqual(['✓ $ word word word word …  1 line, 3.2 s']);
  expect(textsOf(long, 12)).toEqual(['✓ $ word wo…']);
  expect(textsOf({ ...command, headline: `$ ${'word '.repeat(60)}`, output: '' }, 30)).toHaveLength(3);
});

test('it is said where more of the output is', () => {
  expect(textsOf({ ...command, artifact: 'all 90 bytes: berth artifact art_1' })).toEqual([
    '✓ $ npm test  3.2 s',
    '  │ passed',
    '  │ all 90 bytes: berth artifact art_1',
  ]);
});

test.each([
  ['cd /srv/app && npm test', 'npm test'],
  ['cd "/a b/c" && cd d; npm test', 'npm test'],
  ["bash -c 'npm test'", 'npm test'],
  ['/bin/bash -lc "cd /x && npm test"', 'npm test'],
  ["sh -c 'a very long com…", 'a very long com…'],
  [`bash -c 'a' 'b'`, `bash -c 'a' 'b'`],
  [String.raw`bash -c "say \"x\""`, String.raw`bash -c "say \"x\""`],
  ['cd /srv', 'cd /srv'],
  ['cd /srv && ', 'cd /srv &&'],
  ['npm test && cd x', 'npm test && cd x'],
])('%j is shown as %j', (whole, shown) => {
  expect(stripWrappers(whole)).toBe(shown);
  expect(textsOf({ ...command, headline: `$ ${whole}`, took: '', output: '' })).toEqual([`✓ $ ${shown}`]);
});

test('a divider has its text near the left', () => {
  expect(rowText(renderDivider('summary of\n40 messages', 40))).toBe('── summary of 40 messages ──────────────');
  expect(rowText(renderDivider('a text that is too long', 16))).toBe('── a text tha…──');
  expect(rowText(renderDivider('', 4))).toBe('────');
});
