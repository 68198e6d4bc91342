import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { program } from '../support/daemon.js';
import { shareDaemon } from '../support/shared-daemon.js';
import { openPlace, poll, startCommand, type Place } from './run-cli.js';

vi.setConfig({ testTimeout: 90_000 });

const shared = shareDaemon();
const page = readFileSync(new URL('../../docs/notifications.md', import.meta.url), 'utf8');
const has = (name: string): boolean => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;

/** A program of docs/notifications.md, as it stands there. */
function writeRecipe(place: Place, name: string): string {
  const script = page.split(`\`\`\`sh ${name}\n`)[1]?.split('```')[0];
  if (script === undefined) throw new Error(`docs/notifications.md has no recipe ${name}`);
  // Not by its name alone: it would stand before the program that it calls.
  const path = join(place.workdir, `${name}.sh`);
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}

/** `berth` as the recipes call it. */
function pathWithBerth(place: Place): string {
  const path = join(place.workdir, 'berth');
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(path, 0o755);
  return `${place.workdir}:${place.env.PATH ?? ''}`;
}

/** A program in a process group of its own, which is killed at the end. */
function startProgram(place: Place, path: string, env: Record<string, string>): { child: ChildProcess } & AsyncDisposable {
  const child = spawn(path, [], { cwd: place.workdir, env: { ...place.env, ...env }, detached: true, stdio: 'ignore' });
  return {
    child,
    async [Symbol.asyncDispose]() {
      if (child.pid !== undefined && child.exitCode === null) {
        const ended = once(child, 'close');
        process.kill(-child.pid, 'SIGKILL');
        await ended;
      }
    },
  };
}

interface Posted {
  url: string;
  body: string;
}

/** A server on this computer that keeps what was posted, and never ends its answer to a GET. */
async function listen(): Promise<{ url: string; posted: Posted[]; readers: ServerResponse[] } & AsyncDisposable> {
  const posted: Posted[] = [];
  const readers: ServerResponse[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200).flushHeaders();
      readers.push(response);
      return;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      posted.push({ url: request.url ?? '', body });
      response.end('ok');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posted,
    readers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

test.runIf(has('curl'))('the webhook gets each line as it is', async () => {
  await using daemon = openPlace(shared());
  await using server = await listen();
  const berth = await daemon.connect();
  const made = await berth.call('new_session', { title: 'hooked' });
  const session_id = made.ok ? made.payload.session_id : '';
  await berth.call('ack_cursor', { name: 'webhook' });
  const env = { WEBHOOK_URL: `${server.url}/hook` };
  await using _follower = startCommand(daemon, ['follow', '--as', 'webhook', '--exec', writeRecipe(daemon, 'webhook')], { env });
  await berth.call('prompt', { session_id, text: 'say ahoy' });
  await poll(() => server.posted.length, Boolean);
  expect(server.posted[0]?.url).toBe('/hook');
  expect(JSON.parse(server.posted[0]?.body ?? '')).toMatchObject({ happened: 'end', session_id, title: 'hooked', outcome: 'completed' });
});

test.runIf(has('curl') && has('jq'))('ntfy shows a question with buttons, and a button answers it', async () => {
  await using daemon = openPlace(shared());
  await using server = await listen();
  const berth = await daemon.connect();
  const made = await berth.call('new_session', { title: 'a "quoted" title' });
  const session_id = made.ok ? made.payload.session_id : '';
  await berth.call('ack_cursor', { name: 'phone' });
  const env = { NTFY_URL: server.url, NTFY_TOPIC: 'boat', PATH: pathWithBerth(daemon) };
  const args = ['follow', '--as', 'phone', '--on', 'ask', '--exec', writeRecipe(daemon, 'ntfy')];
  await using _follower = startCommand(daemon, args, { env });
  await using answers = startProgram(daemon, writeRecipe(daemon, 'ntfy-answers'), env);
  await berth.call('prompt', { session_id, text: 'echo this with approval', wait: false });
  await poll(() => server.posted.length && server.readers.length, Boolean);
  const told = JSON.parse(server.posted[0]?.body ?? '') as { actions: { url: string; label: string; body: string }[] };
  expect(told).toMatchObject({ topic: 'boat', title: 'a "quoted" title', message: 'Echo this text?' });
  const allow = told.actions.find(({ body }) => body.endsWith(' a'));
  expect(allow).toMatchObject({ url: `${server.url}/boat-answers`, body: expect.stringMatching(/^req_\w+ a$/) });
  server.readers[0]?.write(`--cancel x\nreq_$(false) a\n${allow?.body ?? ''}\n`);
  await poll(
    async () => {
      const state = await berth.call('get_state', { session_id });
      return state.ok ? state.payload.last_run?.outcome : undefined;
    },
    (outcome) => outcome === 'completed',
  );
  expect(answers.child.exitCode).toBeNull();
});

test.runIf(has('tmux'))('tmux shows what happened last, and how many questions wait', async () => {
  await using daemon = openPlace(shared());
  const berth = await daemon.connect();
  const made = await berth.call('new_session', { title: '#(touch never) boat' });
  const session_id = made.ok ? made.payload.session_id : '';
  await berth.call('ack_cursor', { name: 'tmux' });
  const env = { TMUX_TMPDIR: daemon.workdir, TMUX: '', PATH: pathWithBerth(daemon) };
  function tmux(...args: string[]): string {
    // The server of tmux goes on in the background: it must not hold a pipe that is read to its end.
    const stdout = args[0] === 'new-session' ? 'ignore' : 'pipe';
    return String(
      spawnSync('tmux', ['-f', '/dev/null', ...args], { env: { ...daemon.env, ...env }, stdio: ['ignore', stdout, 'ignore'] }).stdout,
    );
  }
  tmux('new-session', '-d', 'cat');
  try {
    const args = ['follow', '--as', 'tmux', '--on', 'ask', '--exec', writeRecipe(daemon, 'tmux')];
    await using _follower = startCommand(daemon, args, { env });
    await berth.call('prompt', { session_id, text: 'echo this with approval', wait: false });
    const shown = await poll(
      () => tmux('show-options', '-gqv', '@berth'),
      (text) => text !== '',
    );
    expect(shown).toBe('?1 (touch never) boat: Echo this text?\n');
  } finally {
    tmux('kill-server');
  }
});
