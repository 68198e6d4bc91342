import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { shareDaemon } from '../support/shared-daemon.js';
import { makeHome, openPlace, openQuestion, runCommand, runOk, type Place } from './run-cli.js';
import { quote } from './screen.js';
import { shellEnv } from './shell-env.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();
const run = promisify(execFile);

/** What bash offers for each command line, whose last word is being typed. */
async function completeInBash(place: Place, ...lines: string[][]): Promise<string[][]> {
  const asks = lines.map((words) => `ask ${quote('berth', ...words)}`).join('\n');
  const script = `source <(berth completion bash)
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9; _berth; printf '%s\\n' "\${COMPREPLY[@]}"; echo; }
${asks}`;
  const { stdout } = await run('bash', ['--norc', '-c', script], { env: shellEnv(place), cwd: place.workdir });
  return stdout.split('\n\n').map((part) => part.split('\n').filter((word) => word !== ''));
}

test('bash completes commands, options and what options take from the table of commands', async () => {
  await using daemon = openPlace(shared());
  const [commands, inGroup, options, global, choices, modes, glued, afterValue, text] = await completeInBash(
    daemon,
    ['re'],
    ['permissions', 'd'],
    ['run', '--qu'],
    ['--so'],
    ['run', '--approve', ''],
    ['new', '--mode', 'a'],
    ['new', '--mode', '=', 'r'],
    ['run', '--model', 'x', '--thinking', 'm'],
    ['run', 'some'],
  );
  expect(commands).toEqual(['replay', 'resume', 'rename', 'relay', 'reset']);
  expect(inGroup).toEqual(['distrust']);
  expect(options).toEqual(['--quiet']);
  expect(global).toEqual(['--socket']);
  expect(choices).toEqual(['ask', 'deny', 'allow-once']);
  expect(modes).toEqual(['ask', 'auto_edit']);
  expect(glued).toEqual(['read_only']);
  expect(afterValue).toEqual(['medium']);
  expect(text).toEqual([]);
});

test('bash completes sessions, questions and models that the daemon has, quoted', async () => {
  await using daemon = openPlace(shared());
  const session = (await runOk(daemon, ['new', '--title', "it's $(touch here) & there"])).trim().slice(4, 14);
  await runOk(daemon, ['send', session, 'echo this with approval']);
  const request = await openQuestion(daemon);
  const { socket } = daemon.paths;
  const [byId, byTitle, elsewhere, requests, either, models] = await completeInBash(
    daemon,
    ['attach', ''],
    ['attach', 'it'],
    ['--socket', `${socket}.none`, 'attach', ''],
    ['answer', ''],
    ['mode', ''],
    ['model', '.', 'off'],
  );
  expect(byId).toEqual([session]);
  expect(byTitle).toEqual(["it\\'s\\ \\$\\(touch\\ here\\)\\ \\&\\ there"]);
  expect(elsewhere).toEqual([]);
  expect(requests).toEqual([request]);
  expect(either).toEqual([session, 'ask', 'auto_edit', 'full', 'read_only']);
  expect(models).toEqual(['offline/guide']);
});

test('asking for words starts no daemon, prints no error and does not wait for a daemon that does not answer', async () => {
  await using home = makeHome();
  for (const kind of ['session', 'model', 'request', 'nonsense', '--help', '']) {
    expect(await runCommand(home, ['__complete', kind, ''])).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
  }
  expect(await runCommand(home, ['daemon', 'status'])).toMatchObject({ code: 69 });
  expect((await runOk(home, ['__complete', 'mode', 'f'])).split('\t')[0]).toBe('full');
  expect(await runOk(home, ['--help'])).not.toContain('__complete');
  expect(await runCommand(home, ['completion', 'tcsh'])).toMatchObject({ code: 64, stderr: expect.stringContaining('bash, zsh, fish') });
  await runOk(home, ['daemon', 'start']);
  const { pid } = JSON.parse(await runOk(home, ['daemon', 'status', '--json'])) as { pid: number };
  process.kill(pid, 'SIGSTOP');
  try {
    expect(await runCommand(home, ['__complete', 'session', ''])).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
  } finally {
    process.kill(pid, 'SIGCONT');
  }
});
