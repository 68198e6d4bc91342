import { spawnSync } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { program } from '../support/daemon.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, openQuestion, runCommand, runJson, runJsonLine, runOk, startCommand, type Place } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

/** Runs a line of sh, in which `berth` is this program. */
function runShell(place: Place, line: string): { status: number | null; stdout: string; stderr: string } {
  const script = `berth() { "${process.execPath}" "${program}" "$@"; }; ${line}`;
  return spawnSync('sh', ['-c', script], { cwd: place.workdir, env: place.env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

async function lastPrompt(place: Place): Promise<string> {
  return (await runJson(place, ['ls']))[0]?.last_user_message as string;
}

test('what is piped in goes below the text, in the same message', async () => {
  await using daemon = openPlace(shared());
  for (const input of ['one\ntwo\n', 'one\ntwo']) {
    expect(await runOk(daemon, ['run', 'say these:'], { input })).toBe('these:\n\none\ntwo\n');
    expect(await lastPrompt(daemon)).toBe('say these:\n\none\ntwo');
  }
  expect(runShell(daemon, 'printf "a b" | berth run "say piped"')).toMatchObject({ status: 0, stdout: 'piped\n\na b\n', stderr: '' });
});

test('an empty standard input and /dev/null add nothing', async () => {
  await using daemon = openPlace(shared());
  for (const line of ['berth run "say alone" </dev/null', ': | berth run "say alone"', 'berth run "say alone" <&-']) {
    expect(runShell(daemon, line)).toMatchObject({ status: 0, stdout: 'alone\n', stderr: '' });
  }
});

test('a standard input that a program left open without a word is not waited for, and a pipe that does not end is told of', async () => {
  await using daemon = openPlace(shared());
  await using silent = startCommand(daemon, ['run', 'say alone']);
  expect(await silent.finished()).toMatchObject({ code: 0, stdout: 'alone\n', stderr: expect.stringContaining('going on without it') });
  await using slow = startCommand(daemon, ['run', 'say first']);
  slow.type('half');
  await slow.untilError((text) =>
    text.includes('waiting for standard input to end, which goes with the text; with </dev/null there is none'),
  );
  slow.type(' and the rest');
  slow.endInput();
  expect(await slow.finished()).toMatchObject({ code: 0, stdout: 'first\n\nhalf and the rest\n' });
});

test('what no message can hold is refused with the bound, and what is not UTF-8 is told of', async () => {
  await using daemon = openPlace(shared());
  const bound = limits.lineBytesMax - limits.envelopeMarginBytes;
  expect(runShell(daemon, 'yes | berth run "say much"')).toMatchObject({
    status: 1,
    stderr: `berth: standard input is too long to send: it must be below ${bound} bytes; name a file in the text instead\n`,
  });
  expect(runShell(daemon, `printf 'caf\\351' | berth run "say"`)).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('standard input is not all UTF-8'),
  });
});

test('a text that is piped into berth does not wait for an answer that nobody there can give', async () => {
  await using daemon = openPlace(shared());
  const { code, stdout, stderr } = await runCommand(daemon, [], { input: 'ask me' });
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  const id = await openQuestion(daemon);
  expect(stderr).toContain(`berth: the run waits for an answer: Which way shall we sail?\nberth: berth answer ${id} --show`);
  expect(await runJsonLine(daemon, ['state'])).toMatchObject({ run_state: 'running' });
});
