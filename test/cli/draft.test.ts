import { expect, test, vi } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, runCommand, runJsonLine, runOk } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

test('a draft is printed, replaced, appended to and deleted', async () => {
  await using daemon = openPlace(shared());
  const session = (await runOk(daemon, ['new', '--title', 'writing'])).trim();
  expect(await runCommand(daemon, ['draft'])).toMatchObject({ code: 1, stdout: '', stderr: 'berth: there is no draft\n' });
  expect(await runOk(daemon, ['draft'], { input: 'a plan\n' })).toBe('');
  expect(await runOk(daemon, ['draft', 'writing', '--append'], { input: 'in two parts' })).toBe('');
  expect(await runOk(daemon, ['draft'])).toBe('a plan\nin two parts\n');
  expect(await runJsonLine(daemon, ['draft', 'writing'])).toEqual({
    session_id: session,
    draft_id: expect.stringMatching(/^dra_/),
    by: expect.stringMatching(/^berth, pid \d+$/),
    text: 'a plan\nin two parts',
    updated_at: expect.any(String),
    attached: false,
  });
  await runOk(daemon, ['draft'], { input: 'another plan' });
  expect(await runOk(daemon, ['draft'])).toBe('another plan\n');
  // Nothing was sent.
  expect(await runOk(daemon, ['log'])).toBe('No messages yet.\n');
  expect(await runOk(daemon, ['draft', '--clear'], { input: 'not read' })).toBe('');
  expect(await runCommand(daemon, ['draft', '--json'])).toMatchObject({
    code: 1,
    stderr: '{"error":{"code":"no_draft","message":"there is no draft"}}\n',
  });
  expect(await runCommand(daemon, ['draft', '--append'])).toMatchObject({ code: 64, stderr: expect.stringContaining('no text') });
  expect(await runCommand(daemon, ['draft', '--append', '--clear'])).toMatchObject({ code: 64 });
});

test('a draft that somebody is writing on is printed and left alone', async () => {
  await using daemon = openPlace(shared());
  const session_id = (await runOk(daemon, ['new'])).trim();
  const writer = await daemon.connect({ client: { name: 'editor' } });
  await writer.call('set_draft', { session_id, draft_id: 'dra_theirs', text: 'half a sent' });
  expect(await runOk(daemon, ['draft'])).toBe('half a sent\n');
  expect(await runCommand(daemon, ['draft', '--clear'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^berth: editor is writing on the newest draft/),
  });
  const appended = await runCommand(daemon, ['draft', '--append'], { input: 'from a script' });
  expect(appended).toMatchObject({ code: 0, stderr: 'berth: editor is writing on the newest draft; this is a draft beside it\n' });
  expect(await runOk(daemon, ['draft'])).toBe('half a sent\nfrom a script\n');
  const { payload } = (await writer.call('list_drafts', { session_id })) as { payload: { drafts: { draft_id: string; text: string }[] } };
  expect(payload.drafts.find(({ draft_id }) => draft_id === 'dra_theirs')?.text).toBe('half a sent');
});

test('a draft that does not fit a line with the others is printed whole', async () => {
  await using daemon = openPlace(shared());
  const session_id = (await runOk(daemon, ['new'])).trim();
  const long = Array.from({ length: 40_000 }, (_, n) => `line ${n} of a long plan`).join('\n');
  const writer = await daemon.connect();
  await writer.call('set_draft', { session_id, draft_id: 'dra_old', text: long });
  writer.close();
  await runOk(daemon, ['draft', '--append'], { input: 'the end' });
  expect((await runOk(daemon, ['draft'])) === `${long}\nthe end\n`).toBe(true);
});
