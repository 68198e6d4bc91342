import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createPolicy } from '../../src/policy/judge.js';
import { createBashTool } from '../../src/tools/shell/bash.js';
import { findBubblewrap } from '../../src/sandbox/bubblewrap.js';
import { missing } from '../needs.js';
import { testProcesses } from '../support/commands.js';
import { artifactsIn, callTool, toolContext } from '../support/tool-context.js';

interface House extends Disposable {
  root: string;
  workspace: string;
  home: string;
}

/** A home with secrets, a workspace with links that lead out of it, and things around it. Not below /tmp, which a sandbox has of its own. */
function makeHouse(): House {
  const root = realpathSync(mkdtempSync('/var/tmp/berth-house-'));
  const home = join(root, 'home');
  const workspace = join(home, 'work');
  for (const place of [
    'home/work/src',
    'home/work/.git/hooks',
    'home/work/.vscode',
    'home/work/.berth',
    'home/work/.husky',
    'home/.ssh',
    'home/.config/systemd/user',
    'home/.local/bin',
    'own',
    'out/deep',
  ]) {
    mkdirSync(join(root, place), { recursive: true });
  }
  for (const file of [
    'home/.bashrc',
    'home/.ssh/id',
    'home/notes',
    'own/berth.db',
    'out/file',
    'home/work/.git/config',
    'home/work/.envrc',
    'home/work/.mcp.json',
    'home/work/.vscode/tasks.json',
    'home/work/.berth/config.json',
    'home/work/.husky/pre-push',
    'home/work/fine',
  ]) {
    writeFileSync(join(root, file), 'old');
  }
  symlinkSync(join(root, 'out'), join(workspace, 'link'));
  symlinkSync(join(root, 'out/file'), join(workspace, 'filelink'));
  symlinkSync('../../out/deep', join(workspace, 'esc'));
  symlinkSync(join(home, 'not-there'), join(workspace, 'dangling'));
  mkdirSync(`${workspace}-evil`);
  return { root, home, workspace, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

/** Everything in the house but what lies in the workspace and may be written, as text. */
function picture({ root, workspace }: House): string[] {
  const autorun = ['.git/hooks', '.envrc', '.vscode', '.berth', '.mcp.json', '.husky'];
  const see = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (path === workspace) return autorun.flatMap((name) => [join(path, name), ...contentsOf(join(path, name))]);
      if (entry.isDirectory()) return [path, ...see(path)];
      return [`${path} ${entry.isFile() ? readFileSync(path, 'utf8') : ''}`];
    });
  const contentsOf = (path: string): string[] => (lstatSync(path).isDirectory() ? see(path) : [readFileSync(path, 'utf8')]);
  return see(root);
}

const targets =
  `/etc/berth-x /usr/bin/berth-x /usr/berth-x /srv/berth-x /var/lib/berth-x /var/tmp/berth-x /boot/berth-x /opt/berth-x /berth-x
  /proc/sys/kernel/core_pattern /proc/1/root/berth-x /proc/self/root/usr/berth-x /sys/berth-x ../x ../../x ../notes ../.bashrc ../.profile
  ../.ssh/authorized_keys ../.ssh/id ../.config/systemd/user/x.service ../.local/bin/ls ../work-evil/x ../../own/berth.db ../../out/file ../../out/new
  link/new link/file link/../out/x filelink esc/../x esc/x dangling src/../../x ./src/../../notes .git/hooks/pre-commit .git/hooks/x
  .git/../.git/hooks/y .envrc src/../.envrc .vscode/tasks.json .vscode/x .berth/config.json .mcp.json .husky/pre-push`.split(/\s+/);

const ways: Record<string, (path: string) => string> = {
  'a shell': (path) => `p='${path}'; mkdir -p "$(dirname "$p")"; echo evil > "$p"`,
  'cp and mv': (path) => `p='${path}'; echo evil > fresh; cp -f fresh "$p"; mv -f fresh "$p"`,
  python: (path) =>
    `/usr/bin/python3 -c 'import os,sys; p=sys.argv[1]; os.makedirs(os.path.dirname(p) or ".", exist_ok=True); open(p,"w").write("evil")' '${path}'`,
  links: (path) => `p='${path}'; echo evil > fresh; ln -f fresh "$p"; ln -sf fresh "$p"; rm -rf "$p"; touch "$p"`,
};

describe.skipIf(missing('bwrap') || missing('python3'))(`${targets.length} ways out of a sandbox (needs bwrap)`, () => {
  test.each(Object.keys(ways))('with %s change nothing', async (way) => {
    using house = makeHouse();
    const { home, workspace, root } = house;
    const policy = createPolicy({
      home,
      umask: 0o022,
      settings: () => ({ noSandbox: undefined, network: false, writable: [], own: [join(root, 'own')] }),
    });
    const before = picture(house);
    const bash = createBashTool({ processes: testProcesses(home) });
    const command = targets.map((path) => `( ${ways[way]?.(path)} )`).join('\n');
    const call = { toolName: 'bash', readOnly: false, mode: 'auto_edit' as const, cwd: workspace, rules: [] };
    // Whatever the policy would say of such a text: this is what the sandbox itself holds.
    const { reach } = policy.judge({ ...call, accesses: [{ kind: 'command', command: 'true', network: false, unsandboxed: false }] });
    expect(reach.confinement.kind).toBe('sandbox');
    await callTool(bash, { command: `{ ${command}\n} 2>/dev/null; true` }, toolContext({ cwd: workspace, reach }));
    expect(picture(house)).toEqual(before);
    expect(
      targets.filter((path) => path.startsWith('/') && path.endsWith('berth-x') && !path.startsWith('/proc') && existsSync(path)),
    ).toEqual([]);
  });

  test('filling /tmp ends at a bound', async () => {
    using house = makeHouse();
    const bash = createBashTool({ processes: testProcesses(house.home) });
    const confinement = { kind: 'sandbox' as const, network: false, writable: [house.workspace], readOnly: [], hidden: [] };
    const reach = { ...toolContext({ cwd: house.workspace }).reach, confinement };
    const { text } = await callTool(bash, { command: 'df --output=size -B1 /tmp | tail -1' }, toolContext({ cwd: house.workspace, reach }));
    expect(Number.parseInt(text, 10)).toBeLessThanOrEqual(1024 * 1024 * 1024);
  });
});

describe.skipIf(missing('bwrap'))('a session in a shared directory (needs bwrap)', () => {
  test.each(['read_only', 'auto_edit', 'full'] as const)('does not see the sockets there, in the mode %s', async (mode) => {
    const folder = mkdtempSync('/tmp/berth-shared-');
    const socket = createServer().listen(join(folder, 'socket'));
    await once(socket, 'listening');
    try {
      const processes = testProcesses('/home/nobody');
      const policy = createPolicy({
        home: '/home/nobody',
        umask: 0o022,
        settings: () => ({ noSandbox: undefined, network: false, writable: [], own: [] }),
      });
      const command = `ls -a /tmp; ls ${folder}; pwd`;
      const accesses = [{ kind: 'command', command, network: false, unsandboxed: false }] as const;
      const { reach } = policy.judge({ toolName: 'bash', accesses: [...accesses], readOnly: false, mode, cwd: '/tmp', rules: [] });
      const context = toolContext({ cwd: '/tmp', reach, artifacts: artifactsIn(join(folder, 'artifacts')) });
      const { text } = await callTool(createBashTool({ processes }), { command }, context);
      expect(text).toContain('/tmp\n');
      expect(text).toContain('is not a workspace');
      expect(text.split('\n')).not.toContain('socket');
      expect(text).not.toMatch(/^berth-shared-/m);
    } finally {
      socket.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe.skipIf(missing('bwrap'))('a root that was judged (needs bwrap)', () => {
  test('and is a link by the time the command starts is not followed', async () => {
    using house = makeHouse();
    const processes = testProcesses(house.home);
    const away = `${house.workspace}-away`;
    renameSync(house.workspace, away);
    symlinkSync(join(house.home, '.ssh'), house.workspace);
    const start = (writable: string[], cwd: string) =>
      processes.start({
        command: 'echo evil > authorized_keys; cat id',
        cwd,
        confinement: { kind: 'sandbox', network: false, writable, readOnly: [], hidden: [] },
        sessionId: 's',
        runId: 'r',
        toolCallId: 'c',
        onOutput: () => undefined,
      });
    await expect(start([house.workspace], house.workspace)).rejects.toThrow('replaced by a symbolic link');
    await expect(start([join(house.workspace, 'src')], '/')).resolves.toBeDefined();
    expect(readdirSync(join(house.home, '.ssh'))).toEqual(['id']);
  });

  test('and is a link by the time bubblewrap looks at its name is not written', async () => {
    using house = makeHouse();
    const found = findBubblewrap();
    if ('missing' in found) throw new Error(found.missing);
    const { workspace, root } = house;
    // As if a link had stood there only while bubblewrap resolved the name: nothing but the sandbox itself can tell.
    const late = join(root, 'late-bwrap');
    const script = `for arg; do shift; [ "$before $arg" = "--bind ${workspace}" ] && arg=${join(root, 'out')}; before=$arg; set -- "$@" "$arg"; done`;
    writeFileSync(late, `#!/bin/sh\n${script}\nexec ${found.path} "$@"\n`, { mode: 0o755 });
    const processes = testProcesses(house.home, {}, { bubblewrap: () => ({ ...found, path: late, bindsDescriptors: false }) });
    const confinement = { kind: 'sandbox' as const, network: false, writable: [workspace], readOnly: [], hidden: [] };
    const reach = { ...toolContext({ cwd: workspace }).reach, confinement };
    const context = toolContext({ cwd: workspace, reach, artifacts: artifactsIn(join(root, 'artifacts')) });
    const { text } = await callTool(createBashTool({ processes }), { command: 'ls; echo x >made' }, context);
    expect(text).toContain('moved or replaced just now');
    expect(readdirSync(join(root, 'out')).sort()).toEqual(['deep', 'file']);
  });
});
