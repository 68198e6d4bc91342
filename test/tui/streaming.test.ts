import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program } from '../support/daemon.js';
import { startWithHeldModel, type HeldModelDaemon } from '../support/held-model.js';
import { attach, idleHint, keys, newSession, openScreen, transcriptOf, untilSame } from './session-screens.js';

let daemon: HeldModelDaemon;
beforeAll(async () => {
  daemon = await startWithHeldModel();
});
afterAll(() => daemon[Symbol.asyncDispose]());

/** An answer with most of what Markdown has, longer than a screen, with words where it stops. */
function longAnswer(paragraphs: number): string {
  const paragraph = (number: number): string =>
    [
      `## Part ${number}`,
      `The *harbour* master wrote it **down**, word for word, as the ships came in, and \`berth ${number}\` was free. ${'More of it. '.repeat(6)}`,
      `- one of ${number}\n- two of ${number}\n  1. nested`,
      `\`\`\`ts\nconst ship${number} = { berth: ${number} };\n\`\`\``,
      `| ship | berth |\n| --- | ---: |\n| Mary Rose | ${number} |`,
    ].join('\n\n');
  return `${Array.from({ length: paragraphs }, (_, at) => paragraph(at + 1)).join('\n\n')}\n\nEND`;
}

test('a terminal that was killed in mid-stream and opened again shows what one shows that never left, row for row', async () => {
  const session = await newSession(daemon);
  await using stayed = await openScreen(daemon, session);
  const goOn = daemon.answerNext(longAnswer(6), 'Part 3', 'Part 5', 'END');
  {
    await using killed = await openScreen(daemon, session);
    killed.send('go\r');
    await killed.until('berth: 2 }');
    killed.kill('SIGKILL');
    await killed.exited();
  }
  goOn();
  await stayed.until('berth: 4 }');
  await using back = await openScreen(daemon, session);
  await back.until('berth: 4 }');
  await untilSame(back, stayed);
  goOn();
  await Promise.all([back.until('berth: 6 }'), stayed.until('berth: 6 }')]);
  await untilSame(back, stayed);
  goOn();
  await Promise.all([back.until('END'), stayed.until('END')]);
  await Promise.all([back.until(idleHint), stayed.until(idleHint)]);
  await untilSame(back, stayed);
  // Also what is further up.
  for (let page = 0; page < 3; page++) {
    for (const screen of [back, stayed]) screen.send(keys.pageUp);
    await back.until('more below');
    await untilSame(back, stayed);
  }
});

test('two screens and berth send agree on every character', async () => {
  const session = await newSession(daemon);
  await using first = await openScreen(daemon, session);
  await using second = await openScreen(daemon, session);
  daemon.answerNext('to the *first*: ahoy, 日本語 and 🚢');
  first.send('from the first\r');
  await first.until(/to the first[^]*❯ ask/);
  daemon.answerNext('to the script: `code`');
  const { env, workdir: cwd } = daemon;
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'send', session, 'from the script', '--wait'], { env, cwd });
  expect(stdout).toContain('to the script');
  await first.until('to the script');
  daemon.answerNext('to the second');
  second.send('from the second\r');
  await first.until(/to the second[^]*❯ ask/);
  await untilSame(second, first);
  const shown = transcriptOf(first.rows()).filter((row) => row !== '');
  expect(shown).toEqual([
    '❯ from the first',
    'to the first: ahoy, 日本語 and 🚢',
    '❯ from the script',
    'to the script: code',
    '❯ from the second',
    'to the second',
  ]);
});

test('a resize while an answer streams changes the width of the text and nothing else', async () => {
  const session = await newSession(daemon);
  await using resized = await openScreen(daemon, session);
  const goOn = daemon.answerNext(longAnswer(4), 'Part 2', 'Part 3', 'Part 4', 'END');
  resized.send('go\r');
  await resized.until('berth: 1 }');
  for (const [columns, rows, word] of [
    [40, 12, 'berth: 2 }'],
    [250, 80, 'berth: 3 }'],
    [100, 30, 'berth: 4 }'],
  ] as const) {
    resized.resize(columns, rows);
    goOn();
    await resized.until(word);
  }
  goOn();
  await resized.until((text) => text.includes('END') && text.includes(idleHint));
  await using fresh = await openScreen(daemon, session);
  await fresh.until('END');
  await untilSame(resized, fresh);
  expect(resized.bytes()).not.toContain('\x1b[3J');
});

test('a screen that was stopped and continued shows what came meanwhile', async () => {
  const session = await newSession(daemon);
  await using screen = attach(daemon, session);
  await screen.until(idleHint);
  const goOn = daemon.answerNext('before STOPPED after', 'STOPPED');
  screen.send('go\r');
  await screen.until('before');
  screen.kill('SIGSTOP');
  goOn();
  await using other = await openScreen(daemon, session);
  await other.until('STOPPED after');
  expect(screen.text()).not.toContain('STOPPED');
  screen.send('typed meanwhile');
  screen.kill('SIGCONT');
  await screen.until((text) => text.includes('before STOPPED after') && text.includes('❯ typed meanwhile'));
});
