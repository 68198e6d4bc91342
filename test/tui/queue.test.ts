import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWithHeldModel, type HeldModelDaemon } from '../support/held-model.js';
import { editorOf, idleHint, keys, newSession, openScreen, runningHint } from './session-screens.js';
import type { PtyScreen } from './pty-screen.js';

let daemon: HeldModelDaemon;
beforeAll(async () => {
  daemon = await startWithHeldModel();
});
afterAll(() => daemon[Symbol.asyncDispose]());

/** What waits, as it is shown above the editor: marks and texts. */
function queueOf(screen: PtyScreen): string[] {
  return screen.rows().flatMap((row) => {
    const [, mark, text] = /^(✓|⏸|◌) (.*?) {2,}\S/.exec(row) ?? [];
    return mark === undefined ? [] : [`${mark} ${text}`];
  });
}

async function untilQueue(screen: PtyScreen, ...queue: string[]): Promise<void> {
  await screen.until(() => queueOf(screen).join('\n') === queue.join('\n'), `the queue ${queue.join(', ')}`);
}

test('Tab follows up, and what one screen does to the queue is seen in the other', async () => {
  const session = await newSession(daemon);
  await using first = await openScreen(daemon, session);
  await using second = await openScreen(daemon, session);
  const goOn = daemon.answerNext('one two', 'two');
  first.send('begin\r');
  await first.until('one');
  for (const text of ['alpha', 'beta', 'gamma']) {
    first.send(`${text}${keys.tab}`);
    await first.until(() => queueOf(first).includes(`✓ ${text}`), `${text} waits`);
  }
  await untilQueue(second, '✓ alpha', '✓ beta', '✓ gamma');

  second.send(keys.shiftTab + keys.shiftTab);
  await second.until(' queue ──');
  second.send('h');
  await untilQueue(first, '⏸ alpha', '✓ beta', '✓ gamma');
  second.send(`${keys.down}${keys.down}${keys.shiftUp}`);
  await untilQueue(first, '⏸ alpha', '✓ gamma', '✓ beta');
  second.send('d');
  await untilQueue(first, '⏸ alpha', '✓ beta');
  second.send('e');
  await second.until('Enter changes it');
  second.send(' changed\r');
  await untilQueue(first, '⏸ alpha changed', '✓ beta');
  await untilQueue(second, '⏸ alpha changed', '✓ beta');

  daemon.answerNext('to beta');
  goOn();
  await first.until('to beta');
  await untilQueue(first, '⏸ alpha changed');
});

test('Enter steers a run, and the steer is taken at its next boundary', async () => {
  const session = await newSession(daemon);
  await using screen = await openScreen(daemon, session);
  const goOn = daemon.answerNext('one two', 'two');
  screen.send('begin\r');
  await screen.until('one');
  screen.send('to port\r');
  await untilQueue(screen, '✓ to port');
  daemon.answerNext('aye aye');
  goOn();
  const text = await screen.until('aye aye');
  expect(text).toMatch(/❯ begin[^]*one two[^]*❯ to port[^]*aye aye/);
  await screen.until(() => queueOf(screen).length === 0, 'an empty queue');
});

test('Esc twice stops the run, and what was dropped comes back into the editor', async () => {
  const session = await newSession(daemon);
  await using screen = await openScreen(daemon, session);
  daemon.answerNext('one two', 'two');
  screen.send('begin\r');
  await screen.until('one');
  screen.send(`first thought${keys.tab}`);
  await untilQueue(screen, '✓ first thought');
  screen.send(`second thought${keys.tab}`);
  await untilQueue(screen, '✓ first thought', '✓ second thought');
  screen.send('half a text');
  await screen.until('half a text');
  screen.send(keys.escape);
  await screen.until('Esc again within 2 s stops the run');
  screen.send(keys.escape);
  await screen.until('run stopped');
  await screen.until(
    () => editorOf(screen.rows()) === 'first thought\n\nsecond thought\n\nhalf a text',
    'all three texts in the editor, in the order in which they were written',
  );
});

test('Ctrl-C never stops a run: it clears recoverably, and twice it detaches', async () => {
  const session = await newSession(daemon);
  await using screen = await openScreen(daemon, session);
  const goOn = daemon.answerNext('one two', 'two');
  screen.send('begin\r');
  await screen.until('one');
  screen.send('a long plan');
  await screen.until('a long plan');
  screen.send(keys.ctrl('c'));
  await screen.until(runningHint);
  screen.send(keys.up);
  await screen.until(() => editorOf(screen.rows()) === 'a long plan', 'the text is back');
  screen.send(keys.ctrl('c'));
  await screen.until(runningHint);
  screen.send(keys.ctrl('c'));
  await screen.until('Ctrl-C again detaches; the run goes on');
  screen.send(keys.ctrl('c'));
  await screen.exited();
  expect(screen.text()).toContain('[detached] The run goes on. berth attach');
  goOn();
  await using later = await openScreen(daemon, session);
  await later.until((text) => text.includes('one two') && text.includes(idleHint));
});
