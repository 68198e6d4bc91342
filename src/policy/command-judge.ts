import { existsSync } from 'node:fs';
import { normalize } from 'node:path';
import { limits } from '../protocol/limits.js';
import type { Access } from '../tools/port.js';
import { createGlob, isGlob } from './globs.js';
import { allowedWrites, judgePath, sayWhy, type Case, type Judged } from './path-judge.js';
import { needsNetwork } from './network-commands.js';
import type { Rule } from './port.js';
import { isBelow, isTooLong, toAbsolute, toRealPath } from './real-paths.js';
import { createPathRules, ruleThatMayApply, rulesForPart } from './rules.js';
import { cdTarget, exactWords, parseCommand, type CommandPart } from './shell/command.js';
import { quoteWords } from './shell/quote.js';

type Command = Extract<Access, { kind: 'command' }>;

/** Judges every simple command of a shell text, and what it wants beside. */
export function judgeCommand(command: Command, now: Case): Judged[] {
  if (!existsSync(now.bases.workspace)) {
    return [{ of: 'command', text: command.command, action: 'deny', why: `the session's directory ${now.cwd} is gone`, byRule: true }];
  }
  const parsed = parseCommand(command.command, now.bases.workspace);
  if ('unclear' in parsed)
    return [{ of: 'command', text: command.command, action: 'ask', why: `it cannot be read: ${parsed.unclear}`, byRule: true }];
  const parts = parsed.parts.flatMap((part) => judgePart(part, command, now));
  if (parts.length === 0)
    parts.push({ of: 'command', text: command.command, action: 'ask', why: 'there is no command in it', byRule: true });
  return [...parts, ...judgeWishes(command, parts, now)];
}

function judgePart(part: CommandPart, command: Command, now: Case): Judged[] {
  const there = part.cwd === undefined ? now : { ...now, cwd: toAbsolute(part.cwd, now.cwd, now.bases.home) };
  const reads = judgeReads(part, there);
  if (reads?.action === 'deny') return [reads];
  const own = judgeWords(part, command, there);
  // A person's yes to something else may still take it out of the sandbox, but then with all of it before their eyes.
  const stays = isConfined(now) && !command.unsandboxed && own.unsandboxed !== true;
  return [needsNetwork(part) ? { ...own, needsNetwork: true } : own, ...(reads ? [reads] : []), ...judgeWrites(part, own, stays, there)];
}

/** What is the same for all that a command writes. */
interface Writing {
  own: Judged;
  named: ReadonlySet<string>;
  /** It runs in a sandbox, as far as it is for this command. */
  stays: boolean;
  /** What of the machine, or of people, lies in the real /tmp. */
  inTmp: string[];
}

function judgeWrites(part: CommandPart, own: Judged, stays: boolean, now: Case): Judged[] {
  const writes = [...new Set(part.writes)];
  if (writes.length > limits.shellPathsMax)
    return [{ of: 'path', text: part.text, action: 'ask', why: `it writes more than ${limits.shellPathsMax} files`, byRule: true }];
  if (writes.length === 0) return [];
  const writing = { own, named: namedBy(part), stays, inTmp: stays ? realInTmp(now) : [] };
  return writes.flatMap((path) => judgeWrite(path, writing, now));
}

/** Writes are judged by where they lead, whatever the words are allowed. */
function judgeWrite(path: string | null, { own, named, stays, inTmp }: Writing, now: Case): Judged[] {
  const writesFreely = now.mode === 'auto_edit' || now.mode === 'full';
  if (path === null) {
    // In a sandbox it can only be the workspace; that is for who lets the workspace be written.
    if (own.action === 'allow' && stays && writesFreely) return [];
    return [{ of: 'path', text: 'write to a place that is computed', action: 'ask', why: 'where it writes is known only when it runs' }];
  }
  const isOwn = stays && isPrivate(path, inTmp, now);
  const { remember: _, ...judged } = judgePath('write', path, isOwn ? besideOwn(now) : now);
  // It is not there outside of a sandbox either.
  if (isTooLong(toAbsolute(path, now.cwd, now.bases.home))) return [judged];
  if (judged.action === 'ask' && judged.byRule !== true && isOwn) return writesFreely ? [] : [judged];
  // In the workspace, who allows `rm x` has allowed that x is removed. A redirection is not among a rule's words.
  const isMild = judged.action === 'ask' && judged.byRule !== true && staysInside(path, now);
  if (isMild && named.has(path)) return own.action === 'deny' ? [judged] : [];
  return [isAskedAnyway(judged, now) ? { ...judged, unsandboxed: true } : judged];
}

/** In a sandbox /tmp is the command's own, and gone with it, but for what is real there. */
function isPrivate(path: string, inTmp: readonly string[], { cwd, bases }: Case): boolean {
  const real = toRealPath(toAbsolute(path, cwd, bases.home));
  if (real === undefined || !isBelow(real, privateDir)) return false;
  return inTmp.every((place) => place !== privateDir && real !== privateDir && topOf(place) !== topOf(real));
}

/**
 * What of the machine is mounted in the /tmp of a sandbox, and the home directory and berth's own: whoever names something that lies in
 * one directory of /tmp with these means the real one.
 */
function realInTmp(now: Case): string[] {
  const { roots, bases, guarded } = now;
  const own = guarded.own.filter((dir) => dir !== privateDir);
  return [...roots, ...allowedWrites(now), bases.workspace, bases.home, ...own].filter((place) => isBelow(place, privateDir));
}

const privateDir = '/tmp';

/** The first name below /tmp. */
function topOf(path: string): string | undefined {
  return path.split('/')[2];
}

/** The /tmp that berth's socket lies in is not that of a sandbox. */
function besideOwn(now: Case): Case {
  return { ...now, guarded: { ...now.guarded, own: now.guarded.own.filter((dir) => !isBelow(privateDir, dir)) } };
}

/** What stands among the words of a command, whole or after a `=`. */
function namedBy({ words }: CommandPart): Set<string> {
  const named = new Set<string>();
  for (const word of words) {
    let rest = word ?? '';
    named.add(rest);
    for (let i = 0; i < limits.shellReadsMax && rest.includes('='); i++) {
      rest = rest.slice(rest.indexOf('=') + 1);
      named.add(rest);
    }
  }
  return named;
}

/** A write that leaves what a sandbox gives: when it is approved, it is approved with this. */
function isAskedAnyway(judged: Judged, { roots, cwd, bases }: Case): boolean {
  if (judged.action !== 'ask') return false;
  const real = toRealPath(toAbsolute(judged.text.slice('write '.length), cwd, bases.home));
  return judged.byRule === true || real === undefined || !roots.some((root) => isBelow(real, root));
}

function isConfined({ settings }: Case): boolean {
  return settings.noSandbox === undefined;
}

/** A path that may not be read is not read by a command either, as far as its words tell. Undefined when there is nothing to say. */
function judgeReads({ reads, text }: CommandPart, now: Case): Judged | undefined {
  const denying = now.rules.filter(({ action, path }) => action === 'deny' && path !== undefined);
  if (denying.length === 0) return undefined;
  const what = { of: 'path', text, byRule: true } as const;
  if (reads.length > limits.shellPathsMax) return { ...what, action: 'ask', why: `it names more than ${limits.shellPathsMax} files` };
  const rulesFor = createPathRules(denying, ['read', now.toolName], now.bases);
  const absolutes = reads.map((path) => ({ path, absolute: toAbsolute(path, now.cwd, now.bases.home) }));
  for (const { path, absolute } of absolutes) {
    if (isTooLong(absolute)) continue;
    const forms = { names: [path, normalize(absolute)], real: toRealPath(absolute) ?? absolute };
    const matched = rulesFor({ ...forms, names: [...forms.names, ...namedByGlob(absolute, denying, now)] });
    if (matched) return { ...what, action: 'deny', why: sayWhy(matched.rule) };
  }
  const tooLong = absolutes.some(({ absolute }) => isTooLong(absolute));
  return tooLong ? { ...what, action: 'ask', why: 'a path in it is longer than any can be' } : undefined;
}

/** Denied paths that a glob among a command's words may stand for. */
function namedByGlob(absolute: string, denying: Case['rules'], { bases }: Case): string[] {
  if (!/[*?[{]/.test(absolute)) return [];
  const { matches } = createGlob(normalize(absolute).replaceAll(/\[[^\]]*\]|\{[^}]*(,|\.\.)[^}]*\}/g, '*'), { slashes: true });
  return denying.flatMap(({ path = '' }) => {
    const meant = isGlob(path) ? '' : normalize(toAbsolute(path, bases.workspace, bases.home));
    return meant !== '' && matches(meant) ? [meant] : [];
  });
}

function judgeWords(part: CommandPart, { network, unsandboxed }: Command, now: Case): Judged {
  const what = { of: 'command', text: part.text } as const;
  const matched = rulesForPart(now.rules, now.toolName, part);
  const remember = rememberPart(part, now.toolName, { network, unsandboxed });
  if (matched?.action === 'deny') return { ...what, action: 'deny', why: sayWhy(matched.rule), byRule: true };
  if (matched?.action === 'ask') return { ...what, action: 'ask', why: sayWhy(matched.rule), byRule: true };
  const possible = ruleThatMayApply(now.rules, now.toolName, part);
  if (possible) {
    const why = `what it runs is known only when it runs, and may be what a rule is about (${sayWhy(possible)})`;
    return { ...what, action: 'ask', why, byRule: true };
  }
  if (matched) {
    const { network: net, unsandboxed: free } = matched.rule;
    return {
      ...what,
      action: 'allow',
      why: sayWhy(matched.rule),
      byRule: true,
      ...(net === undefined ? {} : { network: net }),
      ...(free === undefined ? {} : { unsandboxed: free }),
    };
  }
  const target = cdTarget(part);
  if (typeof target === 'string' && staysInside(target, now))
    return { ...what, action: 'allow', why: 'it stays in the workspace', byRule: true };
  const doubts = part.doubts.length > 0 ? ` (${part.doubts.join('; ')})` : '';
  if (now.mode === 'ask') return { ...what, action: 'ask', why: `no rule allows ${JSON.stringify(part.text)}${doubts}`, remember };
  if (isConfined(now)) return { ...what, action: 'allow', why: `the mode ${now.mode} allows it in the sandbox` };
  return { ...what, action: 'ask', why: `the mode ${now.mode} allows it in a sandbox only`, remember };
}

function staysInside(target: string, { cwd, roots, bases }: Case): boolean {
  const real = toRealPath(toAbsolute(target, cwd, bases.home));
  return real !== undefined && roots.some((root) => isBelow(real, root));
}

function rememberPart(part: CommandPart, tool: string, wishes: { network: boolean; unsandboxed: boolean }): Rule | undefined {
  const words = exactWords(part);
  const named = namedBy(part);
  if (!words || !part.writes.every((path) => path !== null && named.has(path))) return undefined;
  return {
    tool,
    action: 'allow',
    command: quoteWords(words),
    exact: true,
    ...(wishes.network ? { network: true } : {}),
    ...(wishes.unsandboxed ? { unsandboxed: true } : {}),
  };
}

/** The network, and leaving the sandbox, are given by a rule that says so or by a person. */
function judgeWishes({ network, unsandboxed }: Command, parts: readonly Judged[], { settings, mode }: Case): Judged[] {
  if (settings.noSandbox !== undefined) return [];
  const commands = parts.filter(({ of }) => of === 'command');
  const named = (wish: 'network' | 'unsandboxed', why: string): Judged[] =>
    commands.every((part) => part[wish] === true) ? [] : [{ of: 'wish', text: wish, action: 'ask', why }];
  return [
    ...(unsandboxed ? named('unsandboxed', 'it wants to run outside the sandbox') : []),
    ...(network && !unsandboxed && !settings.network && mode !== 'full' ? named('network', 'it wants the network') : []),
  ];
}
