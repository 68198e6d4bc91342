import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { providersAt, startWithModels } from '../e2e/providers.js';
import { createFakeModel } from '../support/fake-model/server.js';
import { seedHistory } from '../support/seed-store.js';

vi.setConfig({ testTimeout: 90_000 });

const root = fileURLToPath(new URL('../..', import.meta.url));
const example = join(root, 'docs/example-frontend.ts');

interface Example extends AsyncDisposable {
  until(pattern: RegExp): Promise<string>;
  type(line: string): void;
  finished(): Promise<number | null>;
}

/** Runs it as somebody would who has installed the package: `berth` is dist/client.js. */
function runExample(sessionId: string, env: Record<string, string>): Example {
  const child = spawn(process.execPath, ['--import', 'tsx', example, sessionId], { cwd: root, env });
  let printed = '';
  const wake: (() => void)[] = [];
  const hear = (text: string): void => {
    printed += text;
    wake.splice(0).forEach((resolve) => resolve());
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number | null>((resolve) =>
    child.on('close', (code) => {
      resolve(code);
      hear('\n[ended]\n');
    }),
  );
  return {
    async until(pattern) {
      while (!pattern.test(printed)) {
        if (printed.endsWith('[ended]\n')) throw new Error(`the example ended: ${printed}`);
        await new Promise<void>((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`waited in vain for ${String(pattern)}: ${printed.slice(-3_000)}`)), 60_000);
          wake.push(() => {
            clearTimeout(timer);
            resolve();
          });
        });
      }
      return printed;
    },
    type: (line) => void child.stdin.write(`${line}\n`),
    finished: () => ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

test('it attaches in mid-approval, shows all open calls, answers, loads older pages and survives a restart', async () => {
  await using fake = await createFakeModel();
  fake.answerWith((asked) => {
    if (JSON.stringify(asked.body).includes('"role":"tool"')) return [{ text: 'Both are written.' }];
    return [
      {
        calls: [
          { name: 'write', args: { path: 'one.txt', content: 'one' }, id: 'call_1' },
          { name: 'write', args: { path: 'two.txt', content: 'two' }, id: 'call_2' },
        ],
      },
    ];
  });
  const config = { model: 'local/llama', sandbox: { enabled: false }, providers: { local: providersAt(fake).local } };
  await using daemon = await startWithModels(fake, { config });
  const first = await daemon.connect();
  const made = await first.call('new_session', { cwd: daemon.workdir, model: 'local/llama' });
  if (!made.ok) throw new Error(made.error.message);
  const { session_id } = made.payload;
  await daemon.terminate();
  seedHistory(daemon, session_id, 330, 'an old message');
  await daemon.start();
  const berth = await daemon.connect();
  await berth.call('prompt', { session_id, text: 'make two files', wait: false });
  await expect.poll(asks, { timeout: 20_000 }).toBe(1);
  async function asks(): Promise<number> {
    const reply = await berth.call('list_ui_requests');
    return reply.ok ? reply.payload.requests.length : 0;
  }

  await using screen = runExample(session_id, daemon.env);
  const opened = await screen.until(/ {2}type /);
  expect(opened).toContain('showing 100 of 332, /older for more\n');
  expect(opened).toMatch(/call asking: write one\.txt\ncall waiting: write two\.txt\nquestion: /);
  screen.type('a');
  await screen.until(/question: answered by [^\n]*\n[^]*call asking: write two\.txt\n/);

  await daemon.terminate();
  await screen.until(/\[lost\]/);
  screen.type('/older');
  await daemon.start();
  await screen.until(/\[back\]/);
  // The run only waited for a person, so it waits again under the same request.
  expect(await screen.until(/loaded 200\n/)).toMatch(/showing 3\d\d of 33\d, \/older for more\n/);
  screen.type('/older');
  await screen.until(/showing (\d+) of \1\n/);
  screen.type('a');
  await screen.until(/Both are written\.\n[^]*run: completed\n/);
  expect([existsSync(join(daemon.workdir, 'one.txt')), existsSync(join(daemon.workdir, 'two.txt'))]).toEqual([true, true]);

  await daemon.kill9();
  await screen.until(/\[lost\][^]*\[lost\]/);
  screen.type('say ahoy');
  await screen.until(/◌ say ahoy\n/);
  await daemon.start();
  await screen.until(/✓✓? say ahoy\n[^]*run: completed\n/);
  screen.type('/quit');
  expect(await screen.finished()).toBe(0);
});
