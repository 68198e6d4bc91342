import { existsSync } from 'node:fs';
import type { Access, Effect, Reach } from '../tools/port.js';
import type { Confinement } from '../sandbox/port.js';
import { judgeCommand } from './command-judge.js';
import { isGlob } from './globs.js';
import { findWorktreeGit } from './git-worktree.js';
import { autorunKind, isSecret, listAutorunPaths, listSecretPaths, type Guarded } from './guarded-paths.js';
import { allowedWrites, judgePath, judgeRealPath, describeRule, type CallContext, type Judged, type PolicySettings } from './path-judge.js';
import type { Action, JudgedCall, Policy, Rule } from './port.js';
import { findListeningSockets, isSocket } from './listening-sockets.js';
import { isBelow, toAbsolute, toRealPath } from './real-paths.js';
import { findRuleProblem } from './rule-check.js';
import { rulesForTool } from './rules.js';
import { createRoots, whyNoWorkspace } from './roots.js';

const order: Action[] = ['allow', 'ask', 'deny'];

function strictestOf(judged: readonly Judged[]): Judged | undefined {
  return judged.toSorted((a, b) => order.indexOf(b.action) - order.indexOf(a.action))[0];
}

/** The permission policy of a daemon. `settings` are read for each call, so that a change takes effect at once. */
export function createPolicy({ home, umask, settings: read }: { home: string; umask: number; settings(): PolicySettings }): Policy {
  const realHome = toRealPath(home) ?? home;

  function guardedPaths({ own, program }: PolicySettings): Guarded {
    return { home: realHome, own: own.map((dir) => toRealPath(dir) ?? dir), program };
  }

  function toContext(call: JudgedCall): CallContext {
    const settings = read();
    const workspace = call.workspace ?? toRealPath(call.cwd) ?? call.cwd;
    const guarded = guardedPaths(settings);
    const places = { own: guarded.own, shared: (settings.shared ?? []).map((dir) => toRealPath(dir) ?? dir) };
    const roots = createRoots(settings.writable, workspace, realHome, places);
    const noWorkspace = whyNoWorkspace(workspace, places);
    return { ...call, settings, guarded, roots, noWorkspace, bases: { workspace, home: realHome }, compiled: {} };
  }

  function judgeAccess(access: Access, context: CallContext): Judged[] {
    if (access.kind === 'command') return judgeCommand(access, context);
    if (access.kind === 'effect') return [judgeEffect(access, context)];
    const { kind, path, real } = access;
    if (real === undefined) return [judgePath(kind, path, context)];
    return [judgeRealPath(kind, { path, absolute: toAbsolute(path, context.cwd, realHome), real }, context)];
  }

  return {
    noSandbox: () => read().noSandbox,
    findRuleProblem: (rule, context) => findRuleProblem(rule, { ...context, home: realHome }),
    workspaceOf: (cwd) => toRealPath(cwd) ?? cwd,
    judge(call) {
      const context = toContext(call);
      const judged = (call.accesses ?? []).map((access) => ({ kind: access.kind, parts: judgeAccess(access, context) }));
      const paths = judged.flatMap(({ kind, parts: own }) =>
        kind === 'read' || kind === 'write' ? own.map((part) => ({ ...part, kind })) : [],
      );
      const parts = call.accesses ? judged.flatMap((access) => access.parts) : [judgeUndeclared(context)];
      if (parts.length === 0) parts.push(judgeHarmless(context));
      const decided = strictestOf(parts);
      const action = decided?.action ?? 'ask';
      const reach = toReach(context, parts, paths.filter(needsAnswer), umask);
      const { kind, network } = reach.confinement;
      return {
        action,
        why: decided?.why ?? '',
        parts: parts.map(({ text, action: verdict, why }) => ({ text, action: verdict, why })),
        reach,
        lacksNetwork: kind === 'sandbox' && !network && parts.some(({ needsNetwork }) => needsNetwork === true),
        paths: paths.map(({ kind, real = '' }) => ({ kind, real })),
        remember: toRemember(parts),
        notes: toNotes(context, parts),
      };
    },
  };
}

/** Judges a call that declares no accesses: only a rule about the tool itself can stop it. */
function judgeHarmless({ toolName, rules }: CallContext): Judged {
  const matched = rulesForTool(rules, toolName);
  const what = { of: 'tool', text: toolName } as const;
  if (!matched || matched.action === 'allow') return { ...what, action: 'allow', why: 'it touches nothing' };
  return { ...what, action: matched.action, why: describeRule(matched.rule), byRule: true };
}

/** Judges a call of a tool that does not declare its accesses, so that the call may touch anything. */
function judgeUndeclared(context: CallContext): Judged {
  const { toolName, readOnly } = context;
  return judgeWholeCall(context, {
    text: toolName,
    readOnly,
    whyDenied: `${toolName} does not declare what it changes`,
    whyAsked: `${toolName} does not declare what it touches`,
  });
}

function judgeEffect({ name, server, readOnly }: Effect, context: CallContext): Judged {
  const text = server === undefined ? name : `${name} of the server ${server}`;
  return judgeWholeCall(context, { text, readOnly, whyDenied: `${text} may change something`, whyAsked: `it calls ${text}` });
}

interface WholeCall {
  text: string;
  readOnly: boolean;
  whyDenied: string;
  whyAsked: string;
}

/** Judges a call without known paths or commands: a rule about the tool or a person allows it, never a mode. */
function judgeWholeCall({ toolName, rules, mode }: CallContext, { text, readOnly, whyDenied, whyAsked }: WholeCall): Judged {
  const matched = rulesForTool(rules, toolName);
  const what = { of: 'tool', text } as const;
  if (matched?.action === 'deny') return { ...what, action: 'deny', why: describeRule(matched.rule), byRule: true };
  if (mode === 'read_only' && !readOnly) return { ...what, action: 'deny', why: `${whyDenied}, and the mode is read_only` };
  if (matched) return { ...what, action: matched.action, why: describeRule(matched.rule), byRule: true };
  if (readOnly) return { ...what, action: 'allow', why: 'it changes nothing' };
  return { ...what, action: 'ask', why: whyAsked, remember: { tool: toolName, action: 'allow' } };
}

/** The rules to remember for all parts that were asked, or none: a subset would not allow the call the next time. */
function toRemember(parts: readonly Judged[]): Rule[] {
  // Network and unsandboxed are part of the rule for the command.
  const asked = parts.filter(({ action, of }) => action === 'ask' && of !== 'wish');
  const rules = asked.flatMap(({ remember }) => (remember ? [remember] : []));
  return rules.length === asked.length ? rules : [];
}

function commandOf({ accesses }: JudgedCall): Extract<Access, { kind: 'command' }> | undefined {
  return accesses?.find((access) => access.kind === 'command');
}

/** Whether a command runs outside of the sandbox, if it is allowed. */
function leavesSandbox(context: CallContext, parts: readonly Judged[]): boolean {
  const command = commandOf(context);
  if (!command) return false;
  return (
    command.unsandboxed ||
    parts.some(({ action, unsandboxed }) => action === 'ask' && unsandboxed === true) ||
    allRulesGrant(parts, 'unsandboxed')
  );
}

/** Whether the rules of all simple commands grant an extra: a rule grants it to its own command alone. */
function allRulesGrant(parts: readonly Judged[], what: 'network' | 'unsandboxed'): boolean {
  const commands = parts.filter(({ of }) => of === 'command');
  return commands.length > 0 && commands.every((part) => part[what] === true);
}

function toConfinement(context: CallContext, parts: readonly Judged[]): Confinement {
  const { settings, roots, guarded, mode } = context;
  const network = settings.network || mode === 'full' || commandOf(context)?.network === true || allRulesGrant(parts, 'network');
  if (settings.noSandbox !== undefined) return { kind: 'bare', network: true, writable: [], readOnly: [], hidden: [] };
  if (leavesSandbox(context, parts)) return { kind: 'namespace', network: true, writable: [], readOnly: [], hidden: [] };
  const hidden = deniedReads(context);
  const readOnly = deniedWrites(context);
  const isDenied = (path: string, places: readonly string[]): boolean => places.some((place) => isBelow(path, place));
  // A deny rule overrides allow rules for paths below it.
  const writable = mode === 'read_only' ? [] : [...roots, ...allowedWrites(context)].filter((path) => !isDenied(path, readOnly));
  const worktree = writable.includes(context.bases.workspace) ? findWorktreeGit(context.bases.workspace) : undefined;
  const isForGit = worktree?.writable.every((path) => !isDenied(path, [...readOnly, ...hidden]) && !isSecret(path, guarded)) === true;
  return {
    kind: 'sandbox',
    network,
    writable,
    ...(isForGit ? { gitWritable: worktree.writable } : {}),
    readOnly: [
      ...writable.flatMap((root) => listAutorunPaths(root, guarded)),
      ...(isForGit ? worktree.readOnly : []),
      ...readOnly,
      ...programOf(settings),
    ],
    // A session in ~/.config/tool sees that directory. berth's own directories are never roots, so always hidden.
    hidden: [
      ...listSecretPaths(guarded).filter((place) => !roots.some((root) => isBelow(root, place))),
      ...hidden,
      ...hiddenSockets(context),
    ],
  };
}

/** berth's installation directory is read-only: the daemon imports modules from there while it runs. */
function programOf({ program }: PolicySettings): string[] {
  return program === undefined ? [] : [program];
}

/** Unix sockets to mask. Those in a workspace belong to the project and stay; the home directory has sockets of other programs. */
function hiddenSockets(context: CallContext): string[] {
  if (!commandOf(context)) return [];
  const projects = context.roots.filter((root) => root !== context.guarded.home);
  return findListeningSockets().filter((path) => !projects.some((root) => isBelow(path, root)) && isSocket(path));
}

/** Paths of deny rules for reads: masked in the sandbox, under any name. */
function deniedReads({ rules, bases }: CallContext): string[] {
  return rules.flatMap(({ tool, action, path }) => {
    if (action !== 'deny' || path === undefined || (tool !== 'read' && tool !== '*' && tool !== 'bash')) return [];
    const real = isGlob(path) ? undefined : toRealPath(toAbsolute(path, bases.workspace, bases.home));
    return real === undefined ? [] : [real];
  });
}

/** Paths of deny and ask rules for writes: read-only in the sandbox, under any name. */
function deniedWrites({ rules, bases }: CallContext): string[] {
  return rules.flatMap(({ tool, action, path }) => {
    if (action === 'allow' || path === undefined || isGlob(path) || !['write', 'edit', 'bash', '*'].includes(tool)) return [];
    const real = toRealPath(toAbsolute(path, bases.workspace, bases.home));
    return real !== undefined && existsSync(real) ? [real] : [];
  });
}

type JudgedPath = Judged & { kind: 'read' | 'write' };

function needsAnswer({ action }: Judged): boolean {
  return action === 'ask';
}

/**
 * The reach of a call. An approval covers the real paths that were `asked` about, and for reads everything below them; every other path is
 * judged by its real path at the time of use, even if it was allowed without asking (TOCTOU race).
 */
function toReach(context: CallContext, parts: readonly Judged[], asked: readonly JudgedPath[], umask: number): Reach {
  return {
    workspace: context.bases.workspace,
    noWorkspace: context.noWorkspace,
    refuses(kind, real) {
      const judged = judgeRealPath(kind, { path: real, absolute: real, real }, context);
      if (judged.action === 'allow') return undefined;
      if (judged.action === 'deny') return judged.why;
      const isGranted = asked.some((path) => {
        if (path.kind !== kind || path.real === undefined) return false;
        return path.real === real || (kind === 'read' && judged.byRule !== true && isBelow(real, path.real));
      });
      return isGranted ? undefined : judged.why;
    },
    autorunKind: (folder, name) => autorunKind(folder, name, context.guarded),
    umask,
    confinement: toConfinement(context, parts),
  };
}

function toNotes(context: CallContext, parts: readonly Judged[]): string[] {
  const command = commandOf(context);
  if (!command) return [];
  const { settings } = context;
  if (settings.noSandbox !== undefined) return [`It runs without a sandbox: ${settings.noSandbox}`];
  if (leavesSandbox(context, parts)) return ['It runs outside the sandbox, with all that you may do on this machine.'];
  return [
    ...(command.network ? ['It runs in the sandbox, with the network.'] : []),
    ...(context.noWorkspace === undefined ? [] : [`It runs in a private, empty directory: ${context.noWorkspace}.`]),
  ];
}
