import { posix } from 'node:path';
import { Worker } from 'node:worker_threads';
import { limits } from '../../protocol/limits.js';
import { compileGlob } from './glob-patterns.js';
import { openFile, readWhole, type Refuses } from '../files/pinned-files.js';
import { encodingOf } from '../files/text-files.js';
import type { Finding, Search } from './text-search.js';
import { createWalk } from './walk.js';

const tuning = { sampleBytes: 8 * 1024 } as const;

/** Runs the regular expression in a worker thread, which can be terminated on catastrophic backtracking. Plain JavaScript, evaluated from this text. */
const matcher = `
  const { parentPort, workerData } = require('node:worker_threads');
  const pattern = new RegExp(workerData.source, workerData.flags);
  parentPort.on('message', (text) => {
    const hits = [];
    const lines = text.split('\\n');
    for (let i = 0; i < lines.length && hits.length < workerData.hitsMax; i++) {
      if (pattern.test(lines[i].slice(0, workerData.charsMax))) hits.push(i);
    }
    parentPort.postMessage(hits);
  });`;

/** The fallback without ripgrep: slower, and with JavaScript regular expressions. */
export async function* searchWithoutRipgrep(search: Search, refuses: Refuses): AsyncGenerator<Finding> {
  const pattern = compileRegExp(search);
  if (typeof pattern === 'string') {
    yield { kind: 'problem', text: pattern };
    return;
  }
  const glob = search.glob === undefined ? undefined : compileGlob(fileGlob(search.glob));
  if (typeof glob === 'string') {
    yield { kind: 'problem', text: `the glob ${glob}` };
    return;
  }
  const { scope, signal } = search;
  const workerData = { ...pattern, hitsMax: limits.grepMatchesMax, charsMax: limits.grepComparedCharsMax };
  const worker = new Worker(matcher, { eval: true, workerData, env: {} });
  try {
    if ('file' in scope) {
      const bytes = await readWhole(scope.file, limits.textFileBytesMax);
      if (bytes) yield* findMatches('', bytes, search, worker);
      else yield { kind: 'problem', text: 'the file is too large to be searched without ripgrep' };
      return;
    }
    const { root, workspace } = scope;
    const walk = createWalk({ root, workspace, refuses, signal });
    for await (const { paths } of walk.files()) {
      for (const path of paths) {
        if (signal.aborted) return;
        if (glob && glob.matches(path) === search.glob?.startsWith('!')) continue;
        const bytes = await readText(posix.join(root, path), refuses);
        if (bytes) yield* findMatches(path, bytes, search, worker);
      }
    }
    if (walk.stopped !== undefined) yield { kind: 'unfinished' };
  } finally {
    await worker.terminate();
  }
}

function compileRegExp({ pattern, literal, ignoreCase }: Search): { source: string; flags: string } | string {
  const inline = pattern.startsWith('(?i)');
  const source = literal ? pattern.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&') : pattern.slice(inline ? 4 : 0);
  const flags = `u${ignoreCase || (inline && !literal) ? 'i' : ''}`;
  try {
    new RegExp(source, flags);
    return { source, flags };
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
}

/** As in ripgrep, a glob without a slash matches file names at any depth. */
function fileGlob(glob: string): string {
  const pattern = glob.replace(/^!/, '');
  return pattern.includes('/') ? pattern : `**/${pattern}`;
}

/** Undefined for symlinks, binary files, files that are too large, and files that may not be read. */
async function readText(path: string, refuses: Refuses): Promise<Buffer | undefined> {
  const file = await openFile(path, refuses);
  if (typeof file === 'string') return undefined;
  try {
    if (file.realPath !== path || file.stat.size > limits.textFileBytesMax) return undefined;
    const bytes = await readWhole(file.handle, limits.textFileBytesMax);
    return bytes && encodingOf(bytes.subarray(0, tuning.sampleBytes)) === 'utf-8' ? bytes : undefined;
  } finally {
    await file.handle.close();
  }
}

async function* findMatches(path: string, bytes: Buffer, { mode, contextLines, signal }: Search, worker: Worker): AsyncGenerator<Finding> {
  const text = bytes.toString('utf8');
  const hits = await matchInWorker(worker, text, signal);
  if (hits.length === 0) return;
  if (mode !== 'content') {
    yield mode === 'files' ? { kind: 'file', path } : { kind: 'count', path, count: hits.length };
    return;
  }
  const lines = text.split('\n');
  const isHit = new Set(hits);
  let shown = -1;
  for (const hit of hits) {
    const from = Math.max(shown + 1, hit - contextLines);
    if (contextLines > 0 && shown !== -1 && from > shown + 1) yield { kind: 'gap', path };
    for (let i = from; i <= Math.min(hit + contextLines, lines.length - 1); i++) {
      if (i === lines.length - 1 && lines[i] === '') break;
      yield { kind: isHit.has(i) ? 'match' : 'context', path, line: i + 1, text: truncateLine(lines[i] ?? '') };
      shown = i;
    }
  }
}

function truncateLine(line: string): string {
  const text = line.replace(/\r$/, '');
  return text.length <= limits.grepLineBytesMax ? text : `${text.slice(0, limits.grepLineBytesMax)} [... omitted end of long line]`;
}

/** Resolves with no hits when the search is aborted before the worker answers. */
function matchInWorker(worker: Worker, text: string, signal: AbortSignal): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const settle = (hits: number[]): void => {
      signal.removeEventListener('abort', stop);
      worker.off('message', settle).off('error', reject);
      resolve(hits);
    };
    const stop = (): void => settle([]);
    if (signal.aborted) return resolve([]);
    signal.addEventListener('abort', stop);
    worker.on('message', settle).once('error', reject);
    worker.postMessage(text);
  });
}
