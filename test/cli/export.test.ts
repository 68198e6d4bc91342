import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { exportSession, type Ask } from '../../src/client/export-session.js';
import { writeExportFile } from '../../src/client/export-file.js';
import type { Berth } from '../../src/client/index.js';
import type { Message } from '../../src/protocol/messages.js';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon } from '../support/daemon.js';
import { seedHistory } from '../support/seed-store.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { makeTempDir } from '../support/temp-dir.js';
import { openPlace, parseLines, runCommand, runOk } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

function asking(berth: Berth): Ask {
  return async (type, payload) => {
    const reply = await berth.call(type, payload);
    if (!reply.ok) throw new Error(reply.error.message);
    return reply.payload;
  };
}

async function exportLines(ask: Ask, sessionId: string): Promise<Message[]> {
  let text = '';
  await exportSession(ask, { sessionId, format: 'jsonl', write: (piece) => void (text += piece) });
  return parseLines(text) as unknown as Message[];
}

test('a session is written as its file name says, readable by its owner alone, and over another file only with --force', async () => {
  await using daemon = openPlace(shared());
  await runOk(daemon, ['new', '--title', 'exported']);
  await runOk(daemon, ['send', 'exported', 'call 1 tool', '--wait']);
  expect(await runOk(daemon, ['export', 'exported'])).toMatch(
    /^# exported\n\n- Directory: `.*`\n[^]*\n## You\n\ncall 1 tool\n\n## Agent\n\n[^]*\*\*Tool\*\* `/,
  );
  const file = join(daemon.workdir, 'talk.html');
  const written = await runCommand(daemon, ['export', 'exported', '-o', 'talk.html']);
  expect(written).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/^berth: \d messages written to .*talk\.html\n$/) });
  expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>[^]*call 1 tool[^]*<details class="tool">[^]*<\/html>\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, 'mine');
  expect(await runCommand(daemon, ['export', 'exported', '-o', 'talk.html'])).toMatchObject({
    code: 1,
    stderr: 'berth: talk.html is there already; --force replaces it\n',
  });
  expect(readFileSync(file, 'utf8')).toBe('mine');
  await runOk(daemon, ['export', 'exported', '-o', 'talk.html', '--force', '--format', 'jsonl']);
  const lines = parseLines(readFileSync(file, 'utf8'));
  expect(lines[0]).toMatchObject({ type: 'session', format: 'berth-session', version: 1, title: 'exported' });
  expect(lines.slice(1, -1)).toEqual(parseLines(await runOk(daemon, ['log', 'exported', '--json'])));
  expect(lines.at(-1)).toEqual({ type: 'end', messages: lines.length - 2 });
  for (const [wrong, said] of [
    [['export', 'exported', '--format', 'pdf'], '--format is one of markdown, html, jsonl, not "pdf"'],
    [['export', 'exported', '--force'], '--force says to replace a file'],
  ] as const) {
    expect(await runCommand(daemon, [...wrong])).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining(said) });
  }
  expect(await runCommand(daemon, ['export', 'exported', '-o', 'none/x.md'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('none/x.md cannot be written'),
  });
});

test('JSON lines have all branches, each message once and after its parent', async () => {
  await using daemon = openPlace(shared());
  const berth = await daemon.connect();
  const ask = asking(berth);
  const { session_id } = await ask('new_session', {});
  const say = (text: string): Promise<unknown> => ask('prompt', { session_id, text, wait: true });
  await say('say one');
  const [, one] = (await ask('get_messages', { session_id })).messages;
  for (const text of ['say two', 'say three']) {
    await ask('set_leaf', { session_id, leaf_id: one?.id ?? '' });
    await say(text);
  }
  await ask('set_leaf', { session_id, leaf_id: one?.id ?? '' });
  const lines = (await exportLines(ask, session_id)).slice(1, -1);
  expect(lines.map(({ text }) => text)).toEqual(['say one', 'one', 'say two', 'two', 'say three', 'three']);
  expect(lines.map(({ parent_id }) => lines.findIndex(({ id }) => id === parent_id))).toEqual([-1, 0, 1, 2, 1, 4]);
  const branched = await ask('branch_session', { session_id, leaf_id: one?.id ?? '' });
  expect((await exportLines(ask, branched.session_id)).map(({ text }) => text)).toEqual([undefined, 'say one', 'one', undefined]);
});

test('a message that is too long for a line is exported with all of its content', async () => {
  await using daemon = openPlace(shared());
  const ask = asking(await daemon.connect());
  const { session_id } = await ask('new_session', {});
  const data = Buffer.alloc(limits.messageInlineBytesMax * 0.6, 7).toString('base64');
  const content = [
    { type: 'text', text: 'say ahoy' } as const,
    ...['image/png', 'image/gif'].map((mime_type) => ({ type: 'image', data, mime_type }) as const),
  ];
  await ask('prompt', { session_id, content, wait: true } as never);
  expect((await ask('get_messages', { session_id })).messages[0]).toMatchObject({ truncated: true });
  const [, prompt] = await exportLines(ask, session_id);
  expect(prompt?.content).toEqual(content);
  expect(prompt).not.toHaveProperty('truncated');
});

test('a session of more messages than one answer holds is exported whole and in order', async () => {
  await using daemon = await startDaemon();
  const { session_id } = await asking(await daemon.connect())('new_session', {});
  await daemon.terminate();
  const count = limits.treeNodesMax + 500;
  seedHistory(daemon, session_id, count, 'an old message');
  await daemon.start();
  const lines = await exportLines(asking(await daemon.connect()), session_id);
  expect(lines.slice(1, -1).map(({ text }) => text)).toEqual(Array.from({ length: count }, (_, i) => `${i} an old message`));
});

test('an export that fails leaves no file, and the one that it would have replaced as it was', async () => {
  using dir = makeTempDir();
  const file = dir.file('a.md');
  const fail = (write: (text: string) => void): Promise<void> => {
    write('half');
    return Promise.reject(new Error('cut'));
  };
  await expect(writeExportFile(file, false, fail)).rejects.toThrow('cut');
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, 'old');
  await expect(writeExportFile(file, true, fail)).rejects.toThrow('cut');
  expect(readFileSync(file, 'utf8')).toBe('old');
});
