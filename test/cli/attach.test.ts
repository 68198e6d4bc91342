import { expect, test, vi } from 'vitest';
import { limits } from '../../src/protocol/limits.js';
import { startDaemon } from '../support/daemon.js';
import { startWithHeldModel } from '../support/held-model.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { streamed } from '../support/wire.js';
import {
  countStarts,
  makeHome,
  openPlace,
  openQuestion,
  runCommand,
  runJson,
  runJsonLine,
  runOk,
  startCommand,
  type Place,
} from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();

async function newSession(daemon: Place, title: string): Promise<string> {
  return (await runOk(daemon, ['new', '--title', title])).trim();
}

/** The line of an answer that begins with `word1`. */
function words(printed: string): string {
  return printed.split('\n').findLast((line) => line.startsWith('word1 ')) ?? '';
}

test('two who watch and one who waits agree on every character', async () => {
  await using daemon = await startWithHeldModel();
  const goOn = daemon.answerNext(streamed(3000), 'word1500 ');
  const session = await newSession(daemon, 'watched');
  await using first = startCommand(daemon, ['attach', session, '--plain']);
  await first.until((text) => text.includes('watched'));
  await using script = startCommand(daemon, ['send', session, 'many words', '--wait']);
  await script.until((text) => text.includes('word100 '));
  // Comes in the middle.
  await using second = startCommand(daemon, ['attach', session, '--plain']);
  await second.until((text) => text.includes('word1499'));
  goOn();
  const { code, stdout } = await script.finished();
  await first.until((text) => text.includes('[run] completed'));
  await second.until((text) => text.includes('[run] completed'));
  const answer = await runJsonLine(daemon, ['log', session, '--limit', '1']);
  expect(code).toBe(0);
  expect(answer.text.split(' ')).toHaveLength(3000);
  expect(stdout === `${answer.text}\n`).toBe(true);
  expect(words(first.stdout()) === answer.text).toBe(true);
  expect(words(second.stdout()) === answer.text).toBe(true);
});

test('what came after a cursor is printed, and then what comes', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'since');
  await runOk(daemon, ['send', session, 'say before', '--wait']);
  const { seq = 0 } = await runJsonLine(daemon, ['state', session]);
  await runOk(daemon, ['send', session, 'call 1 tool', '--wait']);
  await using watch = startCommand(daemon, ['attach', session, '--since', String(seq)]);
  await watch.until((text) => text.includes('[run] completed'));
  await runOk(daemon, ['send', session, 'say after']);
  const seen = await watch.until((text) => text.includes('after\n[run] completed'));
  expect(seen).toMatch(
    /^since \(\w+\) in .*offline\/guide\n\n> call 1 tool\n\[tool\] .*\n {2}\d{4}-.*\n\[tool\] clock done.*\nclock said: .*\n\[run\] completed\n\n> say after\nafter\n\[run\] completed\n$/,
  );
  const all = await runCommand(daemon, ['attach', session, '--since', '0']);
  expect(all).toMatchObject({ code: 0, stdout: expect.stringMatching(/say before\nbefore\n\[run\] completed\n\n> call 1 tool/) });
  expect(await runCommand(daemon, ['attach', session, '--since', '999999'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the log ends at'),
  });
  expect(await runCommand(daemon, ['attach', session, '--since', '-1'])).toMatchObject({ code: 64 });
  const events = await runJson(daemon, ['attach', session, '--since', String(seq)]);
  expect(events.every(({ seq: at = Infinity }) => at > seq)).toBe(true);
  expect(events.map(({ type }) => type)).toContain('tool_execution_end');
});

test('lines that are piped in are sent, and it stays until they have run', async () => {
  await using daemon = await startWithHeldModel();
  const finishAnswer = daemon.answerNext(streamed(200), 'word100 ');
  daemon.answerNext('a literal slash');
  daemon.answerNext('the last');
  const session = await newSession(daemon, 'piped');
  await using piped = startCommand(daemon, ['attach', session]);
  piped.type('many words\n/follow say last\n/nonsense\n//literal\n');
  piped.endInput();
  await piped.until((text) => text.includes('[queue] steer waits: /literal'));
  finishAnswer();
  const { code, stdout, stderr } = await piped.finished();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('[not done] there is no /nonsense');
  expect(stdout).toContain('> /literal');
  expect(stdout).toContain('[queue] follow-up waits: say last');
  expect(stdout).toMatch(/word200\n[^]*> say last\nthe last\n\[run\] completed\n$/);
  // With nothing to send it stays while something runs, and no longer.
  const finishAnother = daemon.answerNext(streamed(2000), 'word1000 ');
  await runOk(daemon, ['send', session, 'more words']);
  await using onlooker = startCommand(daemon, ['attach', session]);
  onlooker.endInput();
  await onlooker.until((text) => text.includes('word999'));
  finishAnother();
  expect((await onlooker.finished()).stdout).toMatch(/word2000\n\[run\] completed\n$/);
  expect(await runCommand(daemon, ['attach', session])).toMatchObject({ code: 0 });
});

test('questions are answered by the lines that follow them', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'asking');
  await using watch = startCommand(daemon, ['attach', session]);
  watch.type('ask me\n');
  await watch.until((text) => text.includes('Which way shall we sail?\n  1) north'));
  watch.type('7\n');
  await watch.until((text) => text.includes('[not done] type a number from 1 to 3'));
  watch.type('2\n');
  await watch.until((text) => text.includes('Cast off now?\n  The tide is right.\n  type y or n'));
  watch.type('y\n');
  await watch.until((text) => text.includes('What is the ship called?\n'));
  watch.type('/skip\n');
  await watch.until((text) => text.includes('(left empty: Day 1: )'));
  watch.type('\n');
  const seen = await watch.until((text) => text.includes('[run] completed'));
  expect(seen).toMatch(/answered: south\n[^]*answered: yes\n[^]*\[question\] cancelled\n[^]*answered: Day 1:\n/);
  watch.type('echo this with approval\n');
  await watch.until((text) => text.includes('or r and a reason'));
  await runOk(daemon, ['answer', await openQuestion(daemon), 'deny', '--reason', 'not today']);
  await watch.until((text) => /answered: deny, because not today by berth, pid \d+\n/.test(text));
});

test('what nobody can answer where it was asked is said, and left open', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'nobody');
  const { code, stdout, stderr } = await runCommand(daemon, ['attach', session], { input: 'echo this with approval\n' });
  expect(code).toBe(1);
  expect(stdout).toContain('[question] Echo this text?\n');
  const [, id = ''] = /waits for an answer[^\n]*: Echo this text\?\nberth: berth answer (\w+) --show [^\n]*\n$/.exec(stderr) ?? [];
  expect(id).toBe(await openQuestion(daemon));
  // The same for a line that finds the question open.
  const late = await runCommand(daemon, ['attach', session], { input: 'what now\n' });
  expect(late).toMatchObject({ code: 1, stderr, stdout: expect.stringContaining('[not done] type ') });
  // Who sent nothing has nothing to answer for, and hears the others.
  await using onlooker = startCommand(daemon, ['attach', session]);
  onlooker.endInput();
  await onlooker.until((text) => text.includes('[question] Echo this text?'));
  expect(await runOk(daemon, ['answer', id, 'deny', '--reason', ''])).toMatch(/ answered: deny \(session \w+\)\n$/);
  expect(await onlooker.finished()).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('[run] stopped') });
});

test('an answer that is the last line is taken, and the run watched to its end', async () => {
  await using daemon = openPlace(shared());
  const session = await newSession(daemon, 'last');
  await using watch = startCommand(daemon, ['attach', session]);
  watch.type('echo this with approval\n');
  await watch.until((text) => text.includes('or r and a reason'));
  watch.type('a\n');
  watch.endInput();
  expect(await watch.finished()).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('[run] completed') });
});

test('an interrupt detaches, says how to come back, and the run goes on', async () => {
  await using daemon = await startWithHeldModel();
  const finishAnswer = daemon.answerNext(streamed(400), 'word100 ');
  const session = await newSession(daemon, 'left');
  await using watch = startCommand(daemon, ['attach', session]);
  watch.type('many words\n');
  await watch.until((text) => text.includes('word20 '));
  watch.child.kill('SIGINT');
  const { code, stdout } = await watch.finished();
  expect(code).toBe(0);
  expect(stdout).toMatch(
    new RegExp(`\n\\[detached\\] The run goes on\\. berth attach ${session.slice(4, 14)} comes back; with --since \\d+, from here\\.\n$`),
  );
  const since = /--since (\d+)/.exec(stdout)?.[1] ?? '';
  finishAnswer();
  const back = await runCommand(daemon, ['attach', session, '--since', since]);
  expect(back.stdout).toMatch(/\nword1 [^]*word400\n\[run\] completed\n$/);
  const answer = await runJsonLine(daemon, ['log', session, '--limit', '1']);
  expect(words(back.stdout)).toBe(answer.text);
});

test('a view brings back a daemon that was killed, prints nothing twice, and makes no prompt of a steer', async () => {
  await using home = makeHome({ BERTH_OFFLINE_WPS: '300' });
  const session = await newSession(home, 'survivor');
  const { pid } = await runJsonLine(home, ['daemon', 'status']);
  await using watch = startCommand(home, ['attach', session]);
  watch.type('stream 5000 words\n');
  await watch.until((text) => text.includes('word200 '));
  // Typed before anybody can know that the run is over, and taken by the next daemon.
  process.kill(pid, 'SIGSTOP');
  watch.type('meant for the run\n');
  process.kill(pid, 'SIGKILL');
  const seen = await watch.until((text) => /\[not sent\][^\n]*meant for the run\n/.test(text));
  expect(seen).toMatch(/\[daemon\] lost connection…\n[^]*\[daemon\] back\n/);
  expect(seen).toMatch(/\[not sent\] the run was interrupted; \/resume continues it[^\n]*: meant for the run\n/);
  const told = await watch.until((text) => text.includes('[run] interrupted: the daemon stopped while it ran'));
  expect(told.match(/\bword1 /g)).toHaveLength(1);
  expect(told.match(/\bword150 /g)).toHaveLength(1);
  expect(await runJsonLine(home, ['state', session])).toMatchObject({ run_state: 'idle', last_run: { outcome: 'interrupted' } });
  watch.type('/resume\n');
  await watch.until((text) => /\[run\] goes on after run_\w+\n/.test(text));
  watch.type('/abort\n');
  await watch.until((text) => text.includes('[run] stopped'));
  watch.type('say still here\n');
  await watch.until((text) => text.includes('still here\n[run] completed'));
});

test('a daemon that keeps dying is started a few times, and then waited for', async () => {
  await using home = makeHome();
  const session = await newSession(home, 'mortal');
  await using watch = startCommand(home, ['attach', session]);
  await watch.until((text) => text.includes('mortal'));
  for (let deaths = 1; deaths <= limits.reviveAttemptsMax + 1; deaths++) {
    const { pid } = await runJsonLine(home, ['daemon', 'status']);
    process.kill(pid, 'SIGKILL');
    const wanted = deaths > limits.reviveAttemptsMax ? '[daemon] it does not run; any berth command starts it again' : '[daemon] back\n';
    await watch.until((text) => text.split(wanted).length - 1 === (deaths > limits.reviveAttemptsMax ? 1 : deaths));
  }
  expect(countStarts(home)).toBe(1 + limits.reviveAttemptsMax);
});

test('what tools, queues and people do is told in lines', async () => {
  await using daemon = await startDaemon({ wps: 1_000 });
  const session = await newSession(daemon, 'told');
  await using watch = startCommand(daemon, ['attach', session]);
  watch.type('echo a b c for 2 seconds\n');
  await watch.until((text) => text.includes('[tool] Echo a b c over 2 s\n  a'));
  expect(await watch.until((text) => text.includes('[run] completed'))).toMatch(/\[tool\] echo done in \d+\.\d s\n/);
  watch.type('echo a b c with approval\n');
  await watch.until((text) => text.includes('or r and a reason'));
  await runOk(daemon, ['send', session, '--follow-up', 'think about boats']);
  await watch.until((text) => text.includes('[queue] follow-up waits: think about boats'));
  await runOk(daemon, ['rename', session, 'a', 'new', 'name']);
  watch.type('a\n');
  const seen = await watch.until((text) => /I have thought about boats[^]*\[run\] completed/.test(text));
  expect(seen).toContain('[session] is now called a new name\n');
  expect(seen).toMatch(/> think about boats\nI was asked to think.*\nI have thought about boats/);
  watch.type('fail\n');
  await watch.until((text) =>
    /\[run\] failed: the offline guide was asked to fail \(overloaded.*\); \/resume here, or berth resume \w+, tries again\n/.test(text),
  );
  watch.type('stream 90000 words\n');
  await watch.until((text) => text.includes('word100 '));
  await runOk(daemon, ['abort', session, '--reason', 'time for lunch']);
  await watch.until((text) => /\[run\] stopping: time for lunch\n[^]*\[run\] stopped: time for lunch\n/.test(text));
  expect(await runOk(daemon, ['log', session])).toContain('\n[run] stopped: time for lunch\n');
  expect(await runOk(daemon, ['state', session])).toMatch(/last run +stopped: time for lunch /);
  await runOk(daemon, ['rm', session, '--yes']);
  expect(await watch.finished()).toMatchObject({ code: 0, stdout: expect.stringContaining('[session] deleted\n') });
});

test('an answer that comes after its question was closed is not sent as a message', async () => {
  await using daemon = await startDaemon();
  const session = await newSession(daemon, 'late');
  await runOk(daemon, ['send', session, 'echo this with approval']);
  const id = await openQuestion(daemon);
  await using view = startCommand(daemon, ['attach', session]);
  await view.until((text) => text.includes('[question]'));
  await runOk(daemon, ['answer', id, 'a']);
  await view.until((text) => text.includes('[run] completed'));
  for (const line of ['a', 'R', '/steer s']) view.type(`${line}\n`);
  view.type('say after\n');
  view.endInput();
  const { stdout } = await view.finished();
  for (const key of ['a', 'R']) {
    expect(stdout).toContain(`[not done] nothing is asked any more; to send it as a message, /steer ${key}; typed: ${key}\n`);
  }
  const sent = (await runJson(daemon, ['log', session])).filter(({ role }) => role === 'user').map(({ text }) => text);
  expect(sent).toEqual(['echo this with approval', 's', 'say after']);
});
