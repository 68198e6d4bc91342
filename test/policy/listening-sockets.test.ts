import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPolicy } from '../../src/policy/judge.js';
import { findListeningSockets } from '../../src/policy/listening-sockets.js';
import type { Mode } from '../../src/policy/port.js';
import { createBashTool } from '../../src/tools/shell/bash.js';
import type { Reach } from '../../src/tools/port.js';
import { missing } from '../needs.js';
import { testProcesses } from '../support/commands.js';
import { callTool, toolContext } from '../support/tool-context.js';

let root: string;
let home: string;
let workspace: string;
let servers: Server[];

beforeEach(() => {
  // Not below /tmp, which a sandbox has of its own.
  root = realpathSync(mkdtempSync('/var/tmp/berth-sockets-'));
  home = join(root, 'home');
  workspace = join(home, 'work');
  mkdirSync(workspace, { recursive: true });
  servers = [];
});
afterEach(() => {
  for (const server of servers) server.close();
  rmSync(root, { recursive: true, force: true });
});

async function listen(path: string): Promise<string> {
  const server = createServer((socket) => socket.end('reached'));
  servers.push(server);
  server.listen(path);
  await once(server, 'listening');
  return path;
}

function judge(cwd: string, mode: Mode = 'auto_edit'): Reach {
  const settings = () => ({ noSandbox: undefined, network: false, writable: [], own: [] });
  const accesses = [{ kind: 'command' as const, command: 'true', network: false, unsandboxed: false }];
  return createPolicy({ home, umask: 0o022, settings }).judge({ toolName: 'bash', readOnly: false, mode, cwd, rules: [], accesses }).reach;
}

/** Whether a command of a session in this directory gets an answer on a socket. */
async function reaches(cwd: string, path: string, mode?: Mode): Promise<boolean> {
  const bash = createBashTool({ processes: testProcesses(home) });
  const program = `require('node:net').connect(${JSON.stringify(path)}).on('data', (said) => console.log(String(said))).on('error', () => console.log('no'))`;
  const said = await callTool(
    bash,
    { command: `'${process.execPath}' -e '${program.replaceAll("'", `'"'"'`)}'` },
    toolContext({ cwd, reach: judge(cwd, mode) }),
  );
  expect(said.text).toMatch(/^(reached|no)\n/);
  return said.text.startsWith('reached');
}

describe.skipIf(missing('bwrap'))('a socket that a program outside of the sandbox listens on (needs bwrap)', () => {
  test.each<Mode>(['auto_edit', 'full', 'read_only'])('cannot be reached by a command in the mode %s, wherever it is', async (mode) => {
    for (const path of [join(root, 'of-a-service'), join(home, 'editor.sock')])
      expect(await reaches(workspace, await listen(path), mode)).toBe(false);
  });

  test('can be reached in the workspace, as that of a database for tests', async () => {
    expect(await reaches(workspace, await listen(join(workspace, 'db.sock')))).toBe(true);
  });

  test('cannot be reached in a session whose workspace is the home directory', async () => {
    expect(await reaches(home, await listen(join(home, 'editor.sock')))).toBe(false);
  });
});

test('a directory at the path of a socket that is gone, or of another container, is not covered up', async () => {
  const path = await listen(join(root, 'data'));
  expect(judge(workspace).confinement.hidden).toContain(path);
  rmSync(path);
  mkdirSync(path);
  expect(judge(workspace).confinement.hidden).not.toContain(path);
});

test('sockets are found by their paths: those that listen, and those for datagrams', () => {
  const table = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 20001 /srv/a b.sock
0000000000000000: 00000002 00000000 00010000 0005 01 20002 /srv/packets
0000000000000000: 00000002 00000000 00000000 0002 01 20003 /srv/log
0000000000000000: 00000003 00000000 00000000 0001 03 20004 /srv/a b.sock
0000000000000000: 00000003 00000000 00000000 0001 03 20005 /srv/connected
0000000000000000: 00000002 00000000 00010000 0001 01 20006 @/tmp/.X11-unix/X0
0000000000000000: 00000003 00000000 00000000 0001 03 20007
`;
  expect(findListeningSockets(table)).toEqual(['/srv/a b.sock', '/srv/packets', '/srv/log']);
});
