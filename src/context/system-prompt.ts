import { existsSync } from 'node:fs';
import { platform, release } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { readSmallFile, readSmallText, toText } from '../machine/bounded-read.js';
import { limits } from '../protocol/limits.js';
import { makeVisibleLine } from '../protocol/sanitize.js';
import { instructions } from './instructions.js';
import type { SystemPrompt } from './port.js';

interface Deps {
  /** A file that replaces the default system prompt. */
  path(): string | undefined;
  now(): number;
}

/** The default system prompt or that of a file, and facts about the environment: the same all day, for the prompt cache of providers. */
export function createSystemPrompt({ path, now }: Deps): SystemPrompt {
  return ({ cwd, tools }) => {
    const file = path();
    const prompt = file === undefined ? { text: instructions } : readPrompt(file);
    if ('problem' in prompt) return prompt;
    const branch = readBranch(cwd);
    const facts = [
      `Working directory: ${makeVisibleLine(cwd)}`,
      ...(branch === undefined ? [] : [`Git branch: ${branch}`]),
      `Operating system: ${platform()} ${release()}`,
      `Date: ${new Date(now()).toISOString().slice(0, 10)}`,
      tools.length === 0 ? 'Tools: none' : `Tools:\n${tools.map(({ name, description }) => `- ${name}: ${description}`).join('\n')}`,
    ];
    return { text: `${prompt.text}\n\n${facts.join('\n')}` };
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

/** The current git branch, read from .git/HEAD: running git could execute programs that the repository's config names. */
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
    // Most directories on the way up have none, and a failed open costs a system error each.
    const found = existsSync(git) ? toGitDir(git) : undefined;
    if (found !== undefined) return found;
    const parent = dirname(dir);
    if (parent === dir) return undefined;
    dir = parent;
  }
  return undefined;
}

/** The .git of a worktree or a submodule is a file that names the git directory. */
function toGitDir(git: string): string | undefined {
  if (readGitFile(join(git, 'HEAD')) !== undefined) return git;
  const elsewhere = /^gitdir: (.+)/.exec(readGitFile(git) ?? '')?.[1]?.trim();
  return elsewhere === undefined || isAbsolute(elsewhere) ? elsewhere : resolve(dirname(git), elsewhere);
}

function readGitFile(path: string): string | undefined {
  return readSmallText(path, { bytesMax: limits.gitFileBytesMax, followLinks: true });
}
