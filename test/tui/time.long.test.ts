import { afterAll, beforeAll, expect, test } from 'vitest';
import { program } from '../support/daemon.js';
import { startWithHeldModel, type HeldModelDaemon } from '../support/held-model.js';
import { modesLeft } from './escape-sequences.js';
import { openPty } from './pty-screen.js';
import { editorOf, idleHint, keys, newSession, openScreen, pauseFor, runningHint, transcriptOf } from './session-screens.js';

let daemon: HeldModelDaemon;
beforeAll(async () => {
  daemon = await startWithHeldModel({ permissions: { mode: 'auto_edit' } });
});
afterAll(() => daemon[Symbol.asyncDispose]());

test('Space freezes the view and not the agent: → steps, f plays on, Space goes live', async () => {
  const session = await newSession(daemon);
  await using screen = await openScreen(daemon, session);
  await using live = await openScreen(daemon, session);
  const goOn = daemon.answerNext('one two three', 'two', 'three');
  screen.send('begin\r');
  await screen.until((text) => text.includes('one') && text.includes(runningHint));
  screen.send(' ');
  await screen.until('frozen: → steps, f plays on, Space goes live');
  const frozen = transcriptOf(screen.rows());
  daemon.answerNext('the second answer');
  goOn();
  goOn();
  await live.until('one two three');
  live.send('again\r');
  await live.until((text) => text.includes('the second answer') && text.includes(idleHint));
  await screen.until(/frozen, live is \d+ events ahead/);
  expect(transcriptOf(screen.rows()).filter((row) => !/answering|thinking/.test(row))).toEqual(
    frozen.filter((row) => !/answering|thinking/.test(row)),
  );
  screen.send(keys.right);
  await screen.until('one two three');
  expect(screen.text()).not.toContain('the second answer');
  screen.send('f');
  await screen.until('the second answer');
  await screen.until('frozen: → steps');
  screen.send(' ');
  await screen.until((text) => text.includes('the second answer') && !text.includes('frozen'));
});

test('a space in a text is a space, and freezing needs a run', async () => {
  await using screen = await openScreen(daemon, await newSession(daemon));
  await screen.until(idleHint);
  screen.send(' ');
  screen.send('a b');
  await screen.until(() => editorOf(screen.rows()) === ' a b', 'the text with its spaces');
});

test('whoever comes back is told what happened, can play it again, and can see what was changed', async () => {
  const session = await newSession(daemon);
  {
    await using screen = await openScreen(daemon, session);
    daemon.answerNext('hello');
    screen.send('begin\r');
    await screen.until((text) => text.includes('hello') && text.includes(idleHint));
    screen.kill('SIGHUP');
    await screen.exited();
  }
  daemon.callNext('', 'write', { path: 'log.txt', content: 'calm seas\n' })();
  daemon.answerNext('it is written');
  const berth = await daemon.connect();
  await berth.call('prompt', { session_id: session, text: 'write the log', wait: true });
  berth.close();
  await using back = await openScreen(daemon, session);
  await back.until('Alt-A replays it');
  expect(back.text()).toMatch(/while you were away .*: 1 run, 4 messages, 1 call, 1 file changed/);
  back.send(keys.altA);
  await back.until('What was changed');
  back.send(`changed${keys.enter}`);
  await back.until(/log\.txt[^]*calm seas/);
  back.send(keys.escape);
  await back.until('it is written');
  back.send(keys.altA);
  await back.until('Play it again');
  const from = back.bytes().length;
  back.send(keys.enter);
  await back.until((text) => text.includes('frozen: →') && text.includes('it is written'));
  expect(back.bytes().slice(from)).toMatch(/events ahead/);
  back.send(' ');
  await back.until((text) => !text.includes('frozen') && text.includes('it is written'));
});

test('Ctrl-Z gives the terminal to the shell, and fg takes it again with everything that was typed', async () => {
  const session = await newSession(daemon);
  const { env, workdir: cwd } = daemon;
  await using screen = openPty({
    program: { file: '/bin/bash', args: ['--norc', '--noprofile', '-i'] },
    cwd,
    env: { ...env, PS1: 'shell$ ', HISTFILE: '' },
  });
  await screen.until('shell$');
  screen.send(`${process.execPath} ${program} attach ${session}\r`);
  await screen.until(idleHint);
  screen.send('a half text');
  await screen.until('❯ a half text');
  const before = screen.bytes().length;
  screen.send(keys.ctrl('z'));
  await screen.until(/Stopped[^]*shell\$/);
  expect(screen.isAlternate()).toBe(false);
  expect(modesLeft(screen.bytes().slice(0, before) + (screen.bytes().slice(before).split('Stopped')[0] ?? ''))).toEqual([]);
  screen.send('echo in the shell\r');
  await screen.until('\nin the shell');
  screen.send('fg\r');
  await screen.until((text) => text.includes('❯ a half text') && text.includes('Enter send'));
  expect(screen.isAlternate()).toBe(true);
  screen.send(' goes on');
  await screen.until('❯ a half text goes on');
  screen.send(keys.ctrl('c'));
  await screen.until(idleHint);
  screen.send(keys.ctrl('d'));
  await screen.until(/detached[^]*shell\$/);
});

test('a program that was stopped from outside is whole again after fg', async () => {
  const session = await newSession(daemon);
  const { env, workdir: cwd } = daemon;
  await using screen = openPty({
    program: { file: '/bin/bash', args: ['--norc', '--noprofile', '-i'] },
    cwd,
    env: { ...env, PS1: 'shell$ ', HISTFILE: '' },
  });
  await screen.until('shell$');
  screen.send(`${process.execPath} ${program} attach ${session} & echo pid $!; fg\r`);
  await screen.until(idleHint);
  const pid = Number(/pid (\d+)/.exec(screen.bytes())?.[1]);
  process.kill(pid, 'SIGSTOP');
  await screen.until(/Stopped/);
  screen.send('\rfg\r');
  await pauseFor(300);
  screen.send('typed after');
  await screen.until((text) => text.includes('❯ typed after') && text.includes('Nothing was said here yet'));
  expect(screen.isAlternate()).toBe(true);
  screen.send(`${keys.ctrl('u')}${keys.ctrl('d')}`);
  await screen.until(/detached[^]*shell\$/);
});

test('Ctrl-Z where no shell is around it leaves the screen as it was', async () => {
  await using screen = await openScreen(daemon, await newSession(daemon));
  await screen.until(idleHint);
  screen.send(keys.ctrl('z'));
  await screen.until(() => !screen.isAlternate(), 'the screen of before');
  await screen.until((text) => screen.isAlternate() && text.includes(idleHint));
  screen.send('typed after');
  await screen.until('❯ typed after');
});
