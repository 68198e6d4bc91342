import { closeSync, fstatSync, openSync, readFileSync, readSync, constants } from 'node:fs';
import { platform, release } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { limits } from '../protocol/limits.js';
import { makeVisibleLine } from '../protocol/sanitize.js';
import { instructions } from './instructions.js';
import type { SystemPrompt } from './port.js';

const gitFileBytesMax = 4_096;
const branchCharsMax = 100;
const parentsMax = 64;

interface Deps {
  /** A file that takes the place of our own words. */
  path(): string | undefined;
  now(): number;
}

/** Words of ours or of a file, and facts about the place: the same all day, so that providers can keep the prompt. */
export function createSystemPrompt({ path, now }: Deps): SystemPrompt {
  return ({ cwd, tools }) => {
    const file = path();
    const said = file === undefined ? { text: instructions } : readPrompt(file);
    if ('problem' in said) return said;
    const branch = readBranch(cwd);
    const facts = [
      `Working directory: ${makeVisibleLine(cwd)}`,
      ...(branch === undefined ? [] : [`Git branch: ${branch}`]),
      `Operating system: ${platform()} ${release()}`,
      `Date: ${new Date(now()).toISOString().slice(0, 10)}`,
      tools.length === 0 ? 'Tools: none' : `Tools:\n${tools.map(({ name, description }) => `- ${name}: ${description}`).join('\n')}`,
    ];
    return { text: `${said.text}\n\n${facts.join('\n')}` };
  };
}

/** Why a file cannot be the system prompt; undefined when it can. */
export function findPromptProblem(file: string): string | undefined {
  const read = readPrompt(file);
  return 'problem' in read ? read.problem : undefined;
}

function readPrompt(file: string): { text: string } | { problem: string } {
  try {
    const text = readBounded(file, limits.systemPromptBytesMax).trim();
    return text === '' ? { problem: `system_prompt_path: ${file} is empty` } : { text };
  } catch (error) {
    return { problem: `system_prompt_path: ${(error as Error).message}` };
  }
}

/** Reads a regular file that is not too long; never waits for a pipe or a device. */
function readBounded(file: string, bytesMax: number): string {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error(`${file} is not a file`);
    if (stat.size > bytesMax) throw new Error(`${file} is longer than ${bytesMax} bytes`);
    return readFileSync(fd, 'utf8')
      .replace(/^\uFEFF/, '')
      .toWellFormed();
  } finally {
    closeSync(fd);
  }
}

/** The branch that is checked out, read from git's own files: running git in a repository may run what the repository names. */
function readBranch(cwd: string): string | undefined {
  const gitDir = findGitDir(cwd);
  const head = gitDir === undefined ? undefined : readHead(join(gitDir, 'HEAD'));
  if (head === undefined) return undefined;
  const branch = /^ref: refs\/heads\/(\S+)/.exec(head)?.[1];
  if (branch !== undefined) return makeVisibleLine(branch).slice(0, branchCharsMax);
  return /^[0-9a-f]{40,64}/.test(head) ? `none, at commit ${head.slice(0, 12)}` : undefined;
}

function findGitDir(cwd: string): string | undefined {
  let dir = cwd;
  for (let i = 0; i < parentsMax; i++) {
    const git = join(dir, '.git');
    if (readHead(join(git, 'HEAD')) !== undefined) return git;
    // A worktree or a submodule says where its own is.
    const elsewhere = /^gitdir: (.+)/.exec(readHead(git) ?? '')?.[1]?.trim();
    if (elsewhere !== undefined) return isAbsolute(elsewhere) ? elsewhere : resolve(dir, elsewhere);
    const parent = dirname(dir);
    if (parent === dir) return undefined;
    dir = parent;
  }
  return undefined;
}

/** The beginning of a small file; undefined when there is none. */
function readHead(file: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) return undefined;
    const buffer = Buffer.alloc(gitFileBytesMax);
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, gitFileBytesMax, 0));
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
