import { existsSync } from 'node:fs';
import { normalize } from 'node:path';
import { isGlob } from './globs.js';
import { sayRule } from '../protocol/rule-words.js';
import { isSecret, whyAutorun, type Guarded } from './guarded-paths.js';
import type { Action, JudgedCall, Rule, SourcedRule } from './port.js';
import { isBelow, isTooLong, toAbsolute, toGrantedPath, toRealPath } from './real-paths.js';
import { whyNoWorkspace } from './roots.js';
import { createPathRules, type Bases, type PathRules } from './rules.js';

/** Settings of the machine and of the config, read for every call. */
export interface PolicySettings {
  /** Undefined when commands can be confined; else what is missing, as a sentence. */
  noSandbox: string | undefined;
  network: boolean;
  /** Directories that may be written beside the workspace. */
  writable: string[];
  /** berth's own directories: masked for commands, and part of no workspace. */
  own: string[];
  /** berth's installation directory, from which the daemon and the CLI load code. */
  program?: string | undefined;
  /** Directories with sockets of other programs, beside the well-known ones. */
  shared?: string[];
}

export interface Judged {
  /** A path, a simple command, an extra that a command requests (network, no sandbox), or the call as a whole. */
  of: 'path' | 'command' | 'wish' | 'tool';
  /** The real path that was judged. Use this path and do not resolve it again (TOCTOU race). */
  real?: string | undefined;
  text: string;
  action: Action;
  why: string;
  /** Decided by an explicit rule or a safeguard that no mode overrides. */
  byRule?: boolean;
  remember?: Rule | undefined;
  /** The extras that an allow rule grants. */
  network?: boolean;
  unsandboxed?: boolean;
  /** The command is known to fail without the network. */
  needsNetwork?: boolean;
}

/** A call with everything that judging it needs. */
export interface CallContext extends JudgedCall {
  bases: Bases;
  guarded: Guarded;
  roots: string[];
  settings: PolicySettings;
  /** Why the session's directory is not a workspace; undefined when it is one. */
  noWorkspace: string | undefined;
  /** A cache of compiled path rules, filled lazily and shared by all copies of a context. */
  compiled: { read?: PathRules; write?: PathRules };
}

/** System directories that every program reads, without personal data. */
const systemDirs = [
  '/usr',
  '/lib',
  '/lib64',
  '/bin',
  '/sbin',
  '/opt',
  '/etc',
  '/nix/store',
  '/proc/cpuinfo',
  '/proc/meminfo',
  '/proc/version',
];

/** The compiled path rules for a tool that reads or writes. */
function rulesOf(kind: 'read' | 'write', { rules, toolName, bases, compiled }: CallContext): PathRules {
  return (compiled[kind] ??= createPathRules(rules, kind === 'read' ? [toolName, 'read'] : [toolName, 'write', 'edit'], bases));
}

/** Judges a read or write of one path by its current real path, the same for every tool. */
export function judgePath(kind: 'read' | 'write', path: string, context: CallContext): Judged {
  const absolute = toAbsolute(path, context.cwd, context.bases.home);
  if (isTooLong(absolute)) return { of: 'path', text: `${kind} ${path}`, ...judgeTooLong(kind, context) };
  const real = toRealPath(absolute);
  if (real === undefined)
    return { of: 'path', text: `${kind} ${path}`, action: 'deny', why: `${path} is a dangling symbolic link, or a loop of them` };
  return judgeRealPath(kind, { path, absolute, real }, context);
}

/** A path as named, made absolute, and resolved. */
interface ResolvedPath {
  path: string;
  absolute: string;
  real: string;
}

/** Judges a path whose real path is known, without file system access. */
export function judgeRealPath(kind: 'read' | 'write', { path: named, absolute, real }: ResolvedPath, context: CallContext): Judged {
  const what = { of: 'path', text: `${kind} ${named}`, real } as const;
  const normalized = normalize(absolute);
  // The person must see the real path, not only the name of a symlink.
  const path = normalized === real ? named : `${named} (which is ${real})`;
  const matched = rulesOf(kind, context)({ names: [named, normalized], real });
  const ruleText = matched && describeRule(matched.rule);
  const remember = { tool: context.toolName, path: real, action: 'allow' } as const;
  if (matched?.action === 'deny') return { ...what, action: 'deny', why: ruleText ?? '', byRule: true };
  if (kind === 'write' && context.mode === 'read_only') return { ...what, action: 'deny', why: 'nothing is written in the mode read_only' };
  const autorun = kind === 'write' ? whyAutorun(real, context.guarded) : undefined;
  const isOfGit = kind === 'write' && /\/\.git(\/|$)/i.test(real);
  if (isOfGit && autorun === undefined) return { ...what, action: 'ask', why: `${path} is one of git's own files`, byRule: true };
  if (autorun !== undefined) return { ...what, action: 'ask', why: `${path}: ${autorun}`, byRule: true };
  if (kind === 'read' && isSecret(real, context.guarded)) return { ...what, action: 'ask', why: `${path} holds secrets`, byRule: true };
  if (matched?.action === 'ask') return { ...what, action: 'ask', why: ruleText ?? '', byRule: true };
  if (matched) return { ...what, action: 'allow', why: ruleText ?? '', byRule: true };
  const isInRoots = context.roots.some((root) => isBelow(real, root));
  const isHere = context.noWorkspace !== undefined && isBelow(real, context.bases.workspace);
  const outside = isHere ? `${real}: ${context.noWorkspace}` : `${real} is outside the workspace`;
  if (kind === 'read') {
    if (isInRoots) return { ...what, action: 'allow', why: 'it is in the workspace' };
    if (systemDirs.some((place) => isBelow(real, place))) return { ...what, action: 'allow', why: 'every program reads it' };
    if (context.mode === 'full') return { ...what, action: 'allow', why: 'the mode is full' };
    return { ...what, action: 'ask', why: outside, remember };
  }
  if (!isInRoots) return { ...what, action: 'ask', why: outside, remember };
  if (context.mode === 'auto_edit' || context.mode === 'full')
    return { ...what, action: 'allow', why: `it is in the workspace, and the mode is ${context.mode}` };
  return { ...what, action: 'ask', why: 'the mode is ask', remember };
}

/** A path that no system call would accept (ENAMETOOLONG) is not resolved; a person is asked. */
function judgeTooLong(kind: 'read' | 'write', { mode }: CallContext): Pick<Judged, 'action' | 'why' | 'byRule'> {
  if (kind === 'write' && mode === 'read_only') return { action: 'deny', why: 'nothing is written in the mode read_only' };
  return { action: 'ask', why: 'the path is too long for any file (ENAMETOOLONG)', byRule: true };
}

export function describeRule(rule: SourcedRule): string {
  return `${rule.source}: ${sayRule(rule)}`;
}

/** Paths that allow rules let commands write, except autorun files, whose new content no person would see. */
export function allowedWrites({ rules, bases, guarded, settings }: CallContext): string[] {
  return rules.flatMap(({ tool, action, path }) => {
    if (action !== 'allow' || path === undefined || isGlob(path) || !['write', 'edit', 'bash', '*'].includes(tool)) return [];
    const real = toGrantedPath(toAbsolute(path, bases.workspace, bases.home));
    if (real === undefined || !existsSync(real) || whyAutorun(real, guarded) !== undefined) return [];
    return whyNoWorkspace(real, { own: guarded.own, shared: settings.shared ?? [] }) === undefined ? [real] : [];
  });
}
