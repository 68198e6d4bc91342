import { existsSync } from 'node:fs';
import { normalize } from 'node:path';
import { limits } from '../protocol/limits.js';
import type { Access } from '../tools/port.js';
import { createGlob, isGlob } from './globs.js';
import { allowedWrites, judgePath, describeRule, type CallContext, type Judged } from './path-judge.js';
import { needsNetwork } from './network-commands.js';
import type { Rule } from './port.js';
import { isBelow, isTooLong, toAbsolute, toRealPath } from './real-paths.js';
import { createPathRules, ruleThatMayApply, rulesForPart } from './rules.js';
import { cdTarget, exactWords, parseCommand, type CommandPart } from './shell/command.js';
import { quoteWords } from './shell/quote.js';

type Command = Extract<Access, { kind: 'command' }>;

/** Judges every simple command of a shell script, and the extras that the call requests (network, no sandbox). */
export function judgeCommand(command: Command, context: CallContext): Judged[] {
  if (!existsSync(context.bases.workspace)) {
    return [{ of: 'command', text: command.command, action: 'deny', why: `the session's directory ${context.cwd} is gone`, byRule: true }];
  }
  const parsed = parseCommand(command.command, context.bases.workspace);
  if ('unclear' in parsed)
    return [{ of: 'command', text: command.command, action: 'ask', why: `the command cannot be parsed: ${parsed.unclear}`, byRule: true }];
  const parts = parsed.parts.flatMap((part) => judgePart(part, command, context));
  if (parts.length === 0)
    parts.push({ of: 'command', text: command.command, action: 'ask', why: 'there is no command in it', byRule: true });
  return [...parts, ...judgeExtras(command, parts, context)];
}

function judgePart(part: CommandPart, command: Command, context: CallContext): Judged[] {
  const atDirectory = part.cwd === undefined ? context : { ...context, cwd: toAbsolute(part.cwd, context.cwd, context.bases.home) };
  const reads = judgeReads(part, atDirectory);
  if (reads?.action === 'deny') return [reads];
  const own = judgeWords(part, command, atDirectory);
  // An approval of another part may still take the command out of the sandbox, but the person sees the whole command then.
  const isSandboxed = isConfined(context) && !command.unsandboxed && own.unsandboxed !== true;
  return [
    needsNetwork(part) ? { ...own, needsNetwork: true } : own,
    ...(reads ? [reads] : []),
    ...judgeWrites(part, own, isSandboxed, atDirectory),
  ];
}

/** What is the same for all paths that a command writes. */
interface Writing {
  own: Judged;
  namedPaths: ReadonlySet<string>;
  /** The command runs in the sandbox, unless another part of the call leaves it. */
  isSandboxed: boolean;
  /** Paths of the machine or of the person in the real /tmp. */
  realTmpPaths: string[];
}

function judgeWrites(part: CommandPart, own: Judged, isSandboxed: boolean, context: CallContext): Judged[] {
  const writes = [...new Set(part.writes)];
  if (writes.length > limits.shellPathsMax)
    return [{ of: 'path', text: part.text, action: 'ask', why: `it writes more than ${limits.shellPathsMax} files`, byRule: true }];
  if (writes.length === 0) return [];
  const writing = { own, namedPaths: pathsInWords(part), isSandboxed, realTmpPaths: isSandboxed ? findRealTmpPaths(context) : [] };
  return writes.flatMap((path) => judgeWrite(path, writing, context));
}

/** Judges a write by its real path, even when a rule allows the words of the command. */
function judgeWrite(path: string | null, { own, namedPaths, isSandboxed, realTmpPaths }: Writing, context: CallContext): Judged[] {
  const writesFreely = context.mode === 'auto_edit' || context.mode === 'full';
  if (path === null) {
    // In the sandbox a computed path can only be in the workspace, which these modes let commands write.
    if (own.action === 'allow' && isSandboxed && writesFreely) return [];
    return [
      {
        of: 'path',
        text: 'write to a computed path',
        action: 'ask',
        why: 'the path that it writes is computed and known only when it runs',
      },
    ];
  }
  const isPrivateTmp = isSandboxed && isInPrivateTmp(path, realTmpPaths, context);
  const { remember: _, ...judged } = judgePath('write', path, isPrivateTmp ? withoutTmpGuard(context) : context);
  // No file can have such a path, in the sandbox or outside.
  if (isTooLong(toAbsolute(path, context.cwd, context.bases.home))) return [judged];
  if (judged.action === 'ask' && judged.byRule !== true && isPrivateTmp) return writesFreely ? [] : [judged];
  // In the workspace, a rule that allows `rm x` allows the write of x. A redirection is not part of a rule's words.
  const isAskedByMode = judged.action === 'ask' && judged.byRule !== true && staysInside(path, context);
  if (isAskedByMode && namedPaths.has(path)) return own.action === 'deny' ? [judged] : [];
  return [leavesRoots(judged, context) ? { ...judged, unsandboxed: true } : judged];
}

/** Whether a path is in the private /tmp (tmpfs) of the sandbox, and not one of the real paths mounted there. */
function isInPrivateTmp(path: string, realTmpPaths: readonly string[], { cwd, bases }: CallContext): boolean {
  const real = toRealPath(toAbsolute(path, cwd, bases.home));
  if (real === undefined || !isBelow(real, privateDir)) return false;
  return realTmpPaths.every((place) => place !== privateDir && real !== privateDir && firstNameInTmp(place) !== firstNameInTmp(real));
}

/**
 * Paths below /tmp that are mounted into the sandbox, or are the home directory or berth's own: a path with the same first directory below
 * /tmp means the real one.
 */
function findRealTmpPaths(context: CallContext): string[] {
  const { roots, bases, guarded } = context;
  const own = guarded.own.filter((dir) => dir !== privateDir);
  return [...roots, ...allowedWrites(context), bases.workspace, bases.home, ...own].filter((place) => isBelow(place, privateDir));
}

const privateDir = '/tmp';

/** The first name below /tmp. */
function firstNameInTmp(path: string): string | undefined {
  return path.split('/')[2];
}

/** Drops berth's own directories that contain /tmp: the /tmp with berth's socket is not the /tmp of the sandbox. */
function withoutTmpGuard(context: CallContext): CallContext {
  return { ...context, guarded: { ...context.guarded, own: context.guarded.own.filter((dir) => !isBelow(privateDir, dir)) } };
}

/** All words of a command, and the parts of words after each `=`. */
function pathsInWords({ words }: CommandPart): Set<string> {
  const namedPaths = new Set<string>();
  for (const word of words) {
    let rest = word ?? '';
    namedPaths.add(rest);
    for (let i = 0; i < limits.shellReadsMax && rest.includes('='); i++) {
      rest = rest.slice(rest.indexOf('=') + 1);
      namedPaths.add(rest);
    }
  }
  return namedPaths;
}

/** A write outside of the writable roots: approving it means leaving the sandbox. */
function leavesRoots(judged: Judged, { roots, cwd, bases }: CallContext): boolean {
  if (judged.action !== 'ask') return false;
  const real = toRealPath(toAbsolute(judged.text.slice('write '.length), cwd, bases.home));
  return judged.byRule === true || real === undefined || !roots.some((root) => isBelow(real, root));
}

function isConfined({ settings }: CallContext): boolean {
  return settings.noSandbox === undefined;
}

/** Applies deny rules about paths to the paths in the words of a command. Undefined when no rule matches. */
function judgeReads({ reads, text }: CommandPart, context: CallContext): Judged | undefined {
  const denying = context.rules.filter(({ action, path }) => action === 'deny' && path !== undefined);
  if (denying.length === 0) return undefined;
  const what = { of: 'path', text, byRule: true } as const;
  if (reads.length > limits.shellPathsMax) return { ...what, action: 'ask', why: `it names more than ${limits.shellPathsMax} files` };
  const rulesFor = createPathRules(denying, ['read', context.toolName], context.bases);
  const absolutes = reads.map((path) => ({ path, absolute: toAbsolute(path, context.cwd, context.bases.home) }));
  for (const { path, absolute } of absolutes) {
    if (isTooLong(absolute)) continue;
    const forms = { names: [path, normalize(absolute)], real: toRealPath(absolute) ?? absolute };
    const matched = rulesFor({ ...forms, names: [...forms.names, ...deniedPathsInGlob(absolute, denying, context)] });
    if (matched) return { ...what, action: 'deny', why: describeRule(matched.rule) };
  }
  const tooLong = absolutes.some(({ absolute }) => isTooLong(absolute));
  return tooLong ? { ...what, action: 'ask', why: 'a path in it is too long for any file (ENAMETOOLONG)' } : undefined;
}

/** Denied paths that a glob in the words of a command may expand to. */
function deniedPathsInGlob(absolute: string, denying: CallContext['rules'], { bases }: CallContext): string[] {
  if (!/[*?[{]/.test(absolute)) return [];
  const { matches } = createGlob(normalize(absolute).replaceAll(/\[[^\]]*\]|\{[^}]*(,|\.\.)[^}]*\}/g, '*'), { slashes: true });
  return denying.flatMap(({ path = '' }) => {
    const denied = isGlob(path) ? '' : normalize(toAbsolute(path, bases.workspace, bases.home));
    return denied !== '' && matches(denied) ? [denied] : [];
  });
}

function judgeWords(part: CommandPart, { network, unsandboxed }: Command, context: CallContext): Judged {
  const what = { of: 'command', text: part.text } as const;
  const matched = rulesForPart(context.rules, context.toolName, part);
  const remember = rememberPart(part, context.toolName, { network, unsandboxed });
  if (matched?.action === 'deny') return { ...what, action: 'deny', why: describeRule(matched.rule), byRule: true };
  if (matched?.action === 'ask') return { ...what, action: 'ask', why: describeRule(matched.rule), byRule: true };
  const possible = ruleThatMayApply(context.rules, context.toolName, part);
  if (possible) {
    const why = `the program is computed and known only when it runs, so that a rule may apply (${describeRule(possible)})`;
    return { ...what, action: 'ask', why, byRule: true };
  }
  if (matched) {
    const { network: net, unsandboxed: free } = matched.rule;
    return {
      ...what,
      action: 'allow',
      why: describeRule(matched.rule),
      byRule: true,
      ...(net === undefined ? {} : { network: net }),
      ...(free === undefined ? {} : { unsandboxed: free }),
    };
  }
  const target = cdTarget(part);
  if (typeof target === 'string' && staysInside(target, context))
    return { ...what, action: 'allow', why: 'it stays in the workspace', byRule: true };
  const doubts = part.doubts.length > 0 ? ` (${part.doubts.join('; ')})` : '';
  if (context.mode === 'ask') return { ...what, action: 'ask', why: `no rule allows ${JSON.stringify(part.text)}${doubts}`, remember };
  if (isConfined(context)) return { ...what, action: 'allow', why: `the mode ${context.mode} allows it in the sandbox` };
  return { ...what, action: 'ask', why: `the mode ${context.mode} allows it in a sandbox only`, remember };
}

function staysInside(target: string, { cwd, roots, bases }: CallContext): boolean {
  const real = toRealPath(toAbsolute(target, cwd, bases.home));
  return real !== undefined && roots.some((root) => isBelow(real, root));
}

function rememberPart(part: CommandPart, tool: string, extras: { network: boolean; unsandboxed: boolean }): Rule | undefined {
  const words = exactWords(part);
  const namedPaths = pathsInWords(part);
  if (!words || !part.writes.every((path) => path !== null && namedPaths.has(path))) return undefined;
  return {
    tool,
    action: 'allow',
    command: quoteWords(words),
    exact: true,
    ...(extras.network ? { network: true } : {}),
    ...(extras.unsandboxed ? { unsandboxed: true } : {}),
  };
}

/** Network access and leaving the sandbox need a rule that grants them, or an approval. */
function judgeExtras({ network, unsandboxed }: Command, parts: readonly Judged[], { settings, mode }: CallContext): Judged[] {
  if (settings.noSandbox !== undefined) return [];
  const commands = parts.filter(({ of }) => of === 'command');
  const namedPaths = (extra: 'network' | 'unsandboxed', why: string): Judged[] =>
    commands.every((part) => part[extra] === true) ? [] : [{ of: 'wish', text: extra, action: 'ask', why }];
  return [
    ...(unsandboxed ? namedPaths('unsandboxed', 'it wants to run outside the sandbox') : []),
    ...(network && !unsandboxed && !settings.network && mode !== 'full' ? namedPaths('network', 'it wants the network') : []),
  ];
}
