import { existsSync } from 'node:fs';
import type { Access, Effect, Reach } from '../tools/port.js';
import type { Confinement } from '../sandbox/port.js';
import { judgeCommand } from './command-judge.js';
import { isGlob } from './globs.js';
import { findWorktreeGit } from './git-worktree.js';
import { autorunKind, isSecret, lateCodeIn, secretPlaces, type Guarded } from './guarded-paths.js';
import { allowedWrites, judgePath, judgeRealPath, sayWhy, type Case, type Judged, type PolicySettings } from './path-judge.js';
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

/** The policy of a daemon. `settings` are read for each call, so that a change counts at once. */
export function createPolicy({ home, umask, settings: read }: { home: string; umask: number; settings(): PolicySettings }): Policy {
  const realHome = toRealPath(home) ?? home;

  function guardedBy({ own, program }: PolicySettings): Guarded {
    return { home: realHome, own: own.map((dir) => toRealPath(dir) ?? dir), program };
  }

  function open(call: JudgedCall): Case {
    const settings = read();
    const workspace = call.workspace ?? toRealPath(call.cwd) ?? call.cwd;
    const guarded = guardedBy(settings);
    const places = { own: guarded.own, shared: (settings.shared ?? []).map((dir) => toRealPath(dir) ?? dir) };
    const roots = createRoots(settings.writable, workspace, realHome, places);
    const noWorkspace = whyNoWorkspace(workspace, places);
    return { ...call, settings, guarded, roots, noWorkspace, bases: { workspace, home: realHome }, compiled: {} };
  }

  function judgeAccess(access: Access, now: Case): Judged[] {
    if (access.kind === 'command') return judgeCommand(access, now);
    if (access.kind === 'effect') return [judgeEffect(access, now)];
    const { kind, path, real } = access;
    if (real === undefined) return [judgePath(kind, path, now)];
    return [judgeRealPath(kind, { path, absolute: toAbsolute(path, now.cwd, realHome), real }, now)];
  }

  return {
    noSandbox: () => read().noSandbox,
    findRuleProblem: (rule, known) => findRuleProblem(rule, { ...known, home: realHome }),
    workspaceOf: (cwd) => toRealPath(cwd) ?? cwd,
    judge(call) {
      const now = open(call);
      const judged = (call.accesses ?? []).map((access) => ({ kind: access.kind, parts: judgeAccess(access, now) }));
      const paths = judged.flatMap(({ kind, parts: own }) =>
        kind === 'read' || kind === 'write' ? own.map((part) => ({ ...part, kind })) : [],
      );
      const parts = call.accesses ? judged.flatMap((access) => access.parts) : [judgeUndeclared(now)];
      if (parts.length === 0) parts.push(judgeHarmless(now));
      const decided = strictestOf(parts);
      const action = decided?.action ?? 'ask';
      const reach = toReach(now, parts, paths.filter(isAsked), umask);
      const { kind, network } = reach.confinement;
      return {
        action,
        why: decided?.why ?? '',
        parts: parts.map(({ text, action: verdict, why }) => ({ text, action: verdict, why })),
        reach,
        lacksNetwork: kind === 'sandbox' && !network && parts.some(({ needsNetwork }) => needsNetwork === true),
        paths: paths.map(({ kind, real = '' }) => ({ kind, real })),
        remember: toRemember(parts),
        notes: toNotes(now, parts),
      };
    },
  };
}

/** A call that declares that it touches nothing: only a rule about the tool itself can stop it. */
function judgeHarmless({ toolName, rules }: Case): Judged {
  const matched = rulesForTool(rules, toolName);
  const what = { of: 'tool', text: toolName } as const;
  if (!matched || matched.action === 'allow') return { ...what, action: 'allow', why: 'it touches nothing' };
  return { ...what, action: matched.action, why: sayWhy(matched.rule), byRule: true };
}

/** A call that may touch anything, because its tool does not declare what. */
function judgeUndeclared(now: Case): Judged {
  const { toolName, readOnly } = now;
  return judgeWholeCall(now, {
    text: toolName,
    readOnly,
    whyDenied: `${toolName} does not declare what it changes`,
    whyAsked: `${toolName} does not declare what it touches`,
  });
}

function judgeEffect({ name, server, readOnly }: Effect, now: Case): Judged {
  const text = server === undefined ? name : `${name} of the server ${server}`;
  return judgeWholeCall(now, { text, readOnly, whyDenied: `${text} may change something`, whyAsked: `it calls ${text}` });
}

interface WholeCall {
  text: string;
  readOnly: boolean;
  whyDenied: string;
  whyAsked: string;
}

/** A call of which neither paths nor commands are known: a rule about the tool or a person decides, never a mode. */
function judgeWholeCall({ toolName, rules, mode }: Case, { text, readOnly, whyDenied, whyAsked }: WholeCall): Judged {
  const matched = rulesForTool(rules, toolName);
  const what = { of: 'tool', text } as const;
  if (matched?.action === 'deny') return { ...what, action: 'deny', why: sayWhy(matched.rule), byRule: true };
  if (mode === 'read_only' && !readOnly) return { ...what, action: 'deny', why: `${whyDenied}, and the mode is read_only` };
  if (matched) return { ...what, action: matched.action, why: sayWhy(matched.rule), byRule: true };
  if (readOnly) return { ...what, action: 'allow', why: 'it changes nothing' };
  return { ...what, action: 'ask', why: whyAsked, remember: { tool: toolName, action: 'allow' } };
}

/** Rules for all that was asked, or none: half of them would not allow it the next time. */
function toRemember(parts: readonly Judged[]): Rule[] {
  // What a command wants beside is in the rules for the command.
  const asked = parts.filter(({ action, of }) => action === 'ask' && of !== 'wish');
  const rules = asked.flatMap(({ remember }) => (remember ? [remember] : []));
  return rules.length === asked.length ? rules : [];
}

function commandOf({ accesses }: JudgedCall): Extract<Access, { kind: 'command' }> | undefined {
  return accesses?.find((access) => access.kind === 'command');
}

/** Whether a command has to leave the sandbox for what it was allowed, or would be allowed, to do. */
function leavesSandbox(now: Case, parts: readonly Judged[]): boolean {
  const command = commandOf(now);
  if (!command) return false;
  return (
    command.unsandboxed ||
    parts.some(({ action, unsandboxed }) => action === 'ask' && unsandboxed === true) ||
    allGive(parts, 'unsandboxed')
  );
}

/** A rule gives something beside to its own command; together with another it is given only when the other has it, too. */
function allGive(parts: readonly Judged[], what: 'network' | 'unsandboxed'): boolean {
  const commands = parts.filter(({ of }) => of === 'command');
  return commands.length > 0 && commands.every((part) => part[what] === true);
}

function toConfinement(now: Case, parts: readonly Judged[]): Confinement {
  const { settings, roots, guarded, mode } = now;
  const network = settings.network || mode === 'full' || commandOf(now)?.network === true || allGive(parts, 'network');
  if (settings.noSandbox !== undefined) return { kind: 'bare', network: true, writable: [], readOnly: [], hidden: [] };
  if (leavesSandbox(now, parts)) return { kind: 'namespace', network: true, writable: [], readOnly: [], hidden: [] };
  const hidden = deniedReads(now);
  const readOnly = deniedWrites(now);
  const isDenied = (path: string, places: readonly string[]): boolean => places.some((place) => isBelow(path, place));
  // A rule that denies is stronger than whatever allows what is below it.
  const writable = mode === 'read_only' ? [] : [...roots, ...allowedWrites(now)].filter((path) => !isDenied(path, readOnly));
  const worktree = writable.includes(now.bases.workspace) ? findWorktreeGit(now.bases.workspace) : undefined;
  const isForGit = worktree?.writable.every((path) => !isDenied(path, [...readOnly, ...hidden]) && !isSecret(path, guarded)) === true;
  return {
    kind: 'sandbox',
    network,
    writable,
    ...(isForGit ? { gitWritable: worktree.writable } : {}),
    readOnly: [
      ...writable.flatMap((root) => lateCodeIn(root, guarded)),
      ...(isForGit ? worktree.readOnly : []),
      ...readOnly,
      ...programOf(settings),
    ],
    // A session in ~/.config/tool sees that; berth's own places are no roots, and always hidden.
    hidden: [...secretPlaces(guarded).filter((place) => !roots.some((root) => isBelow(root, place))), ...hidden, ...hiddenSockets(now)],
  };
}

/** Outside of the sandbox berth loads parts of its program while it runs. */
function programOf({ program }: PolicySettings): string[] {
  return program === undefined ? [] : [program];
}

/** Sockets of a project are in its workspace, and its programs use them. In the home directory are everybody's. */
function hiddenSockets(now: Case): string[] {
  if (!commandOf(now)) return [];
  const projects = now.roots.filter((root) => root !== now.guarded.home);
  return findListeningSockets().filter((path) => !projects.some((root) => isBelow(path, root)) && isSocket(path));
}

/** Files that a rule denies to read by name are not there for commands, whatever they call them. */
function deniedReads({ rules, bases }: Case): string[] {
  return rules.flatMap(({ tool, action, path }) => {
    if (action !== 'deny' || path === undefined || (tool !== 'read' && tool !== '*' && tool !== 'bash')) return [];
    const real = isGlob(path) ? undefined : toRealPath(toAbsolute(path, bases.workspace, bases.home));
    return real === undefined ? [] : [real];
  });
}

/** What a rule says that may not be written is not written by commands either, whatever they call it. */
function deniedWrites({ rules, bases }: Case): string[] {
  return rules.flatMap(({ tool, action, path }) => {
    if (action === 'allow' || path === undefined || isGlob(path) || !['write', 'edit', 'bash', '*'].includes(tool)) return [];
    const real = toRealPath(toAbsolute(path, bases.workspace, bases.home));
    return real !== undefined && existsSync(real) ? [real] : [];
  });
}

type JudgedPath = Judged & { kind: 'read' | 'write' };

function isAsked({ action }: Judged): boolean {
  return action === 'ask';
}

/**
 * A person who says yes says it to the real paths that they were `asked` about, and to what is below those that are read; everything else is
 * judged by its real path at the moment of use, what was allowed without asking as well.
 */
function toReach(now: Case, parts: readonly Judged[], asked: readonly JudgedPath[], umask: number): Reach {
  return {
    workspace: now.bases.workspace,
    noWorkspace: now.noWorkspace,
    refuses(kind, real) {
      const judged = judgeRealPath(kind, { path: real, absolute: real, real }, now);
      if (judged.action === 'allow') return undefined;
      if (judged.action === 'deny') return judged.why;
      const isGranted = asked.some((one) => {
        if (one.kind !== kind || one.real === undefined) return false;
        return one.real === real || (kind === 'read' && judged.byRule !== true && isBelow(real, one.real));
      });
      return isGranted ? undefined : judged.why;
    },
    autorunKind: (folder, name) => autorunKind(folder, name, now.guarded),
    umask,
    confinement: toConfinement(now, parts),
  };
}

function toNotes(now: Case, parts: readonly Judged[]): string[] {
  const command = commandOf(now);
  if (!command) return [];
  const { settings } = now;
  if (settings.noSandbox !== undefined) return [`It runs without a sandbox: ${settings.noSandbox}`];
  if (leavesSandbox(now, parts)) return ['It runs outside the sandbox, with all that you may do on this machine.'];
  return [
    ...(command.network ? ['It runs in the sandbox, with the network.'] : []),
    ...(now.noWorkspace === undefined ? [] : [`It runs in a private, empty directory: ${now.noWorkspace}.`]),
  ];
}
