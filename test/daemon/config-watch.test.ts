import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WireEvent } from '../../src/protocol/events.js';
import { watchAround } from '../../src/client/watch-around.js';
import { startDaemon, type TestDaemon } from '../support/daemon.js';
import type { RawClient } from '../support/raw-client.js';
import { complaints, done, isEvent, listenTo } from '../support/wire.js';

interface Watched extends AsyncDisposable {
  daemon: TestDaemon;
  path: string;
  commands: RawClient;
  /** The payloads of all config_update so far. */
  told(): Record<string, unknown>[];
  /** Changes the file, and waits for the next config_update. */
  after(change: () => void): Promise<Record<string, unknown>>;
}

async function watch(config?: unknown): Promise<Watched> {
  return watchAgain(await startDaemon({ config }));
}

async function watchAgain(daemon: TestDaemon): Promise<Watched> {
  const events = await listenTo(daemon, { session_id: '*' });
  const told = () => events.lines.filter(isEvent('config_update')).map(({ payload }) => payload);
  return {
    daemon,
    path: join(daemon.paths.configDir, 'config.json'),
    commands: await daemon.raw(),
    told,
    async after(change) {
      const before = told().length;
      change();
      await events.until(() => told().length > before);
      const all = told();
      expect(all).toHaveLength(before + 1);
      return all[before] ?? {};
    },
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  };
}

async function modelNow({ commands }: Watched): Promise<unknown> {
  return done(await commands.call('get_daemon')).model;
}

function changedModel(): object {
  return { session_id: '', changed: ['model'], needs_restart: [] };
}

test('a changed config counts at once, however it is written, and clients are told what changed', async () => {
  await using watched = await watch({ model: 'offline/one' });
  const { path, after } = watched;
  const other = `${path}.swp`;
  function replace(text: string): void {
    writeFileSync(other, text);
    renameSync(other, path);
  }
  const ways: [string, () => void][] = [
    ['offline/written', () => writeFileSync(path, '{"model":"offline/written"}')],
    ['offline/renamed', () => replace('{"model":"offline/renamed"}')],
    ['offline/guide', () => rmSync(path)],
    ['offline/made', () => writeFileSync(path, '{"model":"offline/made"} // again')],
  ];
  for (const [model, change] of ways) {
    expect(await after(change)).toEqual(changedModel());
    expect(await modelNow(watched)).toBe(model);
  }
});

test('a config directory that is made later, or removed and made again, is watched', async () => {
  const daemon = await startDaemon();
  const dir = daemon.paths.configDir;
  await daemon.terminate();
  rmSync(dir, { recursive: true });
  await daemon.start();
  await using watched = await watchAgain(daemon);
  for (const model of ['offline/one', 'offline/two']) {
    const make = (): void => {
      mkdirSync(dir);
      writeFileSync(watched.path, JSON.stringify({ model }));
    };
    expect(await watched.after(make)).toEqual(changedModel());
    expect(await modelNow(watched)).toBe(model);
    expect(await watched.after(() => rmSync(dir, { recursive: true }))).toEqual(changedModel());
  }
});

test('a config that is a link is watched where it leads, and when it leads elsewhere', async () => {
  await using watched = await watch({ model: 'offline/one' });
  const { daemon, path, after } = watched;
  const dotfiles = join(daemon.root, 'dotfiles');
  mkdirSync(dotfiles);
  const [first, second] = [join(dotfiles, 'first.json'), join(dotfiles, 'second.json')];
  writeFileSync(first, '{"model":"offline/first"}');
  writeFileSync(second, '{"model":"offline/second"}');
  function link(target: string): void {
    symlinkSync(target, `${path}.new`);
    renameSync(`${path}.new`, path);
  }
  await after(() => link(first));
  expect(await modelNow(watched)).toBe('offline/first');
  await after(() => writeFileSync(first, '{"model":"offline/edited"}'));
  expect(await modelNow(watched)).toBe('offline/edited');
  await after(() => link(second));
  expect(await modelNow(watched)).toBe('offline/second');
});

test('a wrong config is named once with key and place, to clients, the log and the status; the one before it stays in force', async () => {
  await using watched = await watch({ model: 'offline/one' });
  const { daemon, path, commands, after, told } = watched;
  const { problem } = await after(() => writeFileSync(path, '{\n  "modle": "offline/two"\n}'));
  expect(problem).toBe(`${path}: there is no key modle; did you mean model? (line 2, column 3)`);
  expect(complaints(daemon)).toEqual([expect.stringContaining('did you mean model?')]);
  expect(done(await commands.call('get_daemon'))).toMatchObject({ model: 'offline/one', config_problem: problem, config_stale: true });

  // Asked about, it is answered and not told again.
  expect(done(await commands.call('reload_config'))).toMatchObject({ problem, changed: [] });
  expect(complaints(daemon)).toHaveLength(1);
  const mended = await after(() => writeFileSync(path, '{\n  "model": "offline/two"\n}'));
  expect(mended).toEqual(changedModel());
  expect(told()).toHaveLength(2);
  expect(done(await commands.call('get_daemon'))).toMatchObject({ model: 'offline/two', config_problem: null, config_stale: false });
});

test('a reload that is asked for as well says what changed, and clients are told once', async () => {
  await using watched = await watch({ model: 'offline/one' });
  const { path, commands, after, told } = watched;
  await after(() => writeFileSync(path, '{"model":"offline/two"}'));
  expect(done(await commands.call('reload_config'))).toMatchObject({ changed: ['model'], problem: null });
  expect(done(await commands.call('reload_config'))).toMatchObject({ changed: [], problem: null });
  const third = after(() => writeFileSync(path, '{"model":"offline/three"}'));
  expect(done(await commands.call('reload_config'))).toMatchObject({ changed: ['model'], problem: null });
  await third;
  await after(() => writeFileSync(path, '{"model":"offline/four"}'));
  expect(told()).toEqual([changedModel(), changedModel(), changedModel()]);
});

test('an open terminal frontend hears of it', async () => {
  await using watched = await watch({ model: 'offline/one' });
  const heard: WireEvent[] = [];
  const berth = await watched.daemon.connect();
  await new Promise<void>((resolve) => {
    const around = watchAround(berth, {
      // The first call says that it listens.
      onChange: () => writeFileSync(watched.path, '{"model":"offline/two"}'),
      onConfig(event) {
        heard.push(event);
        around.close();
        resolve();
      },
    });
  });
  expect(heard).toMatchObject([{ payload: changedModel() }]);
  expect(readFileSync(join(watched.daemon.paths.stateDir, 'berth.log'), 'utf8')).toContain('config.json was reloaded');
});
