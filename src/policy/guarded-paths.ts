import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../protocol/limits.js';
import { isBelow } from './real-paths.js';

export interface Guarded {
  home: string;
  /** Directories of berth itself: config, state and sockets. */
  own: readonly string[];
}

/** Names that mean the same to some file system are the same here: case, composed characters, and trailing dots and spaces. */
function fold(part: string): string {
  return (
    part
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[. ]+$/, '') || part
  );
}

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
  'agents.md',
  'claude.md',
  'gemini.md',
  '.cursorrules',
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

/** Below the home directory: what nobody but the person should read. */
const secretPaths =
  `.ssh .gnupg .aws .azure .kube .docker .netrc .git-credentials .pypirc .password-store .authinfo .authinfo.gpg .vault-token
  .config/gcloud .config/gh .config/hub .config/op .config/1Password .config/Bitwarden .config/keepassxc .config/github-copilot .config/rclone
  .config/containers/auth.json .cargo/credentials .cargo/credentials.toml .local/share/keyrings .local/share/kwalletd .mozilla .thunderbird
  .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge .config/vivaldi .config/opera .config/Signal .config/Slack
  .config/discord snap/firefox snap/chromium .var/app .bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history
  .codex/auth.json .claude/.credentials.json .claude.json .local/share/opencode/auth.json .config/goose .config/crush .pi/agent/auth.json
  .terraform.d/credentials.tfrc.json .gem/credentials .m2/settings.xml .gradle/gradle.properties .pgpass .my.cnf .config/filezilla .config/sops`.split(
    /\s+/,
  );
const systemSecrets = [
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssl/private',
  '/etc/ssh',
  '/var/lib/systemd/credential.secret',
];

function toParts(path: string): string[] {
  return path.trim().split('/').map(fold);
}

/** Whether the names of `pattern` stand in `parts`, one after the other, at `from`. */
function standsAt(parts: readonly string[], pattern: readonly string[], from: number): boolean {
  return pattern.every((name, i) => parts[from + i] === name);
}

/** Why what is written to this real path would be run later; undefined when it would not. */
export function runsLater(realPath: string, { home, own }: Guarded): string | undefined {
  if (own.some((dir) => isBelow(realPath, dir))) return 'it belongs to berth';
  const parts = realPath.split('/').filter(Boolean).map(fold);
  for (let from = 0; from < parts.length; from++) {
    const isFile = lateFiles.some((pattern) => from + pattern.length === parts.length && standsAt(parts, pattern, from));
    if (isFile || lateFolders.some((pattern) => standsAt(parts, pattern, from))) return 'programs run or follow what is written there';
  }
  if (isBareRepository(parts)) return 'git runs what is written there';
  if (!isBelow(realPath, home)) return undefined;
  const below = realPath.slice(home.length).split('/').filter(Boolean).map(fold);
  const isFile = homeFiles.some((pattern) => pattern.length === below.length && standsAt(below, pattern, 0));
  if (isFile || homeFolders.some((pattern) => standsAt(below, pattern, 0))) return 'your shell, session or tools run what is written there';
  return undefined;
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
  const settings = ['.npmrc', '.yarnrc.yml', '.config/pip/pip.conf', '.m2/settings.xml'].map((path) => join(home, path)).filter(holdsToken);
  return [...secretPaths.map((path) => join(home, path)), ...settings, ...systemSecrets, ...own];
}

/** What the kernel tells of processes, their environment and memory among it; a few files of it are about the machine alone. */
const plainProc = ['/proc/cpuinfo', '/proc/meminfo', '/proc/version', '/proc/loadavg', '/proc/uptime', '/proc/filesystems', '/proc/stat'];

/** Settings that programs need, and some people keep a token in. */
function holdsToken(path: string): boolean {
  try {
    return (
      statSync(path).size <= limits.workspaceConfigBytesMax &&
      /_auth|_password|token|:\/\/[^/\s]+:[^/\s]+@/i.test(readFileSync(path, 'utf8'))
    );
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

export function isSecret(realPath: string, guarded: Guarded): boolean {
  if (isBelow(realPath, '/proc') && !plainProc.includes(realPath)) return true;
  const folded = realPath.split('/').map(fold).join('/');
  return secretPlaces(guarded).some((place) => isBelow(realPath, place) || isBelow(folded, place.split('/').map(fold).join('/')));
}

/** What is there at the top of a writable root and must not be written by a command that nobody looked at. */
export function lateCodeIn(root: string, guarded: Guarded): string[] {
  const found: string[] = [];
  for (const dir of [root, join(root, '.git')]) {
    for (const name of namesIn(dir)) {
      const path = join(dir, name);
      if (runsLater(path, guarded) !== undefined) found.push(path);
    }
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
