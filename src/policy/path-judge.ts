import { existsSync } from 'node:fs';
import { normalize } from 'node:path';
import { isGlob } from './globs.js';
import { sayRule } from '../protocol/rule-words.js';
import { isSecret, runsLater, type Guarded } from './guarded-paths.js';
import type { Action, JudgedCall, Rule, SourcedRule } from './port.js';
import { isBelow, isTooLong, toAbsolute, toGrantedPath, toRealPath } from './real-paths.js';
import { whyNoWorkspace } from './roots.js';
import { createPathRules, type Bases, type PathRules } from './rules.js';

/** What is known of the machine and of what a person allowed it. Looked at anew for every call. */
export interface PolicySettings {
  /** Undefined when commands can be confined; else what is missing, as a sentence. */
  noSandbox: string | undefined;
  network: boolean;
  /** Beside the workspace. */
  writable: string[];
  /** Of berth itself: never shown to a command, and no part of any workspace. */
  own: string[];
  /** Where berth is installed: the daemon and every later command load what is written there. */
  program?: string | undefined;
  /** Directories that hold sockets of other programs, beside those that every system has. */
  shared?: string[];
}

export interface Judged {
  /** A path, a simple command, what a command wants beside, or the call as a whole. */
  of: 'path' | 'command' | 'wish' | 'tool';
  /** The real path that was judged. Whoever acts on this judgement acts on that path: none is resolved a second time. */
  real?: string | undefined;
  text: string;
  action: Action;
  why: string;
  /** Only an explicit rule, or a person, decided this: no mode. */
  byRule?: boolean;
  remember?: Rule | undefined;
  /** What an allowing rule gives beside. */
  network?: boolean;
  unsandboxed?: boolean;
  /** A command that is known to fail without the network. */
  needsNetwork?: boolean;
}

/** One call on its way through the rules. */
export interface Case extends JudgedCall {
  bases: Bases;
  guarded: Guarded;
  roots: string[];
  settings: PolicySettings;
  /** Why the session's directory is not a workspace; undefined when it is one. */
  noWorkspace: string | undefined;
  /** The rules about paths, compiled when they are first needed and shared by all copies of a case. */
  compiled: { read?: PathRules; write?: PathRules };
}

/** Directories that every program reads, and that hold nothing of a person. */
const commonPlaces = [
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

/** What the rules say of paths, for a tool that reads or writes them. */
function rulesOf(kind: 'read' | 'write', { rules, toolName, bases, compiled }: Case): PathRules {
  return (compiled[kind] ??= createPathRules(rules, kind === 'read' ? [toolName, 'read'] : [toolName, 'write', 'edit'], bases));
}

/** Judges one path for reading or writing, by where it leads now: the same for every tool. */
export function judgePath(kind: 'read' | 'write', path: string, now: Case): Judged {
  const absolute = toAbsolute(path, now.cwd, now.bases.home);
  if (isTooLong(absolute)) return { of: 'path', text: `${kind} ${path}`, ...judgeTooLong(kind, now) };
  const real = toRealPath(absolute);
  if (real === undefined)
    return { of: 'path', text: `${kind} ${path}`, action: 'deny', why: `${path} is a link whose target does not exist` };
  return judgeRealPath(kind, { path, absolute, real }, now);
}

/** A path as it was named, made absolute, and where it leads. */
interface ResolvedPath {
  path: string;
  absolute: string;
  real: string;
}

/** Judges a path whose real path is known. Nothing is looked up in the file system. */
export function judgeRealPath(kind: 'read' | 'write', { path: named, absolute, real }: ResolvedPath, now: Case): Judged {
  const what = { of: 'path', text: `${kind} ${named}`, real } as const;
  const meant = normalize(absolute);
  // Who is asked must see what would be touched, not the name of a link to it.
  const path = meant === real ? named : `${named} (which is ${real})`;
  const matched = rulesOf(kind, now)({ names: [named, meant], real });
  const because = matched && sayWhy(matched.rule);
  const remember = { tool: now.toolName, path: real, action: 'allow' } as const;
  if (matched?.action === 'deny') return { ...what, action: 'deny', why: because ?? '', byRule: true };
  if (kind === 'write' && now.mode === 'read_only') return { ...what, action: 'deny', why: 'nothing is written in the mode read_only' };
  const late = kind === 'write' ? runsLater(real, now.guarded) : undefined;
  const isOfGit = kind === 'write' && /\/\.git(\/|$)/i.test(real);
  if (isOfGit && late === undefined) return { ...what, action: 'ask', why: `${path} is one of git's own files`, byRule: true };
  if (late !== undefined) return { ...what, action: 'ask', why: `${path}: ${late}`, byRule: true };
  if (kind === 'read' && isSecret(real, now.guarded)) return { ...what, action: 'ask', why: `${path} holds secrets`, byRule: true };
  if (matched?.action === 'ask') return { ...what, action: 'ask', why: because ?? '', byRule: true };
  if (matched) return { ...what, action: 'allow', why: because ?? '', byRule: true };
  const isOurs = now.roots.some((root) => isBelow(real, root));
  const isHere = now.noWorkspace !== undefined && isBelow(real, now.bases.workspace);
  const outside = isHere ? `${real}: ${now.noWorkspace}` : `${real} is outside the workspace`;
  if (kind === 'read') {
    if (isOurs) return { ...what, action: 'allow', why: 'it is in the workspace' };
    if (commonPlaces.some((place) => isBelow(real, place))) return { ...what, action: 'allow', why: 'every program reads it' };
    if (now.mode === 'full') return { ...what, action: 'allow', why: 'the mode is full' };
    return { ...what, action: 'ask', why: outside, remember };
  }
  if (!isOurs) return { ...what, action: 'ask', why: outside, remember };
  if (now.mode === 'auto_edit' || now.mode === 'full')
    return { ...what, action: 'allow', why: `it is in the workspace, and the mode is ${now.mode}` };
  return { ...what, action: 'ask', why: 'the mode is ask', remember };
}

/** What no system would open is not looked up: a person may say what is meant. */
function judgeTooLong(kind: 'read' | 'write', { mode }: Case): Pick<Judged, 'action' | 'why' | 'byRule'> {
  if (kind === 'write' && mode === 'read_only') return { action: 'deny', why: 'nothing is written in the mode read_only' };
  return { action: 'ask', why: 'a path in it is longer than any can be', byRule: true };
}

export function sayWhy(rule: SourcedRule): string {
  return `${rule.source}: ${sayRule(rule)}`;
}

/** Places that a rule allows to write by name, but for what would run later: nobody sees what a command writes there. */
export function allowedWrites({ rules, bases, guarded, settings }: Case): string[] {
  return rules.flatMap(({ tool, action, path }) => {
    if (action !== 'allow' || path === undefined || isGlob(path) || !['write', 'edit', 'bash', '*'].includes(tool)) return [];
    const real = toGrantedPath(toAbsolute(path, bases.workspace, bases.home));
    if (real === undefined || !existsSync(real) || runsLater(real, guarded) !== undefined) return [];
    return whyNoWorkspace(real, { own: guarded.own, shared: settings.shared ?? [] }) === undefined ? [real] : [];
  });
}
