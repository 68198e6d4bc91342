import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { program } from '../support/daemon.js';
import { poll, type Place } from './run-cli.js';

export interface Screen extends AsyncDisposable {
  /** Types as a person does. */
  type(...keys: string[]): Promise<void>;
  paste(text: string): Promise<void>;
  /** Types all of it at once. */
  pour(text: string): Promise<void>;
  /** What is on it, lines joined that were only wrapped. */
  text(): Promise<string>;
  until(fits: (text: string) => boolean): Promise<string>;
  /** The same with the sequences that colour it. */
  coloured(): Promise<string>;
  /** From now on, everything that the program writes to the terminal. */
  record(): Promise<() => string>;
  /** What tmux knows of the terminal, in its own format. */
  ask(format: string): Promise<string>;
  /** Closes the terminal under the program. */
  kill(): Promise<void>;
}

let screens = 0;

/** Runs `berth …` in a terminal of its own. */
export async function openScreen(place: Place, args: string[], env: Record<string, string> = {}): Promise<Screen> {
  return openTerminal(place, `${quote(process.execPath, program, ...args)}; exec sleep 1000`, env);
}

/** Words as a shell reads them. */
export function quote(...words: string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

/** Runs a command of a shell in a terminal of its own. */
export async function openTerminal(place: Place, command: string, env: Record<string, string> = {}): Promise<Screen> {
  const own = { ...place.env, ...env, TMUX: '', TMUX_TMPDIR: place.root };
  // A server of its own: servers keep the environment they were started in.
  const server = `berth-${++screens}`;
  const run = promisify(execFile);
  const tmux = async (...words: string[]): Promise<string> =>
    (await run('tmux', ['-u', '-L', server, '-f', '/dev/null', ...words], { env: own, cwd: place.workdir })).stdout;
  // Said again here, as a pane has a TERM of its own.
  const changes = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const whole = `exec ${quote('env', ...changes, 'sh', '-c', command)}`;
  const pane = (await tmux('new-session', '-d', '-P', '-F', '#{pane_id}', '-x', '100', '-y', '40', whole)).trim();
  const screen: Screen = {
    async type(...keys) {
      await tmux('send-keys', '-t', pane, '--', ...keys);
    },
    async paste(text) {
      const file = join(place.root, 'pasted');
      writeFileSync(file, text);
      await tmux('load-buffer', file);
      await tmux('paste-buffer', '-p', '-t', pane);
    },
    async pour(text) {
      await tmux('set-buffer', text);
      await tmux('paste-buffer', '-r', '-t', pane);
    },
    text: () => tmux('capture-pane', '-p', '-J', '-S', '-', '-t', pane),
    until: (fits) => poll(screen.text, fits),
    coloured: () => tmux('capture-pane', '-p', '-e', '-t', pane),
    async record() {
      const file = join(place.root, 'recorded');
      writeFileSync(file, '');
      await tmux('pipe-pane', '-t', pane, `cat >> '${file}'`);
      return () => readFileSync(file, 'utf8');
    },
    ask: async (format) => (await tmux('display-message', '-p', '-t', pane, format)).trim(),
    async kill() {
      await tmux('kill-pane', '-t', pane);
    },
    async [Symbol.asyncDispose]() {
      await tmux('kill-server').catch(() => undefined);
    },
  };
  return screen;
}
