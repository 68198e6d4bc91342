import type { Tone } from '../rows/row.js';

/** How a language looks: what may span lines, and what is tried in turn at each place of a line. */
export interface Language {
  readonly names: readonly string[];
  /** Comments and strings that may go on over several lines. */
  readonly blocks?: readonly Block[];
  /** Pieces of a line, as sources of regular expressions that take linear time. */
  readonly rules: readonly (readonly [Tone, string])[];
  readonly keywords?: string;
  readonly ignoresCase?: boolean;
  /** A word in front of a parenthesis is the name of a function. */
  readonly hasCalls?: boolean;
}

export interface Block {
  readonly open: string;
  readonly close: string;
  readonly tone: Tone;
  /** A backslash takes the character after it along. */
  readonly escapes?: boolean;
}

type Rule = readonly [Tone, string];

const slashComment: Rule = ['comment', String.raw`//.*`];
const hashComment: Rule = ['comment', String.raw`(?<!\S)#.*`];
const doubleQuoted: Rule = ['string', String.raw`"(?:[^"\\]|\\.)*(?:"|\\?$)`];
const singleQuoted: Rule = ['string', String.raw`'(?:[^'\\]|\\.)*(?:'|\\?$)`];
const number: Rule = ['number', String.raw`(?<![\p{L}\p{N}_$])(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:e[+-]?\d+)?)[a-z%]*`];
const slashBlock: Block = { open: '/*', close: '*/', tone: 'comment' };

const c = { blocks: [slashBlock], hasCalls: true } as const;
const cRules: readonly Rule[] = [slashComment, doubleQuoted, singleQuoted, number];

export const languages: readonly Language[] = [
  {
    ...c,
    names: ['ts', 'typescript', 'js', 'javascript', 'tsx', 'jsx', 'mjs', 'cjs', 'mts', 'cts'],
    blocks: [slashBlock, { open: '`', close: '`', tone: 'string', escapes: true }],
    rules: [...cRules, ['name', String.raw`@[\p{L}_][\p{L}\p{N}_]*`]],
    keywords:
      'abstract any as asserts async await boolean break case catch class const constructor continue declare default delete do else enum export extends ' +
      'false finally for from function get if implements import in infer instanceof interface is keyof let namespace never new null number object of ' +
      'override private protected public readonly return satisfies set static string super switch symbol this throw true try type typeof undefined ' +
      'unknown using var void while with yield',
  },
  {
    names: ['json', 'jsonc', 'json5', 'jsonl', 'ndjson'],
    blocks: [slashBlock],
    rules: [['name', String.raw`"(?:[^"\\]|\\.)*"(?=\s*:)`], doubleQuoted, slashComment, number],
    keywords: 'true false null',
  },
  {
    names: ['py', 'python', 'python3', 'pyi'],
    blocks: [
      { open: '"""', close: '"""', tone: 'string', escapes: true },
      { open: "'''", close: "'''", tone: 'string', escapes: true },
    ],
    rules: [['comment', '#.*'], doubleQuoted, singleQuoted, number, ['name', String.raw`@[\p{L}_][\p{L}\p{N}_.]*`]],
    hasCalls: true,
    keywords:
      'and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None ' +
      'nonlocal not or pass raise return self True try type while with yield',
  },
  {
    ...c,
    names: ['go', 'golang'],
    blocks: [slashBlock, { open: '`', close: '`', tone: 'string' }],
    rules: cRules,
    keywords:
      'any bool break byte case chan const continue default defer else error fallthrough false float32 float64 for func go goto if import int int32 ' +
      'int64 interface iota map nil package range return rune select string struct switch true type uint uint32 uint64 uint8 var',
  },
  {
    ...c,
    names: ['rs', 'rust'],
    // A single quote also begins a lifetime.
    rules: [
      slashComment,
      doubleQuoted,
      ['string', String.raw`'(?:[^'\\]|\\.[^']{0,8})'`],
      ['name', String.raw`'[\p{L}_]+|\p{L}+!`],
      number,
    ],
    keywords:
      'as async await bool break char const continue crate dyn else enum extern f32 f64 false fn for i32 i64 i8 if impl in let loop match mod move mut ' +
      'pub ref return self Self static str struct super trait true type u16 u32 u64 u8 unsafe use usize where while',
  },
  {
    ...c,
    names: ['c', 'h', 'cpp', 'c++', 'cc', 'cxx', 'hpp', 'hh', 'objc', 'arduino'],
    rules: [['keyword', String.raw`^\s*#\s*\p{L}+`], ...cRules],
    keywords:
      'auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false final float for friend ' +
      'goto if inline int long mutable namespace new noexcept nullptr NULL operator override private protected public register return short signed ' +
      'sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while',
  },
  {
    ...c,
    names: ['java', 'kotlin', 'kt', 'kts', 'cs', 'csharp', 'scala', 'swift', 'dart'],
    blocks: [slashBlock, { open: '"""', close: '"""', tone: 'string' }],
    rules: [...cRules, ['name', String.raw`@\p{L}+`]],
    keywords:
      'abstract as assert async await bool boolean break byte case catch char class const continue data default do double else enum extends false final ' +
      'finally float for fun func get guard if implements import in init int interface internal is let long namespace native new nil null object ' +
      'override package private protected public record return sealed self set short static string struct super switch synchronized this throw throws ' +
      'true try typealias using val var void volatile when where while yield',
  },
  {
    names: ['rb', 'ruby', 'rake', 'gemfile'],
    blocks: [{ open: '=begin', close: '=end', tone: 'comment' }],
    rules: [
      hashComment,
      doubleQuoted,
      singleQuoted,
      ['name', String.raw`@{1,2}\p{L}[\p{L}\p{N}_]*|(?<![:\p{L}]):\p{L}[\p{L}\p{N}_]*[?!]?`],
      number,
    ],
    hasCalls: true,
    keywords:
      'alias and begin break case class def defined? do else elsif end ensure false for if in include module next nil not or private protected public ' +
      'raise redo require rescue retry return self super then true undef unless until when while yield',
  },
  {
    names: ['sh', 'bash', 'shell', 'zsh', 'fish', 'console', 'shellsession', 'dockerfile', 'makefile', 'make'],
    rules: [
      hashComment,
      doubleQuoted,
      ['string', String.raw`'[^']*(?:'|$)`],
      ['name', String.raw`\$(?:\{[^}]*\}?|[\p{L}_][\p{L}\p{N}_]*|[\d?#@*!$-])`],
      ['number', String.raw`(?<!\S)\d+(?!\S)`],
      ['keyword', String.raw`(?<!\S)--?\p{L}[\p{L}\p{N}-]*`],
    ],
    keywords:
      'alias break case cd continue declare do done echo elif else esac eval exec exit export fi for function if in local read return select set shift ' +
      'source sudo test then trap unset until while FROM RUN COPY ADD CMD ENTRYPOINT ENV ARG WORKDIR EXPOSE USER VOLUME',
  },
  {
    names: ['sql', 'sqlite', 'psql', 'postgres', 'postgresql', 'mysql'],
    blocks: [slashBlock],
    rules: [['comment', '--.*'], ['string', String.raw`'[^']*(?:'|$)`], ['name', '"[^"]*(?:"|$)'], number],
    hasCalls: true,
    ignoresCase: true,
    keywords:
      'add all alter and as asc autoincrement begin between blob boolean by cascade case check column commit constraint create cross default delete desc ' +
      'distinct drop else end except exists false foreign from full group having if in index inner insert int integer intersect into is join key left ' +
      'like limit not null offset on or order outer pragma primary real references replace returning right rollback select set table text then ' +
      'timestamp transaction trigger true union unique update using values varchar view when where with',
  },
  {
    names: ['yaml', 'yml'],
    rules: [
      hashComment,
      ['name', String.raw`^\s*(?:- +)*[\p{L}\p{N}_./-]+(?=:(?:\s|$))`],
      doubleQuoted,
      ['string', String.raw`(?<!\S)'[^']*(?:'|$)`],
      number,
    ],
    keywords: 'true false null yes no on off',
  },
  {
    names: ['toml', 'ini', 'cfg', 'conf', 'properties', 'env', 'dotenv', 'editorconfig'],
    blocks: [{ open: '"""', close: '"""', tone: 'string', escapes: true }],
    rules: [
      ['comment', String.raw`(?<!\S)[#;].*`],
      ['heading', String.raw`^\s*\[+[^\]]*\]*`],
      ['name', String.raw`^\s*[\p{L}\p{N}_."-]+(?=\s*=)`],
      doubleQuoted,
      ['string', String.raw`'[^']*(?:'|$)`],
      number,
    ],
    keywords: 'true false',
  },
  {
    names: ['html', 'xml', 'svg', 'vue', 'svelte', 'xhtml'],
    blocks: [{ open: '<!--', close: '-->', tone: 'comment' }],
    rules: [
      ['keyword', String.raw`</?[\p{L}!?][\p{L}\p{N}:.-]*|/?>`],
      ['name', String.raw`(?<=\s)[\p{L}@:_][\p{L}\p{N}:._-]*(?==)`],
      ['string', String.raw`(?<==)"[^"]*(?:"|$)|(?<==)'[^']*(?:'|$)`],
      ['number', String.raw`&[#\p{L}\p{N}]{1,10};`],
    ],
  },
  {
    names: ['css', 'scss', 'sass', 'less'],
    blocks: [slashBlock],
    rules: [
      ['comment', String.raw`(?<!\S)//.*`],
      doubleQuoted,
      singleQuoted,
      ['keyword', String.raw`@[\p{L}-]+|!important`],
      ['name', String.raw`(?<![\p{L}\p{N}-])--?[\p{L}\p{N}-]+|^\s*[\p{L}-]+(?=\s*:)`],
      ['number', String.raw`#[\da-f]{3,8}(?![\p{L}\p{N}])|(?<![\p{L}\p{N}_-])-?\d[\d.]*[a-z%]*`],
    ],
  },
  {
    names: ['diff', 'patch', 'udiff'],
    rules: [
      ['muted', String.raw`^(?:diff |index |--- |\+\+\+ ).*`],
      ['keyword', '^@@.*'],
      ['added', String.raw`^\+.*`],
      ['removed', '^-.*'],
    ],
  },
  {
    names: ['md', 'markdown', 'mdx'],
    rules: [
      ['heading', '^#{1,6} .*'],
      ['comment', '^>.*'],
      ['keyword', String.raw`^\s*(?:[-*+]|\d{1,9}[.)])(?= )|^\s*(?:\x60{3,}|~{3,}).*`],
      ['string', String.raw`\x60[^\x60]*\x60?`],
      ['link', String.raw`https?://[^\s)>]*`],
    ],
  },
];
