import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createPolicy } from '../../src/policy/judge.js';
import type { Mode, Rule, Ruling } from '../../src/policy/port.js';
import { allow, makeWorld } from './judge-world.js';

describe('modes', () => {
  test.each<[Mode, string, string, string]>([
    ['ask', 'allow', 'ask', 'ask'],
    ['auto_edit', 'allow', 'allow', 'allow'],
    ['full', 'allow', 'allow', 'allow'],
    ['read_only', 'allow', 'deny', 'allow'],
  ])('%s: reads %s, writes %s, commands %s', (mode, read, write, command) => {
    using world = makeWorld();
    expect(world.read('a.txt', { mode }).action).toBe(read);
    expect(world.write('a.txt', { mode }).action).toBe(write);
    expect(world.bash('make all', { mode }).action).toBe(command);
  });

  test('without a sandbox, what a mode alone would allow commands is asked, and the request says what is missing', () => {
    using world = makeWorld();
    const settings = { noSandbox: 'install bubblewrap' };
    for (const mode of ['auto_edit', 'full', 'read_only'] as const) {
      const ruling = world.bash('make all', { mode, settings });
      expect(ruling.action).toBe('ask');
      expect(ruling.notes.join(' ')).toContain('install bubblewrap');
      expect(ruling.reach.confinement.kind).toBe('bare');
    }
    expect(world.bash('make all', { mode: 'ask', settings, rules: [allow('make')] }).action).toBe('allow');
  });

  test('read_only gives commands nothing to write', () => {
    using world = makeWorld();
    expect(world.bash('make', { mode: 'read_only' }).reach.confinement.writable).toEqual([]);
    expect(world.bash('echo x > a.txt', { mode: 'read_only' }).action).toBe('deny');
  });

  test('the network is for those who were given it', () => {
    using world = makeWorld();
    expect(world.bash('curl x', { mode: 'auto_edit' }).reach.confinement.network).toBe(false);
    expect(world.bash('curl x', { mode: 'auto_edit', network: true }).action).toBe('ask');
    expect(world.bash('curl x', { network: true, rules: [allow('curl')] }).action).toBe('ask');
    const ruled = world.bash('curl x', { network: true, rules: [allow('curl', { network: true })] });
    expect([ruled.action, ruled.reach.confinement.network]).toEqual(['allow', true]);
    expect(world.bash('curl x', { mode: 'full', network: true }).action).toBe('allow');
    const mixed = world.bash('curl x; make', { mode: 'auto_edit', rules: [allow('curl', { network: true })] });
    expect([mixed.action, mixed.reach.confinement.network]).toEqual(['allow', false]);
  });

  test('leaving the sandbox is asked, and a rule for one command does not take another along', () => {
    using world = makeWorld();
    const asked = world.bash('make', { mode: 'full', unsandboxed: true });
    expect([asked.action, asked.reach.confinement.kind]).toEqual(['ask', 'namespace']);
    expect(asked.notes.join(' ')).toContain('outside the sandbox');
    const rules = [allow('git push', { unsandboxed: true })];
    expect(world.bash('git push', { mode: 'auto_edit', rules }).reach.confinement.kind).toBe('namespace');
    expect(world.bash('git push; make', { mode: 'auto_edit', rules }).reach.confinement.kind).toBe('sandbox');
  });
});

describe('a tool that does not declare what it touches', () => {
  test.each<[Mode, string]>([
    ['ask', 'ask'],
    ['auto_edit', 'ask'],
    ['full', 'ask'],
    ['read_only', 'deny'],
  ])('in the mode %s: %s', (mode, action) => {
    using world = makeWorld();
    const ruling = world.judge('mystery', undefined, { mode });
    expect(ruling.action).toBe(action);
    expect(ruling.why).toContain('does not declare');
  });

  test('is allowed, asked about and denied by rules about the tool, but never allowed in read_only', () => {
    using world = makeWorld();
    const rule = (action: Rule['action'], tool = 'mystery'): Rule => ({ tool, action });
    expect(world.judge('mystery', undefined, { rules: [rule('allow')] }).action).toBe('allow');
    expect(world.judge('mystery', undefined, { rules: [rule('allow', '*')], mode: 'full' }).action).toBe('allow');
    expect(world.judge('mystery', undefined, { rules: [rule('allow', 'other')] }).action).toBe('ask');
    expect(world.judge('mystery', undefined, { rules: [rule('allow'), rule('ask')] }).action).toBe('ask');
    expect(world.judge('mystery', undefined, { rules: [rule('allow'), rule('deny')] }).action).toBe('deny');
    expect(world.judge('mystery', undefined, { rules: [rule('allow')], mode: 'read_only' }).action).toBe('deny');
    // A rule about some paths or commands says nothing of a call whose paths are not known.
    expect(world.judge('mystery', undefined, { rules: [{ tool: '*', path: 'src', action: 'allow' }] }).action).toBe('ask');
  });

  test('can be allowed for longer, for this tool alone', () => {
    using world = makeWorld();
    const { remember } = world.judge('mystery', undefined);
    expect(remember).toEqual([{ tool: 'mystery', action: 'allow' }]);
    expect(world.judge('mystery', undefined, { rules: remember }).action).toBe('allow');
  });

  test('runs unasked when it says that it changes nothing, unless a rule is against it', () => {
    using world = makeWorld();
    for (const mode of ['ask', 'auto_edit', 'full', 'read_only'] as const) {
      expect(world.judge('mystery', undefined, { mode, readOnly: true }).action).toBe('allow');
      expect(world.judge('mystery', undefined, { mode, readOnly: true, rules: [{ tool: '*', action: 'ask' }] }).action).toBe('ask');
    }
  });
});

describe('a call of a tool of others, which declares an effect', () => {
  const effect = { kind: 'effect', name: 'create_issue', server: 'tracker', readOnly: false } as const;

  test('is asked about in all modes by the name of what it calls, and denied where nothing may be changed', () => {
    using world = makeWorld();
    for (const mode of ['ask', 'auto_edit', 'full'] as const) {
      const { action, why, remember, paths } = world.judge('tracker_issue', [effect], { mode });
      expect({ action, why, remember, paths }).toEqual({
        action: 'ask',
        why: 'it calls create_issue of the server tracker',
        remember: [{ tool: 'tracker_issue', action: 'allow' }],
        paths: [],
      });
    }
    expect(world.judge('tracker_issue', [effect], { mode: 'read_only', rules: [{ tool: '*', action: 'allow' }] })).toMatchObject({
      action: 'deny',
      why: 'create_issue of the server tracker may change something, and the mode is read_only',
    });
  });

  test('runs unasked when the effect changes nothing, or when a rule allows the tool', () => {
    using world = makeWorld();
    const looks = { ...effect, readOnly: true };
    for (const mode of ['ask', 'auto_edit', 'full', 'read_only'] as const) expect(world.judge('x', [looks], { mode }).action).toBe('allow');
    expect(world.judge('x', [looks], { rules: [{ tool: 'x', action: 'deny' }] }).action).toBe('deny');
    expect(world.judge('x', [effect], { rules: [{ tool: 'x', action: 'allow' }] }).action).toBe('allow');
    expect(world.judge('x', [looks, effect]).action).toBe('ask');
    // What it touches beside is judged beside.
    expect(world.judge('x', [looks, { kind: 'write', path: 'a.txt' }]).action).toBe('ask');
  });
});

test('a call that declares that it touches nothing is allowed in every mode, unless a rule is against its tool', () => {
  using world = makeWorld();
  for (const mode of ['ask', 'auto_edit', 'full', 'read_only'] as const) {
    expect(world.judge('todo', [], { mode }).action).toBe('allow');
    expect(world.judge('todo', [], { mode, rules: [{ tool: 'todo', action: 'deny' }] }).action).toBe('deny');
  }
});

describe('a command that is known only when it runs', () => {
  const rules: Rule[] = [{ tool: 'bash', command: 'rm', action: 'deny' }];
  const computed = [
    'r=rm; $r x',
    '$(echo rm) x',
    '`echo rm` x',
    'a=r; "${a}m" x',
    '/bin/r? x',
    '$x rm y',
    'eval "$x"',
    'eval $(echo rm x)',
    'bash -c "$x"',
    'echo rm x | sh',
    'echo cm0geA== | base64 -d | bash -s',
    'env $x',
    'sudo $x y',
    'timeout 5 $x y',
    'echo rm | xargs -I% % x',
    'echo rm | xargs -I{} {} x',
    'ls | xargs $x',
    "ls | xargs sh -c '$0 x'",
    'ls | parallel',
    'find . -exec {} \\;',
    'sh -c \'"$@"\' _ rm x',
    'trap "$x" EXIT',
    'source <(echo rm x)',
    '. /dev/stdin <<< "rm x"',
    'source /dev/fd/3 3<<< "rm x"',
    '. "$x"',
    'hash -p /bin/rm q; q x',
    'hash -p/bin/rm q; q x',
    'hash -p "$x" q; q x',
    'exec $x',
    'for c in rm ls; do $c x; done',
    'f() { "$@"; }; f rm x',
  ];
  test.each(computed)('is asked in every mode when a rule denies or asks about commands: %s', (command) => {
    using world = makeWorld();
    for (const mode of ['ask', 'auto_edit', 'full', 'read_only'] as const) {
      for (const action of ['deny', 'ask'] as const) {
        const ruling = world.bash(command, { mode, rules: [{ tool: 'bash', command: 'rm', action }] });
        expect(ruling.action, mode).not.toBe('allow');
        expect(world.bash(command, { mode, rules: [{ tool: '*', pattern: 'rm *', action }] }).action, mode).not.toBe('allow');
      }
      expect(world.bash(command, { mode, rules: [...rules, { tool: 'bash', action: 'allow' }] }).action, mode).not.toBe('allow');
    }
  });

  test('is asked where a rule names the subcommand that is computed, and nowhere else', () => {
    using world = makeWorld();
    const pushing: Rule[] = [{ tool: 'bash', command: 'git push', action: 'deny' }];
    const judge = (command: string, some: Rule[]) => world.bash(command, { mode: 'auto_edit', rules: some }).action;
    expect(judge('git $x', pushing)).toBe('ask');
    expect(judge('git -C src "$x" origin', pushing)).toBe('ask');
    for (const plain of [
      'git log $x',
      'echo $x',
      'npm $x',
      'cat "$f"',
      'for f in *.ts; do wc -l "$f"; done',
      '. venv/bin/activate',
      'hash -r',
    ]) {
      expect(judge(plain, pushing), plain).toBe('allow');
    }
    // A flag is no subcommand: who denies rm -rf has not asked about every rm with a variable.
    expect(judge('for f in *.o; do rm "$f"; done', [{ tool: 'bash', command: 'rm -rf', action: 'deny' }])).toBe('allow');
  });

  test('is nobody’s business when no rule denies or asks about commands', () => {
    using world = makeWorld();
    const others: Rule[] = [allow('make'), { tool: 'read', path: '.env', action: 'deny' }, { tool: 'write', path: 'x', action: 'ask' }];
    for (const command of computed) {
      if (world.bash(command, { mode: 'auto_edit' }).action !== 'allow') continue;
      expect(world.bash(command, { mode: 'auto_edit', rules: others }).action, command).toBe('allow');
    }
    expect(world.bash('r=ls; $r x', { mode: 'auto_edit', rules: others }).action).toBe('allow');
    expect(world.bash('ls | xargs -I{} cp {} src', { mode: 'auto_edit', rules: others }).action).toBe('allow');
  });
});

describe('rules', () => {
  test('deny beats ask beats allow, in whatever order', () => {
    using world = makeWorld();
    const rules: Rule[] = [
      allow('git'),
      { tool: 'bash', command: 'git push', action: 'deny' },
      { tool: 'bash', command: 'git commit', action: 'ask' },
    ];
    for (const order of [rules, rules.toReversed()]) {
      expect(world.bash('git status', { rules: order }).action).toBe('allow');
      expect(world.bash('git commit -m x', { rules: order, mode: 'full' }).action).toBe('ask');
      expect(world.bash('git push', { rules: order, mode: 'full' }).action).toBe('deny');
      expect(world.bash('git status && git push', { rules: order }).action).toBe('deny');
    }
  });

  test('of paths hold for what is read under another name', () => {
    using world = makeWorld();
    symlinkSync('.env', join(world.workspace, 'link'));
    symlinkSync(world.workspace, join(world.workspace, 'dir'));
    const rules: Rule[] = [
      { tool: 'read', path: '.env', action: 'deny' },
      allow('cat'),
      allow('grep'),
      allow('git'),
      allow('head'),
      allow('cp'),
    ];
    for (const path of [
      '.env',
      './src/../.env',
      'link',
      'dir/.env',
      join(world.workspace, '.env'),
      '/proc/self/root' + join(world.workspace, '.env'),
    ]) {
      expect(world.read(path, { rules, mode: 'full' }).action, path).toBe('deny');
    }
    for (const command of [
      'cat .env',
      'git show HEAD:.env',
      'grep . .env',
      'head ./src/../.env',
      'cp .env x; cat x',
      'cat < .env',
      'cat link',
      'cat .e*',
      'cat .en?',
      'cat .[e]nv',
      'cat .{e,x}nv',
    ]) {
      expect(world.bash(command, { rules, mode: 'full' }).action, command).toBe('deny');
    }
    expect(world.bash('make', { rules, mode: 'auto_edit' }).reach.confinement.hidden).toContain(join(world.workspace, '.env'));
  });

  test('of globs mean names wherever they stand', () => {
    using world = makeWorld();
    const rules: Rule[] = [
      { tool: '*', path: '*.pem', action: 'deny' },
      { tool: 'edit', path: 'src/**', action: 'allow' },
    ];
    expect(world.read('src/deep/x.pem', { rules }).action).toBe('deny');
    expect(world.write('src/new.ts', { rules }).action).toBe('allow');
    expect(world.write('other.ts', { rules }).action).toBe('ask');
  });

  test('of a pattern are about the whole text', () => {
    using world = makeWorld();
    const rules: Rule[] = [{ tool: 'bash', pattern: 'npm run *', action: 'allow' }];
    expect(world.bash('npm run dev', { rules }).action).toBe('allow');
    expect(world.bash('npm run dev; touch x', { rules }).action).toBe('ask');
    expect(world.bash('xnpm run dev', { rules }).action).toBe('ask');
  });
});

describe('what is remembered', () => {
  test.each([
    ['npm run dev', ['npm run evil', 'npm run dev; x', 'npm run dev -- --x', 'npm  run dev extra', 'X=1 npm run dev']],
    ["git commit -m 'two words'", ['git commit -m two words', 'git commit']],
  ])('%s is allowed exactly', (command, others) => {
    using world = makeWorld();
    const { remember } = world.bash(command);
    expect(remember).toHaveLength(1);
    expect(world.bash(command, { rules: remember }).action).toBe('allow');
    for (const other of others) expect(world.bash(other, { rules: remember }).action, other).toBe('ask');
  });

  test('is a rule for each command of a list, or none at all', () => {
    using world = makeWorld();
    expect(world.bash('make && ls -la').remember.map(({ command }) => command)).toEqual(['make', 'ls -la']);
    for (const command of ['echo $(x)', 'X=1 make', 'make $TARGET', 'echo x > f', 'make && $CMD']) {
      expect(world.bash(command).remember, command).toEqual([]);
    }
  });

  test('of an edit is the one file', () => {
    using world = makeWorld();
    const { remember } = world.write('a.txt');
    expect(world.write('a.txt', { rules: remember }).action).toBe('allow');
    expect(world.write('b.txt', { rules: remember }).action).toBe('ask');
    expect(world.write('.git/hooks/x').remember).toEqual([]);
  });
});

describe('paths', () => {
  const late = [
    '.git/config',
    '.git/hooks/pre-commit',
    '.GIT/hooks/x',
    '.git/HOOKS/x',
    '.git./config',
    '.envrc',
    '.ENVRC',
    '.envrc ',
    '.vscode/tasks.json',
    '.berth/config.json',
    '.Berth/config.json',
    '.mcp.json',
    'AGENTS.md',
    'AGENTS.MD',
    'agents.md.',
    '.husky/pre-push',
    '.cargo/config',
    '.cargo/config.toml',
    '.yarnrc',
    '.yarnrc.yml',
    '.pnpmfile.cjs',
    'sub/.envrc',
    'sub/.git/hooks/x',
    'x.git/hooks/update',
    '~/.bashrc',
    '~/.profile',
    '~/.config/systemd/user/x.service',
    '~/.local/bin/ls',
    '~/.ssh/authorized_keys',
    '~/.gitconfig',
    '~/proj/.git/config',
    'src/../.git/config',
    './/.git//config',
  ];
  test.each(late)('%s runs code later: asked in every mode, of every tool, and never remembered', (path) => {
    using world = makeWorld();
    for (const mode of ['ask', 'auto_edit', 'full'] as const) {
      const rules: Rule[] = [{ tool: '*', action: 'allow' }];
      for (const tool of ['write', 'edit']) {
        const ruling = world.write(path, { mode, rules }, tool);
        expect(ruling.action).toBe('ask');
        expect(ruling.remember).toEqual([]);
      }
      const quoted = path.startsWith('~') ? path : `'${path}'`;
      expect(world.bash(`echo x > ${quoted}`, { mode, rules }).action).toBe('ask');
    }
  });

  test('outside the workspace are asked, however they are written', () => {
    using world = makeWorld();
    symlinkSync(join(world.home, '..', 'outside'), join(world.workspace, 'out'));
    symlinkSync(join(world.home, 'not-there-yet'), join(world.workspace, 'dangling'));
    mkdirSync(`${world.workspace}-evil`);
    const paths = [
      '../x',
      `${world.workspace}-evil/x`,
      `${world.workspace}/../x`,
      `${world.home}//proj/./../x`,
      'out/x',
      'dangling',
      '/etc/x',
      '/proc/self/cwd/../../../x',
      '~/x',
    ];
    for (const path of paths) {
      for (const mode of ['auto_edit', 'full'] as const) {
        expect(world.write(path, { mode }).action, path).toBe('ask');
        expect(world.write(path, { mode }, 'edit').action, path).toBe('ask');
        expect(world.bash(`echo x > ${path}`, { mode }).action, path).toBe('ask');
      }
      expect(world.write(path, { mode: 'auto_edit' }).reach.refuses('write', join(world.workspace, 'fine'))).toBeUndefined();
    }
  });

  test('of the real /tmp are asked about, but for commands in a sandbox, which have one of their own', () => {
    using world = makeWorld();
    for (const mode of ['auto_edit', 'full'] as const) {
      for (const tool of ['write', 'edit']) expect(world.write('/tmp/x', { mode }, tool).action).toBe('ask');
      const settings = { noSandbox: 'install bubblewrap' };
      for (const command of ['echo x > /tmp/x', 'touch /tmp/x', 'mkdir -p /tmp/a/b']) {
        expect(world.bash(command, { mode }), command).toMatchObject({ action: 'allow', reach: { confinement: { kind: 'sandbox' } } });
        expect(world.bash(command, { mode, settings }).action, command).toBe('ask');
        expect(world.bash(command, { mode, unsandboxed: true }).action, command).toBe('ask');
        const rules = ['echo', 'touch', 'mkdir'].map((name) => allow(name, { unsandboxed: true }));
        expect(world.bash(command, { mode, rules }).action, command).toBe('ask');
      }
      expect(world.bash('echo x > $F', { mode, rules: [allow('echo', { unsandboxed: true })] }).action).toBe('ask');
    }
    expect(world.bash('touch /tmp/x', { mode: 'ask' }).action).toBe('ask');
    expect(world.bash('touch /tmp/x', { mode: 'read_only' }).action).toBe('deny');
  });

  test('of the program of berth itself are asked, and commands cannot make them', () => {
    using world = makeWorld();
    const program = join(world.workspace, 'node_modules', 'berth');
    mkdirSync(join(program, 'dist'), { recursive: true });
    for (const mode of ['auto_edit', 'full'] as const) {
      const setup = { mode, settings: { program } };
      expect(world.write('node_modules/berth/dist/cli.js', setup).action).toBe('ask');
      expect(world.write('node_modules/other/x.js', setup).action).toBe('allow');
      expect(world.bash('npm run build', setup).reach.confinement.readOnly).toContain(program);
      expect(world.read('node_modules/berth/dist/cli.js', setup).action).toBe('allow');
    }
  });

  test('an approved write reaches its file and no other', () => {
    using world = makeWorld();
    const { reach } = world.write('~/x');
    expect(reach.refuses('write', join(world.home, 'x'))).toBeUndefined();
    expect(reach.refuses('write', join(world.home, 'y'))).toBeDefined();
    expect(reach.refuses('write', join(world.home, '.bashrc'))).toBeDefined();
  });

  test('secrets are asked in every mode, and commands do not see them', () => {
    using world = makeWorld();
    for (const path of [
      '~/.ssh/id',
      '~/.aws/credentials',
      '~/.SSH/id',
      '/proc/self/environ',
      '/proc/1/mem',
      '/etc/shadow',
      `${world.home}/../own/berth.db`,
    ]) {
      expect(world.read(path, { mode: 'full' }).action, path).toBe('ask');
    }
    const { hidden } = world.bash('make', { mode: 'auto_edit' }).reach.confinement;
    expect(hidden).toContain(join(world.home, '.ssh'));
    expect(hidden.some((path) => path.endsWith('/own'))).toBe(true);
  });

  test.each([
    [
      'histories',
      '.bash_history .histfile .local/share/fish/fish_history .sqlite_history .config/nushell/history.txt .local/share/atuin/history.db',
    ],
    [
      'tokens',
      '.config/git/credentials .s3cfg .cache/huggingface/token .config/glab-cli/config.yml .composer/auth.json .config/doppler/.doppler.yaml',
    ],
    [
      'keys',
      '.config/sops/age/keys.txt .password-store/a.gpg .local/share/gopass/a .config/Bitwarden CLI/data.json .Xauthority .kube/config',
    ],
    [
      'sockets',
      '.colima/default/docker.sock .docker/run/docker.sock .rd/docker.sock .lima/x/ssh.sock .gnupg/S.gpg-agent .1password/agent.sock',
    ],
  ])('%s are asked in every mode, and commands do not see them', (_, list) => {
    using world = makeWorld();
    const { hidden } = world.bash('make', { mode: 'full' }).reach.confinement;
    for (const path of list.split(/ (?=\.)/)) {
      expect(world.read(`~/${path}`, { mode: 'full' }).action, path).toBe('ask');
      expect(
        hidden.some((place) => `${join(world.home, path)}/`.startsWith(`${place}/`)),
        path,
      ).toBe(true);
    }
  });

  test('settings are secret when they hold a token', () => {
    using world = makeWorld();
    writeFileSync(join(world.home, '.npmrc'), 'save-exact=true\n');
    expect(world.read('~/.npmrc', { mode: 'full' }).action).toBe('allow');
    writeFileSync(join(world.home, '.npmrc'), '//registry.npmjs.org/:_authToken=x\n');
    expect(world.read('~/.npmrc', { mode: 'full' }).action).toBe('ask');
    expect(world.bash('make', { mode: 'full' }).reach.confinement.hidden).toContain(join(world.home, '.npmrc'));
  });

  test('reading outside is asked but for what every program reads', () => {
    using world = makeWorld();
    expect(world.read('/usr/include/stdio.h').action).toBe('allow');
    expect(world.read('~/notes.txt').action).toBe('ask');
    expect(world.read('~/notes.txt', { mode: 'full' }).action).toBe('allow');
  });

  test('a directory of the system, or one that holds the home, is nobody’s workspace', () => {
    using world = makeWorld();
    for (const cwd of ['/', '/etc', join(world.home, '..'), '/usr/share']) {
      const policy = createPolicy({
        home: world.home,
        umask: 0o022,
        settings: () => ({ noSandbox: undefined, network: false, writable: [], own: [] }),
      });
      const call = { toolName: 'write', readOnly: false, mode: 'full' as const, cwd, rules: [] };
      const ruling = policy.judge({ ...call, accesses: [{ kind: 'write', path: join(cwd, 'x') }] });
      expect(ruling.action, cwd).toBe('ask');
      expect(ruling.reach.confinement.writable).toEqual([]);
    }
  });
});

describe('cd', () => {
  test('inside the workspace is free, outside it is asked', () => {
    using world = makeWorld();
    const rules = [allow('ls')];
    expect(world.bash('cd src && ls', { rules }).action).toBe('allow');
    expect(world.bash('cd .. && ls', { rules }).action).toBe('ask');
    expect(world.bash('cd /tmp && ls', { rules }).action).toBe('ask');
  });
  test('moves the paths that follow it', () => {
    using world = makeWorld();
    expect(world.bash('cd .git && echo x > config', { mode: 'auto_edit' }).action).toBe('ask');
    expect(world.bash('cd src && echo x > config', { mode: 'auto_edit' }).action).toBe('allow');
  });
});

test('what cannot be read is asked', () => {
  using world = makeWorld();
  for (const command of ['echo "', 'if', 'echo $((', '']) {
    expect(world.bash(command, { mode: 'full', rules: [{ tool: '*', action: 'allow' }] }).action, command).toBe('ask');
  }
});

test('a call that touches nothing is stopped by a rule about its tool alone', () => {
  using world = makeWorld();
  expect(world.judge('clock', []).action).toBe('allow');
  expect(world.judge('clock', [], { rules: [{ tool: 'clock', action: 'deny' }] }).action).toBe('deny');
});

describe('commands that write what they name', () => {
  test('are allowed by their rule in the workspace, and asked elsewhere and where code would run later', () => {
    using world = makeWorld();
    const rules = [allow('mkdir'), allow('rm'), allow('touch'), allow('echo')];
    for (const command of ['mkdir -p src/x', 'rm a.txt', 'touch b']) expect(world.bash(command, { rules }).action, command).toBe('allow');
    for (const command of ['mkdir ~/x', 'touch .envrc', 'rm .git/config', 'touch ../x', 'echo x > b', 'touch b > c']) {
      expect(world.bash(command, { rules }).action, command).toBe('ask');
    }
  });

  test('can be remembered, redirections cannot', () => {
    using world = makeWorld();
    const { remember } = world.bash('touch b');
    expect(remember).toMatchObject([{ command: 'touch b', exact: true }]);
    expect(world.bash('touch b', { rules: remember }).action).toBe('allow');
    expect(world.bash('touch b > c', { rules: remember }).action).toBe('ask');
    expect(world.bash('touch ~/b').remember).toEqual([]);
  });
});

describe('a place that is computed', () => {
  test('is asked where the workspace may not be written unasked', () => {
    using world = makeWorld();
    const rules = [allow('cat')];
    for (const command of ['cat a.txt > con*', 'cat a.txt > $PWD/v2', 'cat a.txt > "$F"', 'cat a.txt >> ~root/x', 'cat a.txt > {a,b}']) {
      expect(world.bash(command, { rules }).action, command).toBe('ask');
    }
  });

  test('is no way to write what a rule denies: in the sandbox it is read-only', () => {
    using world = makeWorld();
    const rules: Rule[] = [{ tool: 'edit', path: 'a.txt', action: 'deny' }];
    const ruling = world.bash('cat x > $F', { rules, mode: 'auto_edit' });
    expect(ruling.action).toBe('allow');
    expect(ruling.reach.confinement.readOnly).toContain(join(world.workspace, 'a.txt'));
  });
});

test('what is above a link is above where it leads', () => {
  using world = makeWorld();
  mkdirSync(join(world.home, '..', 'outside', 'deep'));
  symlinkSync(join(world.home, '..', 'outside', 'deep'), join(world.workspace, 'esc'));
  expect(world.bash('echo x > esc/../x', { mode: 'auto_edit' }).action).toBe('ask');
  expect(world.bash('cat esc/../../home/.ssh/id', { rules: [allow('cat'), { tool: 'read', path: '~/.ssh', action: 'deny' }] }).action).toBe(
    'deny',
  );
});

test('git’s own files are asked about, whichever they are', () => {
  using world = makeWorld();
  for (const path of ['.git/commondir', '.git/index', '.git/HEAD', 'sub/.git', 'sub/.git/x']) {
    expect(world.write(path, { mode: 'full' }).action, path).toBe('ask');
  }
});

test('a session whose directory is gone runs nothing', () => {
  using world = makeWorld();
  rmSync(world.workspace, { recursive: true });
  expect(world.bash('ls', { rules: [allow('ls')] })).toMatchObject({ action: 'deny', why: expect.stringContaining('gone') });
});

test.each(['a\0b', '', '\n', '\ud800', 'x'.repeat(5_000), '/'.repeat(5_000), '~', '..', '/dev/fd/0'])('any path is judged: %j', (path) => {
  using world = makeWorld();
  for (const mode of ['ask', 'auto_edit', 'full', 'read_only'] as const) {
    expect(['allow', 'ask', 'deny']).toContain(world.write(path, { mode }).action);
    expect(['allow', 'ask', 'deny']).toContain(world.read(path, { mode }).action);
  }
});

describe('the /tmp of a sandbox is its own', () => {
  function judgeIn(workspace: string, home: string, own: string[], more: { mode?: Mode; rules?: Rule[]; writable?: string[] } = {}) {
    const { mode = 'auto_edit', rules = [], writable = [] } = more;
    const policy = createPolicy({ home, umask: 0o022, settings: () => ({ noSandbox: undefined, network: false, writable, own }) });
    return (command: string): Ruling =>
      policy.judge({
        toolName: 'bash',
        readOnly: false,
        mode,
        cwd: workspace,
        rules: rules.map((rule) => ({ ...rule, source: 'test' })),
        accesses: [{ kind: 'command', command, network: false, unsandboxed: false }],
      });
  }
  const nobody = '/home/nobody-here';

  test('written unasked where the mode lets commands run, and never a reason to leave the sandbox', () => {
    const workspace = mkdtempSync('/var/tmp/berth-judge-');
    try {
      const judge = judgeIn(workspace, nobody, []);
      expect(judge('make > /tmp/log').action).toBe('allow');
      expect(judge('rm -rf /tmp').action).toBe('allow');
      expect(judge('make > /tmp/../etc/x').action).toBe('ask');
      const asked = judgeIn(workspace, nobody, [], { mode: 'ask' })('make > /tmp/log');
      expect([asked.action, asked.reach.confinement.kind]).toEqual(['ask', 'sandbox']);
    } finally {
      rmSync(workspace, { recursive: true });
    }
  });

  test('whatever of berth, of the home or of the workspace lies in the real one, which is asked about', () => {
    const base = mkdtempSync('/tmp/berth-judge-');
    const outside = mkdtempSync('/var/tmp/berth-judge-');
    try {
      const workspace = join(base, 'proj');
      mkdirSync(workspace);
      const worlds = [
        { judge: judgeIn(outside, nobody, [base]), real: [`${base}/x`, base, '/tmp'] },
        { judge: judgeIn(outside, nobody, ['/tmp', '/tmp/berth.sock']), real: ['/tmp/berth.sock'] },
        { judge: judgeIn(outside, base, []), real: [`${base}/x`, '~/x', '~/.bashrc', base, '/tmp'] },
        { judge: judgeIn(workspace, nobody, []), real: [`${base}/x`, '../x', base, '/tmp'] },
        { judge: judgeIn(workspace, base, ['/tmp', '/tmp/berth.sock']), real: [`${base}/x`, '../x', base, '/tmp'] },
        { judge: judgeIn(outside, nobody, [], { writable: [workspace] }), real: [`${base}/x`, base, '/tmp'] },
        {
          judge: judgeIn(outside, nobody, [], { rules: [{ tool: 'edit', path: workspace, action: 'allow' }] }),
          real: [`${base}/x`, base, '/tmp'],
        },
      ];
      for (const { judge, real } of worlds) {
        for (const path of ['/tmp/x', '/tmp/a/b/c', `${base}-beside/x`]) {
          expect(judge(`touch ${path}`), path).toMatchObject({ action: 'allow', reach: { confinement: { kind: 'sandbox' } } });
          expect(judge(`ls > ${path}`).action, path).toBe('allow');
        }
        for (const path of real) expect(judge(`rm -r ${path}`).action, path).toBe('ask');
      }
    } finally {
      rmSync(base, { recursive: true });
      rmSync(outside, { recursive: true });
    }
  });
});

test('a file that programs run later, and that a rule allows to edit by name, is not writable for commands', () => {
  using world = makeWorld();
  writeFileSync(join(world.home, '.bashrc'), '');
  writeFileSync(join(world.home, 'notes.txt'), '');
  for (const tool of ['write', 'edit', 'bash', '*']) {
    const rules = ['~/.bashrc', '~/.ssh', '.git/hooks', '~/notes.txt'].map((path): Rule => ({ tool, path, action: 'allow' }));
    const { writable } = world.bash('make', { mode: 'auto_edit', rules }).reach.confinement;
    expect(writable, tool).toEqual([world.workspace, join(world.home, 'notes.txt')]);
  }
});

test('commands can only read what programs run later, but for instructions and what git writes itself', () => {
  using world = makeWorld();
  for (const folder of ['.vscode', '.git/info', '.git/modules', '.git/worktrees'])
    mkdirSync(join(world.workspace, folder), { recursive: true });
  for (const file of ['.envrc', 'AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.cursorrules', '.git/config.worktree']) {
    writeFileSync(join(world.workspace, file), '');
  }
  const { confinement, autorunKind } = world.bash('make', { mode: 'auto_edit' }).reach;
  expect(confinement.readOnly.sort()).toEqual(['.envrc', '.git/hooks', '.vscode'].map((path) => join(world.workspace, path)));
  const kinds: Record<string, string | undefined> = {
    'sub/.envrc': 'protected',
    'sub/.ENVRC.': 'protected',
    'sub/.husky': 'protected',
    'sub/.cargo/config.toml': 'protected',
    'sub/.yarnrc': 'protected',
    'sub/.yarnrc.yml': 'protected',
    'sub/.pnpmfile.cjs': 'protected',
    'sub/config.toml': undefined,
    'x.git/hooks': 'protected',
    'x.git/config': undefined,
    'sub/Claude.md': 'instructions',
    '.git/config': undefined,
    '.git/worktrees/w/gitdir': undefined,
    '.git/modules/m/config': undefined,
    'src/a.ts': undefined,
  };
  for (const [path, kind] of Object.entries(kinds)) {
    expect(autorunKind(join(world.workspace, dirname(path)), basename(path)), path).toBe(kind);
  }
});

test.each([
  ['sudo rm x', 'sudo rm x', 'deny'],
  ['rm x', 'sudo rm x', 'deny'],
  ['rm x', '/bin/rm x', 'deny'],
  ['eval ls', 'eval ls', 'deny'],
  ['export A', 'export A', 'deny'],
  ['rm x', 'rm x y', 'allow'],
  ['rm x', 'ls x', 'allow'],
])('a rule that denies exactly %s says of %s: %s', (command, asked, action) => {
  using world = makeWorld();
  const rules: Rule[] = [
    { tool: 'bash', action: 'allow' },
    { tool: 'bash', command, exact: true, action: 'deny' },
  ];
  expect(world.bash(asked, { mode: 'full', rules }).action).toBe(action);
});
