import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallText } from '../machine/bounded-read.js';
import { limits } from '../protocol/limits.js';
import { isBelow } from './real-paths.js';
import { holdsTokens, secretPaths, systemSecrets, tokenSettings } from './secret-paths.js';

export interface Guarded {
  home: string;
  /** Directories of berth itself: config, state and sockets. */
  own: readonly string[];
  /** Where berth is installed, as a real path. */
  program?: string | undefined;
}

/** Case folding and Unicode normalization (NFKC), without trailing dots and spaces: names that some file system treats as equal. */
function fold(part: string): string {
  // Fast path for ASCII names.
  if (/^[\x21-\x7e]*[\x21-\x2d\x2f-\x7e]$/.test(part)) return part.toLowerCase();
  return (
    part
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[. ]+$/, '') || part
  );
}

/** Instruction files that agents follow. Commands may write them, as a git checkout does. */
const instructionFiles = ['agents.md', 'claude.md', 'gemini.md', '.cursorrules'];

/** Autorun files, in any directory: git, a shell, an editor or an agent executes or obeys them later without asking. */
const autorunFiles = [
  '.git/config',
  '.git/config.worktree',
  '.git/commondir',
  '.git/gitdir',
  '.exrc',
  '.nvimrc',
  '.nvim.lua',
  '.vimrc',
  '.gdbinit',
  '.lldbinit',
  '.mise.toml',
  'mise.toml',
  '.envrc',
  '.direnvrc',
  '.mcp.json',
  '.gitconfig',
  '.pre-commit-config.yaml',
  '.lefthook.yml',
  'lefthook.yml',
  '.cargo/config',
  '.cargo/config.toml',
  '.yarnrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  ...instructionFiles,
].map(toParts);
const autorunFolders = [
  '.git/hooks',
  '.git/info',
  '.git/modules',
  '.git/worktrees',
  '.berth',
  '.vscode',
  '.idea',
  '.zed',
  '.fleet',
  '.cursor',
  '.claude',
  '.codex',
  '.gemini',
  '.opencode',
  '.husky',
  '.githooks',
  '.devcontainer',
  '.direnv',
].map(toParts);

/** Autorun paths that git writes in ordinary use, so that commands may write them. */
const gitOwn = ['.git/config', '.git/config.worktree', '.git/info', '.git/modules', '.git/worktrees'].map(toParts);

const homeFiles =
  `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc
  .inputrc .pam_environment .xinitrc .xprofile .xsession .xsessionrc .vimrc .gvimrc .exrc .nanorc .emacs .tmux.conf .screenrc .gdbinit .lldbinit .npmrc
  .yarnrc .pypirc .curlrc .wgetrc .netrc .gitconfig .irbrc .pryrc .pythonrc .forward .config/git .config/mimeapps.list`
    .split(/\s+/)
    .map(toParts);
const homeFolders =
  `.ssh .gnupg .vim .emacs.d .oh-my-zsh .config/fish .config/systemd .config/autostart .config/environment.d .config/nvim .config/tmux
  .config/git .config/zsh .config/bash .config/pip .config/direnv .config/vscode .config/code .config/xfce4 .config/hypr .config/sway .config/i3
  .local/bin .local/share/systemd .local/share/applications .local/share/dbus-1 .local/lib bin .cargo/bin .cargo/config.toml .docker .kube .aws
  .config/berth .local/state/berth`
    .split(/\s+/)
    .map(toParts);

function toParts(path: string): string[] {
  return path.trim().split('/').map(fold);
}

function namesOf(path: string): string[] {
  return path.split('/').filter(Boolean).map(fold);
}

/** Whether `parts` contains the names of `pattern` in sequence at index `from`. */
function matchesAt(parts: readonly string[], pattern: readonly string[], from: number): boolean {
  return pattern.every((name, i) => parts[from + i] === name);
}

/** Why a file at this real path is an autorun file; undefined when it is none. */
export function whyAutorun(realPath: string, { home, own, program }: Guarded): string | undefined {
  if (own.some((dir) => isBelow(realPath, dir))) return 'it belongs to berth';
  if (program !== undefined && isBelow(realPath, program)) return 'berth itself runs what is written there';
  const parts = namesOf(realPath);
  for (let from = 0; from < parts.length; from++) {
    const isFile = autorunFiles.some((pattern) => from + pattern.length === parts.length && matchesAt(parts, pattern, from));
    if (isFile || autorunFolders.some((pattern) => matchesAt(parts, pattern, from))) return 'programs run or follow what is written there';
  }
  if (isBareRepository(parts)) return 'git runs what is written there';
  if (!isBelow(realPath, home)) return undefined;
  const below = namesOf(realPath.slice(home.length));
  const isFile = homeFiles.some((pattern) => pattern.length === below.length && matchesAt(below, pattern, 0));
  if (isFile || homeFolders.some((pattern) => matchesAt(below, pattern, 0)))
    return 'your shell, session or tools run what is written there';
  return undefined;
}

/** Last names of all autorun paths, a quick filter for the many directory entries that have none of them. */
const autorunNames = new Set([...autorunFiles, ...autorunFolders, ...homeFiles, ...homeFolders].map((pattern) => pattern.at(-1)));

/** Classifies a directory entry as an autorun file for sandboxed commands; undefined for an ordinary one. Does not check the parent directories. */
export function autorunKind(folder: string, name: string, guarded: Guarded): 'protected' | 'instructions' | undefined {
  const last = fold(name);
  if (!autorunNames.has(last) && !guarded.own.some((path) => path === `${folder}/${name}`)) return undefined;
  const path = join(folder, name);
  if (instructionFiles.includes(last)) return 'instructions';
  const parts = namesOf(path);
  const isGitOwn = parts.some((_, from) => gitOwn.some((pattern) => matchesAt(parts, pattern, from)));
  const isBareConfig = last === 'config' && parts.at(-2)?.endsWith('.git') === true;
  return isGitOwn || isBareConfig || whyAutorun(path, guarded) === undefined ? undefined : 'protected';
}

/** `x.git/hooks/…` and `x.git/config`. */
function isBareRepository(parts: readonly string[]): boolean {
  return parts.some(
    (part, i) =>
      part.endsWith('.git') && part !== '.git' && (parts[i + 1] === 'hooks' || (parts[i + 1] === 'config' && i + 2 === parts.length)),
  );
}

/** Paths of secrets: masked for sandboxed commands, and read by tools only after an approval. */
export function listSecretPaths({ home, own }: Guarded): string[] {
  const settings = tokenSettings.map((path) => join(home, path)).filter(holdsToken);
  return [...secretPaths.map((path) => join(home, path)), ...settings, ...systemSecrets, ...own];
}

/** Files of /proc about the machine alone. The rest of /proc shows environment and memory of processes. */
const publicProcFiles = [
  '/proc/cpuinfo',
  '/proc/meminfo',
  '/proc/version',
  '/proc/loadavg',
  '/proc/uptime',
  '/proc/filesystems',
  '/proc/stat',
];

function holdsToken(path: string): boolean {
  const text = readSmallText(path, { bytesMax: limits.workspaceConfigBytesMax, followLinks: true });
  return text !== undefined && holdsTokens.test(text);
}

const secretNames = secretPaths.map(toParts);

export function isSecret(realPath: string, guarded: Guarded): boolean {
  if (isBelow(realPath, '/proc') && !publicProcFiles.includes(realPath)) return true;
  const parts = namesOf(realPath);
  const home = namesOf(guarded.home);
  const below = matchesAt(parts, home, 0) ? parts.slice(home.length) : [];
  if (below.length > 0 && secretNames.some((names) => matchesAt(below, names, 0))) return true;
  const candidates = [...systemSecrets, ...guarded.own, ...tokenSettings.map((path) => join(guarded.home, path))];
  const found = candidates.find((place) => isBelow(realPath, place) || matchesAt(parts, namesOf(place), 0));
  return found !== undefined && listSecretPaths(guarded).includes(found);
}

/** Existing autorun files at the top of a writable root, which are read-only for sandboxed commands. */
export function listAutorunPaths(root: string, guarded: Guarded): string[] {
  const found: string[] = [];
  for (const dir of [root, join(root, '.git')]) {
    for (const name of namesIn(dir)) if (autorunKind(dir, name, guarded) === 'protected') found.push(join(dir, name));
  }
  const below = isBelow(guarded.home, root) ? [...homeFiles, ...homeFolders].map((parts) => join(guarded.home, ...parts)) : [];
  return [...new Set([...found, ...below.filter((path) => existsSync(path))])];
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}
