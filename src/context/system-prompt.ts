import { platform, release } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { readSmallFile, readSmallText, toText } from '../machine/bounded-read.js';
import { limits } from '../protocol/limits.js';
import { makeVisibleLine } from '../protocol/sanitize.js';
import { instructions } from './instructions.js';
import type { SystemPrompt } from './port.js';

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

function readPrompt(path: string): { text: string } | { problem: string } {
  const file = readSmallFile(path, { bytesMax: limits.systemPromptBytesMax, followLinks: true });
  if (!('bytes' in file)) return { problem: `system_prompt_path: ${file.message}` };
  const text = toText(file.bytes).trim();
  return text === '' ? { problem: `system_prompt_path: ${path} is empty` } : { text };
}

/** The branch that is checked out, read from git's own files: running git in a repository may run what the repository names. */
function readBranch(cwd: string): string | undefined {
  const gitDir = findGitDir(cwd);
  const head = gitDir === undefined ? undefined : readGitFile(join(gitDir, 'HEAD'));
  if (head === undefined) return undefined;
  const branch = /^ref: refs\/heads\/(\S+)/.exec(head)?.[1];
  if (branch !== undefined) return makeVisibleLine(branch).slice(0, limits.branchCharsMax);
  return /^[0-9a-f]{40,64}/.test(head) ? `none, at commit ${head.slice(0, 12)}` : undefined;
}

function findGitDir(cwd: string): string | undefined {
  let dir = cwd;
  for (let i = 0; i < limits.gitParentsMax; i++) {
    const git = join(dir, '.git');
    if (readGitFile(join(git, 'HEAD')) !== undefined) return git;
    // A worktree or a submodule says where its own is.
    const elsewhere = /^gitdir: (.+)/.exec(readGitFile(git) ?? '')?.[1]?.trim();
    if (elsewhere !== undefined) return isAbsolute(elsewhere) ? elsewhere : resolve(dir, elsewhere);
    const parent = dirname(dir);
    if (parent === dir) return undefined;
    dir = parent;
  }
  return undefined;
}

function readGitFile(path: string): string | undefined {
  return readSmallText(path, { bytesMax: limits.gitFileBytesMax, followLinks: true });
}
