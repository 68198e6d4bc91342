import {
  forEachChild,
  type Command,
  type CommandNode,
  type CompoundList,
  type ParsedScript,
  type PipelineNode,
  type AndOr,
  type Statement,
  type SyntaxNode,
  type Redirection,
  type Word,
} from 'unbash';
import { limits } from '../../protocol/limits.js';
import { afterCd, isChanged, joined, unknownDirectory, type WorkingDirectory } from './working-directory.js';
import { strangeExpansion, testDoubts, testWords } from './expansions.js';
import { readRedirections, type RedirectionEffects } from './redirections.js';
import { checkBetween, Unclear, type Span } from './unreadable.js';
import { plainWord, readWord, unknownWord, type ShellWord } from './words.js';

/** A simple command of the syntax tree, before its program is analysed. */
export interface SimpleCommand extends RedirectionEffects {
  words: ShellWord[];
  text: string;
  directory: WorkingDirectory;
}

/** Collects every simple command of a syntax tree, in source order. */
export function walkScript(script: ParsedScript, source: string, directory: WorkingDirectory, depth: number): SimpleCommand[] {
  if (depth > limits.shellDepthMax) throw new Unclear('it is nested too deeply');
  const [error] = script.errors ?? [];
  if (error) throw new Unclear(error.message);
  const own = script.source ?? source;
  const found: SimpleCommand[] = [];
  const spans: Span[] = [];

  function emit(words: ShellWord[], node: Span, at: WorkingDirectory, effects?: Partial<RedirectionEffects>): void {
    found.push({
      words,
      text: own.slice(node.pos, node.end),
      directory: at,
      doubts: [],
      writes: [],
      reads: [],
      stdin: undefined,
      ...effects,
    });
    if (found.length > limits.shellPartsMax) throw new Unclear(`it has more than ${limits.shellPartsMax} parts`);
  }

  /** Marks a node as understood, and collects the commands nested in it. */
  function cover(node: SyntaxNode & Span, at: WorkingDirectory): void {
    spans.push({ pos: node.pos, end: node.end });
    nested(node, at);
  }

  function nested(node: SyntaxNode, at: WorkingDirectory): void {
    if (node.type === 'Script') {
      found.push(...walkScript(node, own, at, depth + 1));
      if (found.length > limits.shellPartsMax) throw new Unclear(`it has more than ${limits.shellPartsMax} parts`);
      return;
    }
    if (
      (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution' || node.type === 'ArithmeticCommandExpansion') &&
      !node.script
    )
      throw new Unclear(`${node.text} is not understood`);
    if (node.type === 'HereDoc') {
      spans.push({ pos: node.body.pos, end: node.body.end });
      if (node.closing) spans.push(node.closing);
      else throw new Unclear('a here-document does not end');
    }
    forEachChild(node, (child) => nested(child, at));
  }

  /** A word outside of a simple command: in a loop, a case or a test. */
  function wordOutsideCommand(word: SyntaxNode & Span, at: WorkingDirectory): void {
    cover(word, at);
    const why = strangeExpansion(word);
    if (why !== undefined) emit([], word, at, { doubts: [why] });
  }

  function list(statements: readonly Statement[], start: WorkingDirectory): WorkingDirectory {
    let at = start;
    for (const one of statements) {
      const after = statement(one, at);
      if (isChanged(at, after)) at = after.firm ? { dir: after.dir, sure: after.sure } : unknownDirectory;
    }
    return at;
  }

  function statement({ command, background }: Statement, at: WorkingDirectory): WorkingDirectory {
    const after = andOr(command, at);
    return background ? at : after;
  }

  function andOr(node: PipelineNode | AndOr, at: WorkingDirectory): WorkingDirectory {
    if (node.type !== 'AndOr') return pipeline(node, at);
    let now = at;
    let ended: WorkingDirectory | undefined;
    node.commands.forEach((command, i) => {
      if (i === 0 || node.operators[i - 1] === '&&') {
        now = pipeline(command, now);
        return;
      }
      // `cd x || exit`: the script goes on only in x.
      const leaves = i === node.commands.length - 1 && command.type === 'Command' && /^(exit|return)$/.test(command.name?.text ?? '');
      if (leaves && !node.operators.slice(0, -1).includes('||')) ended = { ...now, firm: true };
      now = isChanged(at, now) ? unknownDirectory : now;
      const after = pipeline(command, now);
      now = isChanged(now, after) ? unknownDirectory : after;
    });
    return ended ?? now;
  }

  function pipeline(node: PipelineNode, at: WorkingDirectory): WorkingDirectory {
    if (node.type !== 'Pipeline') return commandNode(node, at);
    for (const prefix of node.prefixes) spans.push(prefix);
    const [only, ...more] = node.commands;
    if (only && more.length === 0) {
      const after = commandNode(only, at);
      return isChanged(at, after) && node.prefixes.some(({ type }) => type === 'Negation') ? unknownDirectory : after;
    }
    for (const command of node.commands) commandNode(command, at);
    return at;
  }

  function simple(node: Command, at: WorkingDirectory): WorkingDirectory {
    for (const child of [...node.prefix, ...(node.name ? [node.name] : []), ...node.suffix]) cover(child, at);
    const effects = readRedirections(node.redirects);
    if (node.prefix.some(({ type }) => type === 'Assignment')) effects.doubts.push('it sets a variable');
    if (!node.name && effects.doubts.length === 0) effects.doubts.push('it is a redirection without a command');
    const words = node.name ? [...readWord(node.name), ...node.args.flatMap(readArgument)] : [];
    emit(words, node, at, effects);
    return node.name ? afterCd(words, at) : at;
  }

  function readArgument(argument: Command['args'][number]): ShellWord[] {
    if (argument.type === 'Word') return readWord(argument);
    const value = argument.value.type === 'Word' && !argument.index ? (readWord(argument.value)[0]?.value ?? null) : null;
    return [
      value === null ? { ...unknownWord, guess: argument.text } : plainWord(`${argument.name}${argument.append ? '+' : ''}=${value}`),
    ];
  }

  function body(statements: readonly Statement[], at: WorkingDirectory): WorkingDirectory {
    const before = { found: found.length, spans: spans.length };
    if (!isChanged(at, list(statements, at))) return at;
    if (at.sure) {
      // The second iteration of a loop begins in the directory where the first one ended.
      found.length = before.found;
      spans.length = before.spans;
      list(statements, unknownDirectory);
    }
    return unknownDirectory;
  }

  function redirected(redirects: readonly Redirection[], first: number, node: Span, at: WorkingDirectory): void {
    for (const redirect of redirects) cover(redirect, at);
    const effects = readRedirections(redirects);
    if (effects.writes.length + effects.reads.length + effects.doubts.length === 0) return;
    const part = found[first];
    if (!part) return emit([], node, at, { ...effects, doubts: [...effects.doubts, 'it is a redirection without a command'] });
    part.writes.push(...effects.writes);
    part.reads.push(...effects.reads);
    part.doubts.push(...effects.doubts);
  }

  function loop(name: Word, words: readonly Word[] | undefined, node: Span, at: WorkingDirectory): void {
    spans.push(name);
    // A loop variable such as PATH would change which program a name means.
    if (!/^[a-z][a-z0-9]*$/.test(name.text)) emit([], node, at, { doubts: [`it sets the variable ${name.text}`] });
    for (const word of words ?? []) wordOutsideCommand(word, at);
  }

  function bodyOf(node: CommandNode | CompoundList, at: WorkingDirectory): void {
    if (node.type === 'CompoundList') throw new Unclear('it has a body that is not understood');
    commandNode(node, at);
  }

  function commandNode(node: CommandNode, at: WorkingDirectory): WorkingDirectory {
    const first = found.length;
    switch (node.type) {
      case 'Command':
        return simple(node, at);
      case 'Redirected': {
        const after = commandNode(node.command, at);
        redirected(node.redirects, first, node, at);
        return after;
      }
      case 'Subshell':
        list(node.body.commands, at);
        return at;
      case 'BraceGroup':
        return list(node.body.commands, at);
      case 'If': {
        let now = at;
        for (const { clause, then } of [node, ...node.elif]) {
          now = list(clause.commands, now);
          now = joined(now, list(then.commands, now));
        }
        return node.else ? joined(now, list(node.else.commands, now)) : now;
      }
      case 'While':
        return body([...node.clause.commands, ...node.body.commands], at);
      case 'For':
      case 'Select':
        loop(node.name, node.wordlist, node, at);
        if (node.type === 'Select') emit([], node, at, { doubts: ['it asks for a choice'] });
        return body(node.body.commands, at);
      case 'ArithmeticFor':
        for (const part of [node.initialize, node.test, node.update]) if (part) cover(part, at);
        emit([], node, at, { doubts: ['it computes with variables'] });
        return body(node.body.commands, at);
      case 'Case': {
        wordOutsideCommand(node.word, at);
        let now = at;
        for (const item of node.items) {
          for (const pattern of item.pattern) wordOutsideCommand(pattern, at);
          now = joined(now, list(item.body.commands, now));
        }
        return now;
      }
      case 'Function':
        spans.push(node.name);
        emit([], node, at, { doubts: [`it defines the function ${node.name.text}`] });
        bodyOf(node.body, unknownDirectory);
        return at;
      case 'Coproc':
        if (node.name) spans.push(node.name);
        emit([], node, at, { doubts: ['it starts a coprocess'] });
        bodyOf(node.body, at);
        return at;
      case 'TestCommand':
        cover(node, at);
        emit([plainWord('test'), ...testWords(node)], node, at, { doubts: testDoubts(node) });
        return at;
      case 'ArithmeticCommand':
        cover(node, at);
        emit([plainWord('let'), unknownWord], node, at);
        return at;
    }
  }

  list(script.commands, directory);
  checkBetween(own, script, spans);
  return found;
}
