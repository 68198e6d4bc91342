import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { touchesNothing, type ToolContext } from '../../src/tools/port.js';
import { createToolOutputTool } from '../../src/tools/output/tool-output.js';
import { makeTempDir } from '../support/temp-dir.js';
import { artifactsIn, callTool, toolContext, type Said } from '../support/tool-context.js';

const tool = createToolOutputTool();

function withArtifact(cwd: string, content: string | Buffer): ToolContext {
  const artifacts = artifactsIn(cwd);
  const { id, path } = artifacts.begin();
  writeFileSync(path, content);
  void artifacts.keep({ id, mimeType: 'text/plain', bytes: content.length });
  return toolContext({ cwd, artifacts });
}

const numbered = Array.from({ length: 10_000 }, (_, i) => `line ${i}\n`).join('');

test('an output is paged, and the pages are all of it', async () => {
  using dir = makeTempDir();
  const whole = numbered.replaceAll('line', 'Zeile é 漢🙂');
  const context = withArtifact(dir.path, whole);
  let read = '';
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const { text }: Said = await callTool(tool, { artifact_id: 'art_1', offset, limit: 9_999 }, context);
    const [, page, note]: string[] = /^([^]*?)\n?\[([^[]*)\]$/.exec(text)!;
    read += page!;
    const next: string | undefined = /go on with offset (\d+)/.exec(note!)?.[1];
    if (next !== undefined && whole.slice(0, read.length + 1) === `${read}\n`) read += '\n';
    offset = next === undefined ? undefined : Number(next);
  }
  expect(`${read}\n`).toBe(whole);
});

test('a page is bounded, and its end and what is beyond it are said', async () => {
  using dir = makeTempDir();
  const context = withArtifact(dir.path, numbered);
  const { text } = await callTool(tool, { artifact_id: 'art_1', limit: 10_000_000 }, context);
  expect(text.length).toBeLessThan(33_000);
  expect((await callTool(tool, { artifact_id: 'art_1', offset: numbered.length - 10 }, context)).text).toBe(
    `line 9999\n[the end, at ${numbered.length} bytes]`,
  );
  expect((await callTool(tool, { artifact_id: 'art_1', offset: 10_000_000 }, context)).text).toBe(
    `[nothing at offset 10000000: the output has ${numbered.length} bytes]`,
  );
});

test('an artifact that is not there is an error', async () => {
  using dir = makeTempDir();
  for (const args of [{ artifact_id: 'art_9' }, { artifact_id: '../../etc/passwd', pattern: 'root' }])
    expect(await callTool(tool, args, toolContext({ cwd: dir.path }))).toMatchObject({
      isError: true,
      text: expect.stringContaining('There is no artifact'),
    });
});

test('lines are found by plain text, with where they are', async () => {
  using dir = makeTempDir();
  const context = withArtifact(dir.path, numbered);
  const { text, details } = await callTool(tool, { artifact_id: 'art_1', pattern: 'line 77' }, context);
  expect(text.split('\n')[0]).toBe(`${numbered.indexOf('line 77\n')}: line 77`);
  expect([text.split('\n').length, details]).toEqual([112, { counts: { matches: 111 } }]);
  expect(text).toMatch(/\[111 lines found\]$/);
  expect((await callTool(tool, { artifact_id: 'art_1', pattern: 'line (7' }, context)).text).toBe('[no line found]');
  expect((await callTool(tool, { artifact_id: 'art_1', pattern: '.*', regex: false }, context)).text).toBe('[no line found]');
});

test('lines are found by an expression, with lines around them that overlap once', async () => {
  using dir = makeTempDir();
  const context = withArtifact(dir.path, numbered);
  const { text } = await callTool(tool, { artifact_id: 'art_1', pattern: '^line 500[12]$', regex: true, context_lines: 2 }, context);
  expect(text.replaceAll(/^\d+/gm, '')).toBe(
    ['- line 4999', '- line 5000', ': line 5001', ': line 5002', '- line 5003', '- line 5004', '[2 lines found]'].join('\n'),
  );
});

test('more than fits is cut, and the search goes on from there', async () => {
  using dir = makeTempDir();
  const context = withArtifact(dir.path, numbered);
  let offset: number | undefined = 0;
  let matches = 0;
  while (offset !== undefined) {
    const { text, details }: Said = await callTool(tool, { artifact_id: 'art_1', pattern: 'line', offset }, context);
    matches += details!.counts!.matches!;
    const next: string | undefined = /go on with offset (\d+)/.exec(text)?.[1];
    offset = next === undefined ? undefined : Number(next);
  }
  expect(matches).toBe(10_000);
});

test.for(['^(a+)+$', '(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(.*a){20}$'])('%s is given up in time', async (pattern) => {
  using dir = makeTempDir();
  const context = withArtifact(dir.path, `${'a'.repeat(3_000)}!\n`.repeat(100));
  const from = performance.now();
  const { text, isError } = await callTool(tool, { artifact_id: 'art_1', pattern, regex: true }, context);
  expect(performance.now() - from).toBeLessThan(5_000);
  if (isError) expect(text).toContain('The regular expression timed out');
});

test('what is no expression is an error', async () => {
  using dir = makeTempDir();
  const context = withArtifact(dir.path, 'x');
  expect(await callTool(tool, { artifact_id: 'art_1', pattern: '(', regex: true }, context)).toMatchObject({
    isError: true,
    text: expect.stringContaining('not a regular expression'),
  });
});

test('a line of megabytes, binary bytes and control sequences are searched and shown harmlessly', async () => {
  using dir = makeTempDir();
  const long = Buffer.concat([
    Buffer.from('start'),
    Buffer.alloc(3_000_000, 'x'),
    Buffer.from('needle\n'),
    Buffer.from([0, 255, 254, 27, 91, 50, 74]),
    Buffer.from('needle two'),
  ]);
  const { text } = await callTool(tool, { artifact_id: 'art_1', pattern: 'needle' }, withArtifact(dir.path, long));
  expect(text.length).toBeLessThan(6_000);
  // eslint-disable-next-line no-control-regex
  expect(text).not.toMatch(/[\0\x1b]/);
  expect(text).toMatch(/needle two\n\[2 lines found\]$/);
});

test('a search that is stopped ends', async () => {
  using dir = makeTempDir();
  const context = { ...withArtifact(dir.path, numbered), signal: AbortSignal.abort() };
  expect(await callTool(tool, { artifact_id: 'art_1', pattern: 'x' }, context)).toMatchObject({ isError: true, text: 'Stopped.' });
});

test('it only looks', () => {
  expect([tool.readOnly, tool.resumable, tool.prepare]).toEqual([true, true, touchesNothing]);
  expect(tool.description.length).toBeLessThanOrEqual(120);
  expect(tool.title({ artifact_id: 'art_1' })).toBe('Read art_1');
});
