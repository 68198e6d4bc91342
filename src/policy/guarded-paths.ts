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
  /** Where its program is installed, as a real path. */
  program?: string | undefined;
}

/** Names that mean the same to some file system are the same here: case, composed characters, and trailing dots and spaces. */
function fold(part: string): string {
  // Nearly all of them.
  if (/^[\x21-\x7e]*[\x21-\x2d\x2f-\x7e]$/.test(part)) return part.toLowerCase();
  return (
    part
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[. ]+$/, '') || part
  );
}

/** What agents follow. Commands may write them: branches differ in them like in any other text. */
const instructionFiles = ['agents.md', 'claude.md', 'gemini.md', '.cursorrules'];

/** Wherever they stand: what is written there is run later by git, a shell, an editor or an agent, without anyone being asked. */
const lateFiles = [
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
  '.yarnrc.yml',
  ...instructionFiles,
].map(toParts);
const lateFolders = [
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

/** Git itself writes these in its ordinary work, so commands may. */
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

/** Whether the names of `pattern` stand in `parts`, one after the other, at `from`. */
function standsAt(parts: readonly string[], pattern: readonly string[], from: number): boolean {
  return pattern.every((name, i) => parts[from + i] === name);
}

/** Why what is written to this real path would be run later; undefined when it would not. */
export function runsLater(realPath: string, { home, own, program }: Guarded): string | undefined {
  if (own.some((dir) => isBelow(realPath, dir))) return 'it belongs to berth';
  if (program !== undefined && isBelow(realPath, program)) return 'berth itself runs what is written there';
  const parts = namesOf(realPath);
  for (let from = 0; from < parts.length; from++) {
    const isFile = lateFiles.some((pattern) => from + pattern.length === parts.length && standsAt(parts, pattern, from));
    if (isFile || lateFolders.some((pattern) => standsAt(parts, pattern, from))) return 'programs run or follow what is written there';
  }
  if (isBareRepository(parts)) return 'git runs what is written there';
  if (!isBelow(realPath, home)) return undefined;
  const below = namesOf(realPath.slice(home.length));
  const isFile = homeFiles.some((pattern) => pattern.length === below.length && standsAt(below, pattern, 0));
  if (isFile || homeFolders.some((pattern) => standsAt(below, pattern, 0))) return 'your shell, session or tools run what is written there';
  return undefined;
}

/** All last names of the above: most entries of a directory have none of them, and there are many entries. */
const autorunNames = new Set([...lateFiles, ...lateFolders, ...homeFiles, ...homeFolders].map((pattern) => pattern.at(-1)));

/** How an entry of a directory is treated for commands in the sandbox; undefined for an ordinary one. Not for what is below another. */
export function autorunKind(folder: string, name: string, guarded: Guarded): 'protected' | 'instructions' | undefined {
  const last = fold(name);
  if (!autorunNames.has(last) && !guarded.own.some((path) => path === `${folder}/${name}`)) return undefined;
  const path = join(folder, name);
  if (instructionFiles.includes(last)) return 'instructions';
  const parts = namesOf(path);
  const isGitOwn = parts.some((_, from) => gitOwn.some((pattern) => standsAt(parts, pattern, from)));
  const isBareConfig = last === 'config' && parts.at(-2)?.endsWith('.git') === true;
  return isGitOwn || isBareConfig || runsLater(path, guarded) === undefined ? undefined : 'protected';
}

/** `x.git/hooks/…` and `x.git/config`. */
function isBareRepository(parts: readonly string[]): boolean {
  return parts.some(
    (part, i) =>
      part.endsWith('.git') && part !== '.git' && (parts[i + 1] === 'hooks' || (parts[i + 1] === 'config' && i + 2 === parts.length)),
  );
}

/** Paths that commands do not see and nobody reads unasked. */
export function secretPlaces({ home, own }: Guarded): string[] {
  const settings = tokenSettings.map((path) => join(home, path)).filter(holdsToken);
  return [...secretPaths.map((path) => join(home, path)), ...settings, ...systemSecrets, ...own];
}

/** What the kernel tells of processes, their environment and memory among it; a few files of it are about the machine alone. */
const plainProc = ['/proc/cpuinfo', '/proc/meminfo', '/proc/version', '/proc/loadavg', '/proc/uptime', '/proc/filesystems', '/proc/stat'];

function holdsToken(path: string): boolean {
  const text = readSmallText(path, { bytesMax: limits.workspaceConfigBytesMax, followLinks: true });
  return text !== undefined && holdsTokens.test(text);
}

const secretNames = secretPaths.map(toParts);

export function isSecret(realPath: string, guarded: Guarded): boolean {
  if (isBelow(realPath, '/proc') && !plainProc.includes(realPath)) return true;
  const parts = namesOf(realPath);
  const home = namesOf(guarded.home);
  const below = standsAt(parts, home, 0) ? parts.slice(home.length) : [];
  if (below.length > 0 && secretNames.some((names) => standsAt(below, names, 0))) return true;
  const others = [...systemSecrets, ...guarded.own, ...tokenSettings.map((path) => join(guarded.home, path))];
  const found = others.find((place) => isBelow(realPath, place) || standsAt(parts, namesOf(place), 0));
  return found !== undefined && secretPlaces(guarded).includes(found);
}

/** What is there at the top of a writable root and must not be written by a command that nobody looked at. */
export function lateCodeIn(root: string, guarded: Guarded): string[] {
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
