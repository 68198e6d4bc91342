import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { missing } from '../needs.js';
import { startWithHeldModel } from '../support/held-model.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { streamed } from '../support/wire.js';
import { makeHome, openPlace, openQuestion, poll, runCommand, runJson, runJsonLine, runOk } from './run-cli.js';
import { openScreen } from './screen.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();
const bare = shareDaemon({ config: { sandbox: { enabled: false } } });

/** The newest answer on the screen, without the line ends that wrap it. */
function answerOn(text: string): string {
  return (
    /word1 [^[]*/
      .exec(text.slice(text.lastIndexOf('\nword1 ')))?.[0]
      .replaceAll('\n', ' ')
      .trim() ?? ''
  );
}

describe.skipIf(missing('tmux'))('in a terminal (needs tmux)', () => {
  test('a plain view says how it is used, and a typed line is answered', async () => {
    await using home = makeHome();
    await runOk(home, ['new']);
    await using screen = await openScreen(home, ['attach', '--plain']);
    await screen.until((text) => /offline\/guide\nA line is sent when you press enter\.[^]*\n> *\n/.test(text));
    await screen.type('say ahoy', 'Enter');
    const text = await screen.until((seen) => seen.includes('[run] completed'));
    // What was typed is there once: as what was sent.
    expect(text.match(/> say ahoy/g)).toHaveLength(1);
    expect(text).toMatch(/> say ahoy\nahoy\n\[run\] completed\n> *\n/);
    await screen.type('/quit', 'Enter');
    await screen.until((seen) => seen.includes('[detached]'));
  });

  test('a plain view tells of a changed config and of a wrong one', async () => {
    await using home = makeHome();
    await runOk(home, ['new']);
    await using screen = await openScreen(home, ['attach', '--plain']);
    let edits = 0;
    async function editUntil(config: (edit: number) => string, isTold: (text: string) => boolean): Promise<void> {
      async function edit(): Promise<string> {
        writeFileSync(join(home.paths.configDir, 'config.json'), config(edits++));
        await runCommand(home, ['daemon', 'reload']);
        return screen.text();
      }
      await poll(edit, isTold);
    }
    await editUntil(
      (edit) => `{"model":"offline/m${edit}"}`,
      (text) => /\[daemon\] config\.json was read again: .*model/.test(text),
    );
    await editUntil(
      (edit) => `{"modle${edit}":1}`,
      (text) => /\[daemon\] .*there is no key modle.*stays in force/.test(text.replaceAll('\n', ' ')),
    );
  });

  test('a terminal that is closed in the middle of an answer takes nothing with it', async () => {
    await using daemon = await startWithHeldModel();
    const finishAnswer = daemon.answerNext(streamed(2400), 'word1200 ');
    await using screen = await openScreen(daemon, ['attach', '--plain', (await runOk(daemon, ['new'])).trim()]);
    await screen.type('many words', 'Enter');
    await screen.until((text) => text.includes('word20 '));
    await screen.kill();
    await using again = await openScreen(daemon, ['attach', '--plain', '.']);
    await again.until((seen) => seen.includes('word1199'));
    finishAnswer();
    const text = await again.until((seen) => seen.includes('[run] completed'));
    const answer = await runJsonLine(daemon, ['log', '.', '--limit', '1']);
    expect(answer.text).toMatch(/ word2400$/);
    expect(answerOn(text)).toBe(answer.text);
  });

  test('ctrl-C detaches, and the run goes on', async () => {
    await using daemon = await startWithHeldModel();
    const finishAnswer = daemon.answerNext(streamed(400), 'word100 ');
    const session = (await runOk(daemon, ['new'])).trim();
    await using screen = await openScreen(daemon, ['attach', '--plain', session]);
    await screen.type('many words', 'Enter');
    await screen.until((text) => text.includes('word20 '));
    await screen.type('C-c');
    await screen.until((text) => /\n\[detached\] The run goes on\. berth attach \w+ comes back/.test(text));
    finishAnswer();
    await poll(
      () => runJsonLine(daemon, ['state', session]),
      ({ run_state }) => run_state === 'idle',
    );
    expect(await runJsonLine(daemon, ['state', session])).toMatchObject({ last_run: { outcome: 'completed' }, clients: [] });
  });

  test('what is typed and what arrives do not mix', async () => {
    await using daemon = await startWithHeldModel();
    const goOn = daemon.answerNext(streamed(1000), 'word100 ', 'word400 ', 'word700 ');
    daemon.answerNext('half a line');
    daemon.answerNext('elsewhere');
    const session = (await runOk(daemon, ['new'])).trim();
    await using screen = await openScreen(daemon, ['attach', '--plain', session]);
    await screen.type('many words', 'Enter');
    await screen.until((text) => text.includes('word10 '));
    await screen.type('say half');
    await screen.until((text) => text.endsWith('\n> say half\n') || /\n> say half *\n\s*$/.test(text));
    goOn();
    await screen.until((text) => /word380 [^>]*\n> say half *\n\s*$/.test(text));
    await runOk(daemon, ['send', session, '--follow-up', 'say elsewhere']);
    await screen.until((text) => /\[queue\] follow-up waits: say elsewhere\n[^>]*> say half *\n\s*$/.test(text));
    goOn();
    await screen.until((text) => /word680 [^>]*\n> say half *\n\s*$/.test(text));
    await screen.type(' a line', 'Enter');
    await screen.until((text) => text.includes('[queue] steer waits: say half a line'));
    goOn();
    const text = await screen.until((seen) => /> say elsewhere\nelsewhere\n\[run\] completed\n> *\n/.test(seen));
    expect(text).toMatch(/word1000\n\n> say half a line\nhalf a line\n\n> say elsewhere/);
    const said = text.slice(text.indexOf('\nword1 '), text.indexOf('word1000') + 8).replaceAll(/\n\[queue\][^\n]*/g, '');
    expect(said.match(/word\d+/g)).toEqual(Array.from({ length: 1000 }, (_, n) => `word${n + 1}`));
    await screen.type('C-d');
    await screen.until((seen) => seen.includes('[detached]'));
  });

  test('several lines that are pasted are one message', async () => {
    await using daemon = openPlace(shared());
    const session = (await runOk(daemon, ['new'])).trim();
    await using screen = await openScreen(daemon, ['attach', '--plain', session]);
    await screen.until((text) => /\n> *\n/.test(text));
    await screen.paste('say one\ntwo\nthree');
    await screen.until((text) => text.includes('three'));
    await screen.type('Enter');
    const text = await screen.until((seen) => seen.includes('[run] completed'));
    expect(text).toMatch(/\n> say one\n> two\n> three\none\ntwo\nthree\n\[run\] completed/);
    expect((await runJson(daemon, ['log', session])).map((message) => message.text)).toEqual(['say one\ntwo\nthree', 'one\ntwo\nthree']);
  });

  test('the up arrow brings back all of a pasted text, and a half-typed line that ctrl-C put away', async () => {
    await using daemon = openPlace(shared());
    const session = (await runOk(daemon, ['new'])).trim();
    await using screen = await openScreen(daemon, ['attach', '--plain', session]);
    await screen.until((text) => /\n> *\n/.test(text));
    await screen.paste('say one\ntwo\nthree');
    await screen.until((text) => text.includes('three'));
    await screen.type('Enter');
    await screen.until((seen) => seen.includes('[run] completed'));
    await screen.type('Up');
    await screen.until((text) => /\n> say one⏎two⏎three *\n\s*$/.test(text));
    await screen.type('!', 'Enter');
    await screen.until((seen) => seen.split('[run] completed').length === 3);
    const sent = (await runJson(daemon, ['log', session])).map((message) => message.text);
    expect(sent).toEqual(['say one\ntwo\nthree', 'one\ntwo\nthree', 'say one\ntwo\nthree!', 'one\ntwo\nthree!']);
    await screen.paste('say first\nsecond');
    await screen.type(' and half', 'C-c');
    await screen.until((text) => /\[run\] completed\n> *\n\s*$/.test(text));
    await screen.type('Up');
    await screen.until((text) => /\[run\] completed\n> say first⏎second and half *\n\s*$/.test(text));
    await screen.type('C-c', 'C-c');
    await screen.until((text) => text.includes('[detached]'));
    expect(await runJson(daemon, ['log', session])).toHaveLength(4);
  });

  test('a dumb terminal gets lines and nothing else', async () => {
    await using daemon = openPlace(shared());
    const session = (await runOk(daemon, ['new'])).trim();
    await using screen = await openScreen(daemon, ['attach', session], { TERM: 'dumb' });
    const recorded = await screen.record();
    await screen.until((text) => text.includes('offline/guide'));
    await screen.type('say ahoy', 'Enter');
    await screen.until((text) => text.includes('> say ahoy\nahoy\n[run] completed\n'));
    await screen.type('C-d');
    await screen.until((text) => text.includes('[detached]'));
    expect(recorded()).toContain('ahoy');
    expect(recorded()).not.toContain('\u001b');
  });

  test('a question is put, and answered where it is seen', async () => {
    await using daemon = openPlace(shared());
    const session = (await runOk(daemon, ['new'])).trim();
    await using screen = await openScreen(daemon, ['attach', '--plain', session]);
    await screen.type('echo danger with approval', 'Enter');
    await screen.until((text) =>
      /\[question\] Echo this text\?\n {2}asked by [^]*\n {2}danger\n[^]*a\) Allow once\n {2}d\) Deny[^\n]*\n[^]*\n> *\n/.test(text),
    );
    await screen.type('a', 'Enter');
    await screen.until((text) => /answered: allow_once\n[^]*echo said: danger\n\[run\] completed\n/.test(text));
  });

  test('what was begun under one question is no answer to another, and no message', async () => {
    await using daemon = openPlace(bare());
    const session = (await runOk(daemon, ['new'])).trim();
    await using screen = await openScreen(daemon, ['attach', '--plain', session]);
    await screen.until((text) => /\n> *\n/.test(text));
    await runOk(daemon, ['send', session, 'run touch R1']);
    await screen.until((text) => /\$ touch R1\n[^]*\n> *\n/.test(text));
    const first = await openQuestion(daemon);
    await screen.type('1');
    await screen.until((text) => /\n> 1 *\n/.test(text));
    await runOk(daemon, ['send', session, '--follow-up', 'run touch R2']);
    await runOk(daemon, ['answer', first, 'deny', '--reason', 'nope']);
    await screen.until((text) => /\$ touch R2\n[^]*\n> 1 *\n/.test(text));
    await screen.type('Enter');
    await screen.until((text) => /\n\[not sent\] the question was answered meanwhile; the up arrow brings it back: 1\n> *\n/.test(text));
    expect(await openQuestion(daemon)).not.toBe(first);
    // Taken back by hand, it is for the question that is open now.
    await screen.type('Up');
    await screen.until((text) => /\n> 1 *\n\s*$/.test(text));
    await screen.type('BSpace', 'd');
    await screen.until((text) => /\n> d *\n\s*$/.test(text));
    await screen.type('Enter');
    await screen.until((text) => text.includes('[run] stopped'));
    expect(readdirSync(daemon.workdir)).toEqual([]);
  });

  test('a line that was begun before a question came is not its answer, and one after it was answered is not sent', async () => {
    await using daemon = openPlace(bare());
    const session = (await runOk(daemon, ['new'])).trim();
    await using screen = await openScreen(daemon, ['attach', '--plain', session]);
    await screen.until((text) => /\n> *\n/.test(text));
    await screen.type('yes');
    await screen.until((text) => /\n> yes *\n/.test(text));
    await runOk(daemon, ['send', session, 'run touch R1']);
    await screen.until((text) => /\$ touch R1\n[^]*\n> yes *\n/.test(text));
    await screen.type('Enter');
    await screen.until((text) => /\n\[not sent\] a question came while it was typed; the up arrow brings it back: yes\n> *\n/.test(text));
    const asked = await openQuestion(daemon);
    await screen.type('/skip');
    await screen.until((text) => /\n> \/skip *\n\s*$/.test(text));
    await runOk(daemon, ['answer', asked, 'deny', '--reason', 'nope']);
    await screen.until((text) => text.includes('[run] completed'));
    await screen.type('C-u', 'deny it');
    await screen.until((text) => /\n> deny it *\n\s*$/.test(text));
    await screen.type('Enter');
    // Cleared and typed anew, it is a message.
    await screen.until((text) => /\n> deny it\n[^]*\[run\] completed\n> *\n\s*$/.test(text));
    await runOk(daemon, ['send', session, 'run touch R2']);
    await screen.until((text) => /\$ touch R2\n[^]*\n> *\n/.test(text));
    await screen.type('al');
    await screen.until((text) => /\n> al *\n\s*$/.test(text));
    await runOk(daemon, ['answer', await openQuestion(daemon), 'deny', '--reason', 'nope']);
    await screen.until((text) => text.split('[run] completed').length === 4);
    await screen.type('ways', 'Enter');
    await screen.until((text) => text.includes('[not sent] the question was answered meanwhile; the up arrow brings it back: always\n'));
    expect((await runJson(daemon, ['log', session])).map((message) => message.text)).not.toContain('always');
    expect(readdirSync(daemon.workdir)).toEqual([]);
  });

  test('what is typed or pasted at once goes where the cursor is', async () => {
    await using daemon = openPlace(shared());
    const session = (await runOk(daemon, ['new'])).trim();
    await using screen = await openScreen(daemon, ['attach', '--plain', session]);
    await screen.until((text) => /\n> *\n/.test(text));
    await screen.type('say hello world');
    await screen.type('Left', 'Left', 'Left', 'Left');
    await screen.paste('PASTED');
    await screen.until((text) => /\n> say hello wPASTEDorld *\n\s*$/.test(text));
    await screen.pour('XYZ');
    await screen.until((text) => /\n> say hello wPASTEDXYZorld *\n\s*$/.test(text));
    await screen.type('Enter');
    await screen.until((text) => text.includes('\n> say hello wPASTEDXYZorld\nhello wPASTEDXYZorld\n[run] completed\n'));
    await screen.type('say ad', 'Left');
    await screen.paste('b\nc');
    await screen.until((text) => /\n> say ab\n> cd *\n\s*$/.test(text));
    await screen.type('Enter');
    await screen.until((text) => text.includes('\n> say ab\n> cd\nab\ncd\n[run] completed\n'));
    expect((await runJson(daemon, ['log', session])).map((message) => message.text)).toEqual([
      ...['say hello wPASTEDXYZorld', 'hello wPASTEDXYZorld'],
      ...['say ab\ncd', 'ab\ncd'],
    ]);
  });

  test('a long line that is pasted is taken whole, and nothing in it is a key', async () => {
    await using daemon = openPlace(shared());
    const session = (await runOk(daemon, ['new'])).trim();
    await using screen = await openScreen(daemon, ['attach', '--plain', session]);
    await screen.until((text) => /\n> *\n/.test(text));
    const long = Array.from({ length: 4_000 }, (_, n) => `w${n}`).join(' ');
    await screen.paste(`say ${long}\u0004\u001b[2J end`);
    await screen.until((text) => /end *\n\s*$/.test(text));
    await screen.type('Enter');
    await screen.until((text) => text.includes('[run] completed'));
    const [sent] = await runJson(daemon, ['log', session]);
    expect(sent?.text).toBe(`say ${long}[2J end`);
  });

  test('a change is seen in colours before it is made, cut where it is long, and whole with /show', async () => {
    await using daemon = openPlace(shared());
    const session = (await runOk(daemon, ['new'])).trim();
    const lines = Array.from({ length: 90 }, (_, n) => `l${n + 1}`);
    writeFileSync(join(daemon.workdir, 'a.txt'), `${lines.join('\n')}\n`);
    await using screen = await openScreen(daemon, ['attach', '--plain', session]);
    await screen.type('edit a.txt: l90 -> first', 'Enter');
    await screen.until((text) => /\n {2}edit a\.txt\n[^]*\n {2}-l90\n {2}\+first\n[^]* {2}a\) Allow once\n[^]*\n> *\n/.test(text));
    expect(await screen.coloured()).toMatch(/\u001b\[31m-l90\n[^]*\u001b\[32m\+first\n/); // eslint-disable-line no-control-regex
    await screen.type('a', 'Enter');
    await screen.until((text) => /answered: allow_once\n[^]*\[tool\] edit done[^]*\[run\] completed\n/.test(text));
    await runOk(daemon, ['send', session, '-'], { input: `run true\n${lines.map((line) => `: ${line}`).join('\n')}` });
    await screen.until((text) =>
      /\[this is not the whole command: 31 more lines\]\n[^]*\/show, or berth answer \w+ --show, shows all of it\n/.test(text),
    );
    await screen.type('/show', 'Enter');
    await screen.until((text) => text.includes('\n  | : l90\n'));
    await screen.type('n', 'Enter');
    await screen.until((text) => text.includes('[run] stopped'));
  });

  test('a hostile text does nothing to the terminal, and NO_COLOR is respected', async () => {
    await using daemon = openPlace(shared());
    const session = (await runOk(daemon, ['new'])).trim();
    await using screen = await openScreen(daemon, ['attach', '--plain', session], { NO_COLOR: '1' });
    await screen.until((text) => /\n> *\n/.test(text));
    await runOk(daemon, ['send', session, '--wait'], { input: 'say \u001b]0;owned\u0007\u001b[2J\u001b[Hx\u202ey' });
    const text = await screen.until((seen) => seen.includes('[run] completed'));
    expect(text).toContain('\n␛]0;owned␇␛[2J␛[Hx<U+202E>y\n[run] completed\n');
    expect(await screen.coloured()).not.toContain('\u001b');
    await using painted = await openScreen(daemon, ['attach', '--plain', session]);
    await painted.until((seen) => /\n> *\n/.test(seen));
    expect(await painted.coloured()).toMatch(/^\u001b\[1m/); // eslint-disable-line no-control-regex
  });
});
