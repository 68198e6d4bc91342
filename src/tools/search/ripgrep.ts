import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, type FileHandle } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { limits } from '../../protocol/limits.js';
import { faultOf, isFault } from '../files/file-paths.js';
import { watchForFifos } from './ignore-fifos.js';
import { ignoreFilesAbove } from './ignore-files.js';
import { firstFile, toSearchSandbox } from './search-sandbox.js';
import type { Refuses } from '../files/pinned-files.js';
import type { Finding, Search, SearchedDirectory } from './text-search.js';

/** System directories only: never a workspace, never PATH. */
const trustedPaths = ['/usr/bin/rg', '/usr/local/bin/rg', '/bin/rg'];
const lineEnd = 0x0a;
const pathEnd = 0;
/** The prefix of bubblewrap's error messages. */
const bubblewrapPrefix = 'bwrap: ';

type Ripgrep = ChildProcessByStdio<null, Readable, Readable>;

export interface ConfinedRipgrep {
  program: string;
  bubblewrap: string;
  /** Real paths that may not be read. */
  hidden: readonly string[];
}

/** The path of a ripgrep that can be trusted; undefined when there is none. */
export async function findRipgrep(): Promise<string | undefined> {
  for (const path of trustedPaths) if (await isProgram(path)) return path;
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    return (await isProgram(rgPath)) ? rgPath : undefined;
  } catch (error) {
    // @vscode/ripgrep is an optional dependency, and throws on platforms without a binary.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch (error) {
    faultOf(error);
    return false;
  }
}

/** Searches one open file with ripgrep, which gets the descriptor as stdin and no path. */
export function searchFileWithRipgrep(program: string, search: Search, file: FileHandle): AsyncGenerator<Finding> {
  const child = spawn(program, argumentsOf(search, '-'), {
    cwd: '/',
    env: {},
    detached: true,
    stdio: [file.fd, 'pipe', 'pipe'],
  }) as Ripgrep;
  return findingsOfProcess(child, search);
}

/** Searches a directory with ripgrep in a bubblewrap sandbox that shows nothing else; falls back to `fallback` when bubblewrap fails. */
export async function* searchBelowWithRipgrep(
  { program, bubblewrap, hidden }: ConfinedRipgrep,
  search: Search,
  { root, stat, workspace }: SearchedDirectory,
  refuses: Refuses,
  fallback: () => AsyncGenerator<Finding>,
): AsyncGenerator<Finding> {
  const ignoreFiles = await ignoreFilesAbove(root, workspace);
  const { args, files, covered } = toSearchSandbox(program, { path: root, stat, hidden, ignoreFiles });
  const child = spawn(bubblewrap, [...args, ...argumentsOf(search, '.', root === '/')], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...files.map(() => 'pipe' as const)],
  }) as Ripgrep;
  for (const [i, text] of files.entries()) {
    const pipe = child.stdio[firstFile + i] as Writable;
    // EPIPE of a process that ended early: its exit code says why.
    pipe.on('error', (error) => void faultOf(error));
    pipe.end(text);
  }
  const fifos = watchForFifos({ root, workspace, refuses }, () => killGroup(child));
  try {
    for await (const finding of findingsOfProcess(child, search)) {
      fifos.postpone();
      if (finding.kind === 'problem' && finding.text.startsWith(bubblewrapPrefix)) {
        yield* fallback();
        return;
      }
      yield finding;
    }
  } finally {
    fifos.stop();
  }
  const fifo = fifos.found();
  if (fifo !== undefined) yield { kind: 'problem', text: `${fifo} is a FIFO, not a file; remove it, or search below another directory` };
  if (covered > 0) yield { kind: 'covered', count: covered };
}

/**
 * Kills the process group of a detached child: a bubblewrap that is killed during setup leaves a child process, which would hold the pipes
 * open for ever.
 */
function killGroup({ pid, exitCode, signalCode }: Ripgrep): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!isFault(error, 'ESRCH')) throw error;
  }
}

/** Parses the findings of a ripgrep process, which is killed when the consumer stops iterating. */
async function* findingsOfProcess(child: Ripgrep, { signal, mode }: Search): AsyncGenerator<Finding> {
  const ended = once(child, 'close').then(
    ([code]) => code as number | null,
    (error: unknown) => error as Error,
  );
  const kill = (): void => killGroup(child);
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const stderr = readErrorText(child.stderr);
  let isDone = false;
  try {
    yield* findingsOf(child.stdout, mode);
    isDone = true;
    const code = await ended;
    if (code instanceof Error) yield { kind: 'problem', text: `rg did not start: ${code.message}` };
    const errorText = (await stderr).trim();
    // ripgrep exits with 1 when nothing was found, and so does bubblewrap when the sandbox setup fails.
    if (errorText !== '' && (code === 2 || errorText.startsWith(bubblewrapPrefix))) yield { kind: 'problem', text: errorText };
  } finally {
    signal.removeEventListener('abort', kill);
    if (!isDone) kill();
    await ended;
  }
}

function argumentsOf(
  { pattern, literal, ignoreCase, mode, contextLines, glob }: Search,
  where: '-' | '.',
  isWholeMachine = false,
): string[] {
  const output =
    mode === 'files' ? ['--files-with-matches'] : mode === 'count' ? ['--count'] : ['--line-number', '--context', `${contextLines}`];
  return [
    ...['--no-config', '--no-messages', '--color=never', '--no-heading', '--with-filename', '--null', '--threads=2'],
    ...['--hidden', '--no-require-git', '--no-ignore-dot', '--no-ignore-global'],
    ...[`--max-columns=${limits.grepLineBytesMax}`, '--max-columns-preview', `--max-filesize=${limits.grepFileBytesMax}`],
    ...(isWholeMachine ? ['--one-file-system'] : []),
    ...(literal ? ['--fixed-strings'] : []),
    ...(ignoreCase ? ['--ignore-case'] : ['--case-sensitive']),
    ...(glob === undefined ? [] : [`--glob=${glob}`]),
    '--glob=!.git',
    ...output,
    ...['-e', pattern, '--', where],
  ];
}

/** Splits the output of `rg --null` into fields: a path ends with NUL, a finding with a line ending. An overlong field comes empty. */
async function* fieldsOf(stream: Readable, ends: readonly number[]): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let field = 0;
  const take = (): string => {
    const text = bytes > limits.grepFieldBytesMax ? '' : Buffer.concat(pieces).toString('utf8');
    [pieces, bytes] = [[], 0];
    return text;
  };
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    for (let start = 0; start < chunk.length;) {
      const end = chunk.indexOf(ends[field % ends.length] ?? 0, start);
      const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
      bytes += piece.length;
      if (bytes <= limits.grepFieldBytesMax) pieces.push(piece);
      if (end === -1) break;
      yield take();
      field++;
      start = end + 1;
    }
  }
  if (bytes > 0) yield take();
}

async function* findingsOf(stream: Readable, mode: Search['mode']): AsyncGenerator<Finding> {
  let path: string | undefined;
  for await (const field of fieldsOf(stream, mode === 'files' ? [pathEnd] : [pathEnd, lineEnd])) {
    if (mode === 'files') yield { kind: 'file', path: toPath(field) };
    else if (path === undefined) {
      const { notes, rest } = splitNotes(field);
      yield* notes;
      path = rest;
    } else {
      if (path !== '') yield toFinding(toPath(path), field, mode);
      path = undefined;
    }
  }
}

/** Splits off the lines before a path: `--` separators and notes about binary files. */
function splitNotes(field: string): { notes: Finding[]; rest: string } {
  const notes: Finding[] = [];
  let rest = field;
  while (true) {
    const [line = ''] = rest.split('\n', 1);
    const binary = /^(?:Binary file )?(.*?)(?:: binary file)? matches \(found/.exec(line);
    if (line !== '--' && !binary) return { notes, rest };
    notes.push(binary ? { kind: 'binary', path: toPath(binary[1] ?? '') } : { kind: 'gap', path: '' });
    rest = rest.slice(line.length + 1);
  }
}

function toFinding(path: string, field: string, mode: Search['mode']): Finding {
  if (mode === 'count') return { kind: 'count', path, count: Number(field) };
  const [, line = '0', mark, text = ''] = /^(\d+)([:-])([^]*)$/.exec(field) ?? [];
  return { kind: mark === '-' ? 'context' : 'match', path, line: Number(line), text: text.replace(/\r$/, '') };
}

function toPath(path: string): string {
  return path === '<stdin>' ? '' : path.replace(/^\.\//, '');
}

async function readErrorText(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream as AsyncIterable<Buffer>) if (text.length < limits.grepProblemCharsMax) text += chunk.toString('utf8');
  return text.slice(0, limits.grepProblemCharsMax);
}
