import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runsLater as whyLater } from '../../src/policy/guarded-paths.js';
import { limits } from '../../src/protocol/limits.js';
import { describeHeld } from '../../src/tools/bash-words.js';
import { createOpener } from '../../src/tools/closed-folders.js';
import { nothingHeld, type HeldCode } from '../../src/tools/late-code.js';
import { fromRecord, holdUnknown, type LateCodeRecord } from '../../src/tools/late-code-known.js';
import { lookForLateCode, type Look } from '../../src/tools/late-code-look.js';
import { createLateCodeWatches, holdLeftCode, type LateCodeWatch } from '../../src/tools/late-code-watch.js';
import { digestOf } from '../../src/tools/read-marks.js';
import { makeTempDir, type TempDir } from '../support/temp-dir.js';

const runsLater = (path: string): boolean => whyLater(path, { home: '/nowhere', own: [] }) !== undefined;

interface Place extends TempDir {
  put(path: string, text?: string): void;
  has(path: string): boolean;
  /** What a command could do between the two looks. */
  during(act: () => unknown): Promise<HeldCode>;
}

function makePlace(): Place {
  const dir = makeTempDir();
  const root = realpathSync(dir.path);
  const file = (name: string): string => join(root, name);
  return {
    path: root,
    file,
    put(path, text = 'evil') {
      mkdirSync(dirname(file(path)), { recursive: true });
      writeFileSync(file(path), text);
    },
    has: (path) => existsSync(file(path)),
    async during(act) {
      const watch = await createLateCodeWatches().confine([root], runsLater);
      await act();
      return watch.end();
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

async function lookAt(root: string, entriesMax?: number): Promise<Look> {
  await using opener = createOpener();
  return await lookForLateCode(opener, [root], runsLater, entriesMax);
}

/** Of a directory that makes repositories without anything of the machine's settings. */
function git(cwd: string, ...args: string[]): void {
  execFileSync('git', args, { cwd, env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } });
}

describe('what a command changed', () => {
  test('is held in a directory that is late code as a whole, wherever in it', async () => {
    using place = makePlace();
    place.put('.vscode/deep/settings.json', 'mine');
    place.put('b/.vscode/settings.json', 'mine');
    const held = await place.during(() => place.put('.vscode/deep/settings.json'));
    expect(held.renamed).toEqual([place.file('held-by-berth-1-vscode')]);
    expect(place.has('b/.vscode/settings.json')).toBe(true);
  });

  test('is held when it comes from where nobody looks', async () => {
    using place = makePlace();
    place.put('node_modules/pkg/AGENTS.md');
    const held = await place.during(() => renameSync(place.file('node_modules/pkg'), place.file('pkg')));
    expect(held.renamed).toEqual([place.file('pkg/held-by-berth-1-AGENTS.md')]);
  });

  test('is held when the directory has become one of git by what was put beside it', async () => {
    using place = makePlace();
    for (const path of ['q/HEAD', 'q/objects/x', 'q/hooks/pre-commit']) place.put(path);
    expect((await place.during(() => undefined)).renamed).toEqual([]);
    expect((await place.during(() => place.put('q/refs/x'))).renamed).toEqual([place.file('q/held-by-berth-1-hooks')]);
  });

  test('is held in both halves of a split git directory', async () => {
    using place = makePlace();
    const held = await place.during(() => {
      place.put('evil/HEAD', 'ref: refs/heads/main\n');
      place.put('evil/commondir', '../store\n');
      for (const path of ['store/objects/x', 'store/refs/x']) place.put(path);
      place.put('store/config', '[core]\n\tfsmonitor = evil\n');
    });
    expect(held.renamed.sort()).toEqual([place.file('evil/held-by-berth-1-commondir'), place.file('store/held-by-berth-1-config')]);
  });

  test('is left in a repository that is as git makes it, and held when it is not', async () => {
    using place = makePlace();
    expect(await place.during(() => git(place.path, 'init', '-q', 'sub'))).toEqual(nothingHeld);
    expect(place.has('sub/.git/config')).toBe(true);
    const held = await place.during(() => appendFileSync(place.file('sub/.git/config'), '[gc]\n\trecentObjectsHook = evil\n'));
    expect(held.renamed).toEqual([place.file('sub/.git/held-by-berth-1-config')]);
  });

  test('does not overwrite what was held before, however many there are', async () => {
    using place = makePlace();
    for (let n = 1; n <= limits.lateCodeNameTriesMax; n++) place.put(`held-by-berth-${n}-envrc`, 'earlier');
    const { renamed } = await place.during(() => place.put('.envrc'));
    expect(renamed.map((path) => readFileSync(path, 'utf8'))).toEqual(['evil']);
  });
});

describe('what a command named', () => {
  test('as long as a name can be gets a shorter name, and the others are held as well', async () => {
    using place = makePlace();
    const held = await place.during(() => {
      place.put(`a/.envrc${'.'.repeat(249)}`);
      place.put('b/.envrc');
    });
    expect({ ...held, renamed: held.renamed.sort() }).toEqual({
      ...nothingHeld,
      renamed: [place.file('a/held-by-berth-1'), place.file('b/held-by-berth-1-envrc')],
    });
  });

  test('with bytes that are not UTF-8 is seen', async () => {
    using place = makePlace();
    const folder = Buffer.concat([Buffer.from(`${place.path}/proj`), Buffer.from([0xff])]);
    const held = await place.during(() => {
      mkdirSync(folder);
      writeFileSync(Buffer.concat([folder, Buffer.from('/.envrc')]), 'evil');
    });
    expect(held.renamed).toEqual([place.file('proj\ufffd/held-by-berth-1-envrc')]);
    expect(readdirSync(folder)).toEqual(['held-by-berth-1-envrc']);
  });

  test('longer than a path can be is told, and the others are held', async () => {
    using place = makePlace();
    const deep = Array.from({ length: 16 }, () => 'd'.repeat(240)).join('/');
    mkdirSync(place.file(deep), { recursive: true });
    const shell = (script: string): unknown => execFileSync('sh', ['-c', script], { cwd: place.path });
    const held = await place.during(() => {
      const name = 's'.repeat(250);
      shell(`cd ${deep} && mkdir ${name} && echo x >${name}/.envrc && echo x >.envrc${'.'.repeat(249)} && echo x >.envrc`);
    });
    shell('rm -r ddd*');
    expect(held.renamed).toEqual([place.file(`${deep}/held-by-berth-1-envrc`)]);
    expect(held.stuck).toHaveLength(2);
  });
});

describe('a look', () => {
  test('at more entries than it may see finds late names among them, and goes into .git', async () => {
    using place = makePlace();
    for (let i = 0; i < 20; i++) place.put(`f${i}`);
    for (const path of ['.envrc', '.git/hooks/pre-commit', 'sub/.envrc']) place.put(path);
    const { found, isWhole } = await lookAt(place.path, 10);
    expect([...found.keys()]).toEqual([place.file('.envrc'), place.file('.git/hooks')]);
    expect(isWhole).toBe(false);
    expect((await lookAt(place.path)).isWhole).toBe(true);
  });

  test('after a command says so when it has not seen everything, and had before', async () => {
    using place = makePlace();
    const known = fromRecord(recordOf(await createLateCodeWatches().confine([place.path], runsLater)));
    for (let i = 0; i < 20; i++) place.put(`f${i}`);
    for (const path of ['.git/hooks/pre-commit', 'sub/.envrc']) place.put(path);
    const held = await holdUnknown(known, runsLater, 10);
    expect(held).toEqual({ renamed: [place.file('.git/held-by-berth-1-hooks')], stuck: [], isPartial: true });
    expect(describeHeld(held)[1]).toContain('not all could be looked at');
    expect((await holdUnknown({ ...known, isWhole: false }, runsLater, 10)).isPartial).toBe(false);
    expect((await holdUnknown(known, runsLater)).renamed).toEqual([place.file('sub/held-by-berth-1-envrc')]);
    expect(limits.lateCodeEntriesAfterMax).toBe(10 * limits.lateCodeEntriesMax);
  });

  test('never takes what is old for new because it could not be seen before', async () => {
    using place = makePlace();
    place.put('a/AGENTS.md', 'mine');
    const record = recordOf(await createLateCodeWatches().confine([], runsLater));
    const partial = { ...record, roots: [place.path], isWhole: false, isComplete: false };
    expect(await holdLeftCode({ ...partial, startMs: Date.now() + 60_000 }, runsLater)).toEqual(nothingHeld);
    expect((await holdLeftCode({ ...partial, startMs: 0 }, runsLater)).renamed).toEqual([place.file('a/held-by-berth-1-AGENTS.md')]);
  });
});

function recordOf(watch: LateCodeWatch): LateCodeRecord {
  const record = watch.record();
  if (!record) throw new Error('it is not confined');
  return record;
}

describe('what a person approved while a command runs', () => {
  const digest = digestOf(Buffer.from('approved'));

  test.each(['.envrc', '.husky/pre-commit'])('is held when the command changes it afterwards: %s', async (path) => {
    using place = makePlace();
    const watches = createLateCodeWatches();
    const watch = await watches.confine([place.path], runsLater);
    const settle = await watches.approve(place.file(path));
    place.put(path, 'approved');
    settle(digest);
    expect(await holdLeftCode(recordOf(watch), runsLater)).toEqual(nothingHeld);
    writeFileSync(place.file(path), 'evilevil');
    expect((await watch.end()).renamed).toHaveLength(1);
  });

  test('is left alone as long as it is being written', async () => {
    using place = makePlace();
    const watches = createLateCodeWatches();
    const watch = await watches.confine([place.path], runsLater);
    await watches.approve(place.file('.envrc'));
    place.put('.envrc', 'approved');
    expect(await watch.end()).toEqual(nothingHeld);
  });

  test('does not approve what the command has put beside it', async () => {
    using place = makePlace();
    const watches = createLateCodeWatches();
    for (const isBefore of [true, false]) {
      const watch = await watches.confine([place.path], runsLater);
      if (isBefore) place.put('.husky/post-merge');
      const settle = await watches.approve(place.file('.husky/pre-commit'));
      place.put('.husky/pre-commit', 'approved');
      if (!isBefore) place.put('.husky/post-merge');
      settle(digest);
      expect((await watch.end()).renamed).toHaveLength(1);
      expect(place.has('.husky')).toBe(false);
    }
  });

  test('is left alone beside what was there before', async () => {
    using place = makePlace();
    place.put('.husky/pre-push', 'mine');
    const watches = createLateCodeWatches();
    const watch = await watches.confine([place.path], runsLater);
    for (const name of ['pre-commit', 'post-merge']) {
      const settle = await watches.approve(place.file(`.husky/${name}`));
      place.put(`.husky/${name}`, 'approved');
      settle(digest);
    }
    expect(await watch.end()).toEqual(nothingHeld);
  });
});

describe('what a command has closed to its own user, who is not root', () => {
  const nobody = 65_534;
  const isRoot = process.getuid?.() === 0;
  beforeEach(() => {
    if (isRoot) process.seteuid?.(nobody);
  });
  afterEach(() => {
    if (isRoot) process.seteuid?.(0);
  });

  test.each([0o311, 0o444, 0o555, 0o000])('is opened for the look, and closed again: %o', async (mode) => {
    using place = makePlace();
    const held = await place.during(() => {
      place.put('p/.envrc');
      chmodSync(place.file('p'), mode);
    });
    expect(held).toEqual({ ...nothingHeld, renamed: [place.file('p/held-by-berth-1-envrc')] });
    expect(statSync(place.file('p')).mode & 0o777).toBe(mode);
    chmodSync(place.file('p'), 0o700);
  });

  test('is opened for the look when it is a directory of git, or late code itself', async () => {
    using place = makePlace();
    const held = await place.during(() => {
      git(place.path, 'init', '-q', 'sub');
      place.put('sub/.git/hooks/pre-commit');
      place.put('.vscode/tasks.json');
      chmodSync(place.file('sub/.git'), 0o311);
      chmodSync(place.file('.vscode'), 0o000);
    });
    expect(held.renamed.sort()).toEqual([place.file('held-by-berth-1-vscode'), place.file('sub/.git/held-by-berth-1-hooks')]);
    for (const [path, mode] of [
      ['sub/.git', 0o311],
      ['held-by-berth-1-vscode', 0],
    ] as const) {
      expect(statSync(place.file(path)).mode & 0o777).toBe(mode);
      chmodSync(place.file(path), 0o700);
    }
    rmSync(place.file('sub'), { recursive: true });
  });
});
