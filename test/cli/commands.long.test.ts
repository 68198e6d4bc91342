import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import { sized } from '../support/fault-sizes.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, openQuestion, runCommand, runJson, runJsonLine, runOk, startCommand, type JsonLine } from './run-cli.js';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

async function newSession(daemon: TestDaemon, title: string): Promise<string> {
  return (await runOk(daemon, ['new', '--title', title])).trim();
}

function stateOf(daemon: TestDaemon, session: string): Promise<JsonLine> {
  return runJsonLine(daemon, ['state', session]);
}

test('every subcommand has help, and says 64 to what it does not know', async () => {
  await using daemon = openPlace(shared());
  const help = await runOk(daemon, ['--help']);
  const names = [...help.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)? /gm)].map((match) => match[1] ?? '');
  const sessions =
    'new ls run wait follow send draft attach log export replay queue abort resume answer state rename archive rm branch tree compact';
  expect(names).toEqual(
    `${sessions} model models mode doctor artifact completion man relay reset permissions auth config daemon`.split(' '),
  );
  const rules = ['ls', 'add', 'rm', 'test', 'log', 'trust', 'distrust'].map((name) => ['permissions', name]);
  const all = [...names.map((name) => [name]), ...['run', 'start', 'stop', 'logs', 'status'].map((name) => ['daemon', name]), ...rules];
  const shown = sized({ short: all.filter((_, i) => i % 6 === 0), long: all, full: all });
  for (const words of shown) {
    expect(await runOk(daemon, [...words, '--help'])).toContain(`Usage: berth ${words.join(' ')}`);
  }
  for (const words of [['ls'], ['send', 'x'], ['daemon', 'status']]) {
    expect(await runCommand(daemon, [...words, '--no-such-flag'])).toMatchObject({ code: 64 });
  }
  expect(await runOk(daemon, ['help', 'ls'])).toContain('Usage: berth ls');
  expect(await runCommand(daemon, ['sned', 'x'])).toMatchObject({ code: 64, stderr: expect.stringContaining('Did you mean send?') });
  expect(await runCommand(daemon, ['daemon', 'dance'])).toMatchObject({ code: 64 });
  expect(await runCommand(daemon, ['ls', 'too', 'much'])).toMatchObject({ code: 64 });
  expect(await runCommand(daemon, ['ls', '--limit', 'few'])).toMatchObject({ code: 64 });
  expect(await runCommand(daemon, ['rename'])).toMatchObject({ code: 64 });
  expect(await runOk(daemon, ['--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('a session is named by a prefix of its id, its title, or . for the newest of the directory', async () => {
  await using daemon = openPlace(shared());
  const first = await newSession(daemon, 'first');
  const second = await newSession(daemon, 'second');
  const twin = await newSession(daemon, 'second');
  expect(await stateOf(daemon, 'first')).toMatchObject({ session_id: first });
  expect(await stateOf(daemon, first.slice(4))).toMatchObject({ session_id: first });
  expect(await stateOf(daemon, '.')).toMatchObject({ session_id: twin });
  const unclear = await runCommand(daemon, ['state', 'second']);
  expect(unclear).toMatchObject({ code: 1, stdout: '' });
  expect(unclear.stderr).toContain('second could be 2 sessions');
  expect(unclear.stderr).toContain(second);
  expect(await runCommand(daemon, ['state', 'ses_'])).toMatchObject({ code: 1, stderr: expect.stringContaining('could be 3 sessions') });
  expect(await runCommand(daemon, ['state', 'nowhere'])).toMatchObject({ code: 1, stderr: expect.stringContaining('see berth ls') });
  const elsewhere = await runCommand(daemon, ['state'], { cwd: daemon.root });
  expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('berth new') });
});

test('sessions are made, listed, renamed, archived, branched and deleted', async () => {
  await using daemon = openPlace(shared());
  expect(await runOk(daemon, ['ls'])).toContain('berth new');
  const other = join(daemon.workdir, '..', 'other');
  mkdirSync(other);
  const session = (await runOk(daemon, ['new', '--cwd', '../other', '--title', 'a title'])).trim();
  expect(session).toMatch(/^ses_\w{21}$/);
  expect(await runCommand(daemon, ['new', '--cwd', 'missing'])).toMatchObject({ code: 64 });
  expect(await runCommand(daemon, ['new', '--model', 'nobody/none'])).toMatchObject({ code: 1 });
  await runOk(daemon, ['send', session, 'say ahoy', '--wait']);
  const row = await runJsonLine(daemon, ['ls']);
  expect(row).toMatchObject({ session_id: session, title: 'a title', cwd: realpathSync(other), message_count: 2, run_state: 'idle' });
  expect(await runJson(daemon, ['ls', '--here'])).toEqual([]);
  const table = await runOk(daemon, ['ls']);
  expect(table).toMatch(/ID +STATE +AGE +MSGS +TITLE +DIRECTORY/);
  expect(table).toMatch(new RegExp(`${session.slice(4, 14)} +idle +\\d+s +2 +a title +\\S+/other`));

  await runOk(daemon, ['rename', 'a title', 'another', 'title']);
  for (const words of [
    ['rename', 'another title', '.'],
    ['new', '--title', ' . '],
  ]) {
    expect(await runCommand(daemon, words)).toMatchObject({ code: 64, stderr: expect.stringContaining('choose another title') });
  }
  const archived = await runOk(daemon, ['archive', 'another title']);
  expect(await runJson(daemon, ['ls'])).toEqual([]);
  expect(await runJson(daemon, ['ls', '--archived'])).toHaveLength(1);
  expect(await runJson(daemon, ['ls', '--all'])).toHaveLength(1);
  const undo = /berth (archive \w+ --undo) brings it back/.exec(archived)?.[1]?.split(' ') ?? [];
  expect(await runOk(daemon, undo)).toBe(`${session} is back\n`);
  const nameless = (await runOk(daemon, ['new', '--title', 'for a while'])).trim();
  expect(await runOk(daemon, ['rename', nameless, ''])).toBe(`${nameless} has no title any more\n`);
  await runOk(daemon, ['rm', nameless, '--yes']);

  const tree = await runOk(daemon, ['tree', session]);
  const [asked = '', answered = ''] = tree.split('\n');
  expect(asked).toMatch(/^ {2}\w{10} {2}> say ahoy$/);
  expect(answered).toMatch(/^\* \w{10} {4}ahoy$/);
  const branch = (await runOk(daemon, ['branch', session, '--at', asked.slice(2, 12)])).trim();
  expect((await runJson(daemon, ['log', branch])).map(({ text }) => text)).toEqual(['say ahoy']);
  expect(await runCommand(daemon, ['branch', session, '--at', 'msg_nowhere'])).toMatchObject({ code: 1 });

  expect(await runCommand(daemon, ['rm', session])).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') });
  await runOk(daemon, ['rm', session, '--yes']);
  expect((await runJson(daemon, ['ls'])).map(({ session_id }) => session_id)).toEqual([branch]);
});

test('a text is sent to the newest session of the directory, which the first one makes', async () => {
  await using daemon = openPlace(shared());
  expect(await runCommand(daemon, ['send', 'say ahoy', '--wait'])).toMatchObject({ code: 0, stdout: 'ahoy\n', stderr: '' });
  expect(await runOk(daemon, ['send', '.', 'say again', '--wait'])).toBe('again\n');
  expect(await runOk(daemon, ['send', '--wait'], { input: 'say piped\n' })).toBe('piped\n');
  expect(await runOk(daemon, ['send', '.', '--wait'], { input: 'say two\nlines' })).toBe('two\nlines\n');
  const { session_id: session } = await runJsonLine(daemon, ['ls']);
  expect(await runOk(daemon, ['send', session, '--wait'], { input: 'say by id' })).toBe('by id\n');
  expect(await runOk(daemon, ['send', '.', '-', '--wait'], { input: 'say dash' })).toBe('dash\n');
  expect(await runOk(daemon, ['send', '--wait', '--', '--not-a-flag'])).toContain('--not-a-flag');
  expect(await runJson(daemon, ['ls'])).toHaveLength(1);
  const accepted = await runJsonLine(daemon, ['send', 'say quietly']);
  expect(accepted).toMatchObject({ session_id: expect.stringMatching(/^ses_/), run_id: expect.stringMatching(/^run_/) });
  const result = await runJsonLine(daemon, ['send', '.', 'call 2 tools', '--wait', '--follow-up']);
  expect(result).toMatchObject({ outcome: 'completed', error: null, output: expect.stringContaining('2 calls are done.') });
  expect(await runCommand(daemon, ['send', '.', ' '])).toMatchObject({ code: 64, stderr: 'berth: there is no text to send\n' });
  expect(await runCommand(daemon, ['send', 'x', '--steer', '--follow-up'])).toMatchObject({ code: 64 });
  const tooLong = await runCommand(daemon, ['send', '-'], { input: 'x'.repeat(5_000_000) });
  expect(tooLong).toMatchObject({ code: 1, stderr: expect.stringContaining('too long') });
});

test('waiting for a run that fails says why, and resume tries again', async () => {
  await using daemon = openPlace(shared());
  const failed = await runCommand(daemon, ['send', 'fail late', '--wait']);
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('These are ten words') });
  expect(failed.stderr).toMatch(/^berth: the run failed: .*asked to fail.*; berth resume \w+ tries again\n$/);
  expect(await runOk(daemon, ['resume'])).toMatch(/^run_\w+ tries again/);
  expect(await runCommand(daemon, ['resume', '--retry', '--abandon'])).toMatchObject({ code: 64 });
  await runOk(daemon, ['send', '.', '--wait', '--follow-up', 'say fine']);
  expect(await runCommand(daemon, ['resume'])).toMatchObject({ code: 1, stderr: 'berth: the run is complete; send a message\n' });
});

test('what waits is listed, edited, held, moved, removed and brought back by abort', async () => {
  await using daemon = await startDaemon({ wps: 20 });
  const session = await newSession(daemon, 'busy');
  await runOk(daemon, ['send', session, 'stream 2000 words']);
  const busy = await runCommand(daemon, ['send', session, 'again']);
  expect(busy).toMatchObject({ code: 1, stderr: expect.stringMatching(/--steer or --follow-up/) });
  const unquoted = await runCommand(daemon, ['send', session, 'say', 'one', 'more']);
  expect(unquoted).toMatchObject({ code: 64, stderr: expect.stringContaining('goes in quotes') });
  expect(await runCommand(daemon, ['send', session, '--bogus', 'again'])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('--bogus'),
  });
  await runOk(daemon, ['send', session, '--follow-up', 'say one']);
  await runOk(daemon, ['send', session, '--follow-up', 'say two']);
  await runOk(daemon, ['send', session, '--steer', 'say three']);
  const queue = async () => (await runJsonLine(daemon, ['queue', session])).inputs;
  const texts = async () => (await queue()).map(({ text }) => text);
  expect(await runOk(daemon, ['queue', session])).toMatch(/^1 {2}\w+ {2}follow-up +say one\n2 .*say two\n3 {2}\w+ {2}steer +say three\n$/);
  await runOk(daemon, ['queue', session, 'edit', '1', 'say', 'uno']);
  await runOk(daemon, ['queue', session, 'edit', '2'], { input: 'say dos' });
  expect(await runOk(daemon, ['queue', session, 'move', '1', '99'])).toMatch(/ is moved to 3\n$/);
  expect(await texts()).toEqual(['say dos', 'say three', 'say uno']);
  await runOk(daemon, ['queue', session, 'move', '3', '1']);
  await runOk(daemon, ['queue', session, 'move', '3', '1']);
  expect(await texts()).toEqual(['say three', 'say uno', 'say dos']);
  await runOk(daemon, ['queue', session, 'hold', '2']);
  expect((await queue())[1]).toMatchObject({ hold: true });
  await runOk(daemon, ['queue', session, 'release', (await queue())[1]?.input_id ?? '']);
  expect((await queue())[1]).toMatchObject({ hold: false });
  await runOk(daemon, ['queue', session, 'rm', '1']);
  expect(await runCommand(daemon, ['queue', session, 'rm', '7'])).toMatchObject({ code: 1 });
  expect(await runCommand(daemon, ['queue', session, 'rm'])).toMatchObject({ code: 64 });
  expect(await runCommand(daemon, ['queue', session, 'juggle'])).toMatchObject({ code: 64 });
  expect(await runOk(daemon, ['state', session])).toMatch(/queue +2 to follow up/);

  const stopped = await runOk(daemon, ['abort', session]);
  expect(stopped).toMatch(/^stopped run_\w+\n.*\n {2}say uno\n {2}say dos\n$/);
  expect(await runCommand(daemon, ['abort', session])).toMatchObject({ code: 1, stderr: 'berth: no run is in progress\n' });
  await runOk(daemon, ['send', session, 'stream 2000 words']);
  await runOk(daemon, ['send', session, '--follow-up', 'say kept']);
  expect(await runJsonLine(daemon, ['abort', session, '--keep-queue'])).toMatchObject({ ended: true, dropped: [] });
  expect(await runOk(daemon, ['queue', session])).toContain('paused');
  expect(await runOk(daemon, ['queue', session, 'resume'])).toMatch(/^run_/);
  expect(await runOk(daemon, ['queue', session, 'clear'])).toMatch(/nothing was waiting|removed/);
});

test('questions are listed and answered by those who were not there when they were asked', async () => {
  await using daemon = openPlace(shared());
  expect(await runOk(daemon, ['answer'])).toBe('No questions are open.\n');
  const session = await newSession(daemon, 'asking');
  await using run = startCommand(daemon, ['send', session, 'ask me', '--wait']);
  const next = async (): Promise<JsonLine> => {
    for (;;) {
      const [request] = await runJson(daemon, ['answer']);
      if (request && !asked.has(request.request_id)) {
        asked.add(request.request_id);
        return request;
      }
    }
  };
  const asked = new Set<string>();
  const select = await next();
  expect(await runOk(daemon, ['ls'])).toContain('asks you');
  expect(await runOk(daemon, ['answer'])).toMatch(/^\w{10} {2}Which way shall we sail\?\n {2}1\) north\n/);
  const id = await openQuestion(daemon);
  // A place in the list, or a beginning that tomorrow's questions may share, could mean another question than was read.
  for (const unclear of ['1', id.slice(0, 3), id.slice(0, 9), `req_${id.slice(0, 9)}`]) {
    expect(await runCommand(daemon, ['answer', unclear, '1'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('lists them with their ids'),
    });
  }
  expect(await runCommand(daemon, ['answer', id])).toMatchObject({ code: 64, stderr: expect.stringContaining('1 to 3') });
  expect(await runCommand(daemon, ['answer', id, 'west'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('a number from 1 to 3'),
  });
  expect(await runOk(daemon, ['answer', select.request_id, '2'])).toMatch(/^Which way shall we sail\? answered: south \(session \w+\)\n$/);
  expect(await runCommand(daemon, ['answer', select.request_id, '2'])).toMatchObject({ code: 1 });
  await runOk(daemon, ['answer', (await next()).request_id, 'yes']);
  await runOk(daemon, ['answer', (await next()).request_id, 'Santa', 'Maria']);
  await runOk(daemon, ['answer', (await next()).request_id, '--cancel']);
  const { code, stdout, stderr } = await run.finished();
  expect({ code, asks: stderr.match(/berth answer \w+ VALUE answers it/g)?.length }).toEqual({ code: 0, asks: 4 });
  expect(stdout).toMatch(/chose: south[^]*said yes[^]*wrote: Santa Maria[^]*no answer/);

  await using denied = startCommand(daemon, ['send', session, 'echo this with approval', '--wait']);
  await next();
  expect(await runOk(daemon, ['answer', await openQuestion(daemon), 'deny', '--reason', 'not today'])).toMatch(
    /answered: deny, because not today \(session \w+\)\n$/,
  );
  expect((await denied.finished()).stdout).toContain('not today');
});

test('the log is the whole conversation, page after page, very long messages included', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'long');
  const berth = await daemon.connect();
  const words: string[] = [];
  for (let n = 0; n < 130; n++) {
    await berth.call('prompt', { session_id: session, text: `say ${n}` });
    words.push(`say ${n}`, String(n));
  }
  expect((await runJson(daemon, ['log', session])).map(({ text }) => text)).toEqual(words);
  expect((await runJson(daemon, ['log', session, '--limit', '3'])).map(({ text }) => text)).toEqual(words.slice(-3));
  expect(await runOk(daemon, ['log', session, '--limit', '2'])).toBe('> say 129\n129\n');

  const long = 'ship '.repeat(300_000).trim();
  expect((await runOk(daemon, ['send', session, '--wait'], { input: `say ${long}` })) === `${long}\n`).toBe(true);
  const said = await runJson(daemon, ['log', session, '--limit', '2']);
  expect(said.map(({ text }) => text.length)).toEqual([long.length + 4, long.length]);
  expect((await runOk(daemon, ['log', session, '--limit', '1'])) === `${long}\n`).toBe(true);
});

test('nothing that a terminal would act on comes out, whatever was said', async () => {
  await using daemon = openPlace(shared());
  const nasty = 'a\u001b[2Jb\u009b31mc\u202ed\u200be\u0007';
  const shown = 'a␛[2Jb<U+009B>31mc<U+202E>d<U+200B>e␇';
  const session = await newSession(daemon, nasty);
  expect(await runOk(daemon, ['send', session, '--wait'], { input: `say ${nasty}` })).toBe(`${shown}\n`);
  expect(await runOk(daemon, ['log', session])).toBe(`> say ${shown}\n${shown}\n`);
  for (const args of [['ls'], ['state', session], ['tree', session]]) expect(await runOk(daemon, args)).toContain(shown.slice(0, 8));
  const answer = await runJsonLine(daemon, ['log', session, '--limit', '1']);
  expect(answer.text).toBe(nasty);
  const raw = await runOk(daemon, ['log', session, '--json']);
  expect(raw).not.toMatch(/[\u001b\u009b\u202e\u200b\u0007]/); // eslint-disable-line no-control-regex
});

test('a reader that has seen enough is no error', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'long');
  await runOk(daemon, ['send', session, 'stream 100000 words', '--wait']);
  await using log = startCommand(daemon, ['log', session]);
  log.child.stdout?.once('data', () => log.child.stdout?.destroy());
  expect(await log.finished()).toMatchObject({ code: 0, signal: null, stderr: '' });
});

test('flags win over the environment', async () => {
  await using one = await startDaemon();
  await using two = await startDaemon();
  await newSession(two, 'of two');
  expect(await runOk(one, ['ls'])).not.toContain('of two');
  const { socket, stateDir, configDir } = two.paths;
  const flags = ['--socket', socket, '--state-dir', stateDir, '--config-dir', configDir];
  expect(await runOk(one, ['ls', ...flags])).toContain('of two');
  expect(await runOk(one, [...flags, 'ls'])).toContain('of two');
  expect(await runOk(one, [`--socket=${socket}`, `--state-dir=${stateDir}`, `--config-dir=${configDir}`, 'ls'])).toContain('of two');
  // What no flag names is still what the environment names, and this daemon has other data.
  const mixed = await runCommand(one, ['--socket', socket, 'ls']);
  expect(mixed).toMatchObject({ code: 1, stderr: expect.stringContaining(`keeps its data in ${stateDir}`) });
});

test('a config that cannot be used is named, with the reason', async () => {
  await using daemon = await startDaemon();
  await daemon.terminate();
  writeFileSync(join(daemon.paths.configDir, 'config.json'), '{"modle": "x/y"}');
  const { code, stderr } = await runCommand(daemon, ['ls']);
  expect({ code, stderr }).toEqual({ code: 69, stderr: expect.stringContaining('did you mean model?') });
});
