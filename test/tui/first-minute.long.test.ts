import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { cleanEnv, makeRoot, pathsIn, program } from '../support/daemon.js';
import { foreignSequences, modesLeft } from './escape-sequences.js';
import { openPty, type PtyScreen } from './pty-screen.js';
import { idleHint, keys, pauseFor } from './session-screens.js';

/** A person who has just installed it: no daemon, no config, no session. */
const root = makeRoot();
const { socket, stateDir, configDir } = pathsIn(root);
const cwd = join(root, 'project');
for (const name of ['home', 'project', 's']) mkdirSync(join(root, name), { mode: 0o700 });
const env = cleanEnv(root, { BERTH_SOCKET: socket, BERTH_STATE_DIR: stateDir, BERTH_CONFIG_DIR: configDir, BERTH_OFFLINE_WPS: '200' });

async function berth(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env, cwd });
  return stdout;
}

function open(...args: string[]): PtyScreen {
  return openPty({ args, cwd, env });
}

/** As a person types: a key at a time. */
async function type(screen: PtyScreen, text: string): Promise<void> {
  for (const character of text) {
    screen.send(character);
    await pauseFor(5);
  }
}

afterAll(async () => {
  await berth('daemon', 'stop');
  rmSync(root, { recursive: true, force: true });
});

test('the first minute: berth starts a daemon, is talked to, asks, changes a file, and is left', async () => {
  await using screen = open();
  await screen.until('This is the offline guide');
  await screen.until(idleHint);
  await type(screen, 'help');
  await screen.until('❯ help');
  screen.send(keys.enter);
  await screen.until('see the README', 'the end of the help');
  await screen.until(idleHint);
  await type(screen, 'write ahoy to notes.txt');
  screen.send(keys.enter);
  await screen.until('Allow once');
  expect(existsSync(join(cwd, 'notes.txt'))).toBe(false);
  await pauseFor(600);
  screen.send('a');
  await screen.until('Created notes.txt');
  expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('ahoy\n');
  await screen.until(idleHint);
  await type(screen, 'edit notes.txt: ahoy -> hello');
  screen.send(keys.enter);
  await screen.until(/-ahoy[^]*\+hello[^]*Allow once/);
  await pauseFor(600);
  screen.send('a');
  await screen.until((text) => !text.includes('Allow once') && text.includes(idleHint));
  expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('hello\n');
  screen.send(keys.ctrl('c'));
  await screen.until('Ctrl-C again detaches');
  screen.send(keys.ctrl('c'));
  const { exitCode } = await screen.exited();
  expect(exitCode).toBe(0);
  expect(screen.text()).toMatch(/\[detached\] berth attach \S+ comes back\./);
  expect(modesLeft(screen.bytes())).toEqual([]);
  expect(foreignSequences(screen.bytes())).toEqual([]);
});

test('the thirty seconds: a run goes on while terminals come and go, is steered, followed up and stopped', async () => {
  await berth('new', '--title', 'tour');
  await berth('send', '.', 'stream 20000 words');
  {
    await using first = open('attach', '.');
    await first.until(/^ tour [^]*word100/);
    first.kill('SIGHUP');
    await first.exited();
  }
  await using second = open('attach', '.');
  await second.until(/^ tour [^]*word200/);
  await berth('send', '.', '--follow-up', 'say done');
  await second.until(/✓ say done +follow-up/);
  await berth('send', '.', '--steer', 'say hold on');
  await second.until(/✓ say hold on +steer/);
  expect(await berth('queue', '.')).toMatch(/say hold on[^]*say done|say done[^]*say hold on/);
  await berth('abort', '.', '--reason', 'enough');
  await second.until('run stopped: enough');
  // From the first word on, although the terminal that saw it is gone.
  second.send('\x1b<');
  await second.until('word1 word2 word3');
});
