import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Berth } from '../../src/client/index.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, openQuestion, parseLines, poll, runCommand, runJson, runOk, startCommand, type Place } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

async function newSession(berth: Berth, title: string): Promise<string> {
  const made = await berth.call('new_session', { title });
  if (!made.ok) throw new Error(made.error.message);
  return made.payload.session_id;
}

/** A run from its prompt to its end. */
async function say(berth: Berth, session_id: string, text: string): Promise<void> {
  await berth.call('prompt', { session_id, text });
}

function writeProgram(place: Place, name: string, script: string): string {
  const path = join(place.workdir, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function begin(berth: Berth, name: string): Promise<number> {
  const reply = await berth.call('ack_cursor', { name });
  if (!reply.ok) throw new Error(reply.error.message);
  return reply.payload.seq;
}

test('what happens is printed as it does, for a session or all, by what was asked for', async () => {
  await using daemon = openPlace(shared());
  const berth = await daemon.connect();
  const [asking, other] = [await newSession(berth, 'asking'), await newSession(berth, 'other')];
  for (const name of ['all', 'one', 'failures']) await begin(berth, name);
  await say(berth, other, 'say ahoy');
  await say(berth, other, 'fail');
  await using all = startCommand(daemon, ['follow', '--as', 'all', '--json']);
  await using one = startCommand(daemon, ['follow', 'asking', '--as', 'one']);
  await using failures = startCommand(daemon, ['follow', '--as', 'failures', '--on', 'fail', '--json']);
  await berth.call('prompt', { session_id: asking, text: 'echo this with approval', wait: false });
  const [ended, failed, asked] = parseLines(await all.until((text) => text.split('\n').length > 3));
  expect(ended).toMatchObject({ happened: 'end', session_id: other, title: 'other', text: 'completed', outcome: 'completed' });
  expect(failed).toMatchObject({ happened: 'fail', outcome: 'failed', text: expect.stringMatching(/^failed: /) });
  expect(asked).toEqual({
    happened: 'ask',
    seq: expect.any(Number),
    at: expect.stringMatching(/Z$/),
    session_id: asking,
    run_id: expect.stringMatching(/^run_/),
    title: 'asking',
    text: 'Echo this text?',
    request_id: expect.stringMatching(/^req_/),
    choices: expect.arrayContaining([{ key: 'a', label: expect.any(String) }]),
    open: true,
  });
  expect(parseLines(await failures.until((text) => text.includes('\n')))).toEqual([failed]);
  await runOk(daemon, ['answer', await openQuestion(daemon), 'a']);
  const said = await one.until((text) => text.includes('completed'));
  expect(said).toMatch(/^\w+ {2}asking {2}asks: Echo this text\?\n\w+ {2}asking {2}completed\n$/);
  expect(await runCommand(daemon, ['follow', '--on', 'done'])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('ask, fail, end'),
  });
});

test('without a name, what happens is followed from now on', async () => {
  await using daemon = openPlace(shared());
  const berth = await daemon.connect();
  const session = await newSession(berth, 'before');
  await say(berth, session, 'fail');
  await using now = startCommand(daemon, ['follow', '--json']);
  // Nobody is told when somebody begins to follow.
  await poll(
    async () => {
      await say(berth, session, 'say ahoy');
      return now.stdout();
    },
    (printed) => printed !== '',
  );
  expect(parseLines(now.stdout())[0]).toMatchObject({ happened: 'end', outcome: 'completed' });
});

test('what a program was run for is acknowledged when it ended well, and told again when it did not', async () => {
  await using daemon = openPlace(shared());
  const berth = await daemon.connect();
  const session = await newSession(berth, 'notified; $(touch never)');
  await begin(berth, 'phone');
  await say(berth, session, 'say one');
  const kept = join(daemon.workdir, 'kept');
  const fails = writeProgram(daemon, 'fails', 'exit 3');
  expect(await runCommand(daemon, ['follow', '--as', 'phone', '--exec', fails])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/fails ended with 3: seq \d+ is not acknowledged/),
  });
  expect(await runCommand(daemon, ['follow', '--as', 'phone', '--exec', join(daemon.workdir, 'none')])).toMatchObject({ code: 1 });
  const keeps = writeProgram(daemon, 'keeps', `cat >> '${kept}'\necho "$BERTH_EVENT $BERTH_SESSION $BERTH_TITLE: $BERTH_TEXT"`);
  await using keeping = startCommand(daemon, ['follow', '--as', 'phone', '--exec', keeps]);
  expect(await keeping.until((text) => text.includes('\n'))).toBe(`end ${session} notified; $(touch never): completed\n`);
  expect(parseLines(readFileSync(kept, 'utf8'))).toMatchObject([{ happened: 'end', session_id: session }]);
  await say(berth, session, 'say two');
  await keeping.until((text) => text.split('\n').length > 2);
  keeping.child.kill('SIGTERM');
  expect(await keeping.finished()).toMatchObject({ code: 0 });
  expect(readFileSync(kept, 'utf8').trim().split('\n')).toHaveLength(2);
  const [phone] = (await runJson(daemon, ['follow', '--ls'])).filter(({ name }) => name === 'phone');
  expect(phone).toMatchObject({ behind: 0, expired: false });
});

test('a loop can look first and acknowledge what it has dealt with', async () => {
  await using daemon = openPlace(shared());
  const berth = await daemon.connect();
  const session = await newSession(berth, 'looked at');
  await begin(berth, 'loop');
  for (const text of ['say one', 'say two']) await say(berth, session, text);
  async function peek(count: number): Promise<(number | undefined)[]> {
    await using peeking = startCommand(daemon, ['follow', '--as', 'loop', '--peek', '--json']);
    return parseLines(await peeking.until((text) => text.split('\n').length > count)).map(({ seq }) => seq);
  }
  const [first, second] = await peek(2);
  expect(await peek(2)).toEqual([first, second]);
  expect(JSON.parse(await runOk(daemon, ['follow', '--as', 'loop', '--ack', String(first), '--json']))).toEqual({
    name: 'loop',
    seq: first,
  });
  expect(await peek(1)).toEqual([second]);
  expect(await runOk(daemon, ['follow', '--ls'])).toMatch(/^loop +\d+ events behind +\S+/m);
  expect(await runOk(daemon, ['follow', '--rm', 'loop'])).toBe('');
  expect(await runCommand(daemon, ['follow', '--rm', 'loop'])).toMatchObject({ code: 1, stderr: expect.stringContaining('no name loop') });
  for (const wrong of [
    ['--peek'],
    ['--ack', '1'],
    ['--ls', '--rm', 'x'],
    ['--as', 'x', '--ls'],
    ['--as', 'x', '--ack', '1', '--on', 'ask'],
  ]) {
    expect(await runCommand(daemon, ['follow', ...wrong])).toMatchObject({ code: 64 });
  }
  expect(await runCommand(daemon, ['follow', '--as', '../x'])).toMatchObject({ code: 1, stderr: expect.stringContaining('name') });
});
