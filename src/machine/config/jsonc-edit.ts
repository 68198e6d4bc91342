import { memberOf, readJsoncTree, type JsoncNode } from './jsonc-tree.js';

const tuning = { indent: 2 } as const;

/** Sets the value at a path, and makes the objects that lead to it. Comments, order and all other text stay. Throws JsoncInvalid. */
export function setInJsonc(text: string, path: readonly string[], value: unknown): string {
  if (text.trim() === '') return `${print(nest(path, value), '', '\n')}\n`;
  let node = readJsoncTree(text);
  let depth = 0;
  for (; depth < path.length; depth++) {
    const member = memberOf(node, path[depth] ?? '');
    if (!member) break;
    node = member.value;
  }
  const rest = path.slice(depth);
  const eol = eolOf(text);
  if (rest.length === 0 || !node.members) {
    return splice(text, node.start, node.end, print(nest(rest, value), indentAt(text, node.start), eol));
  }
  return insert(text, node, rest, value, eol);
}

/** Removes a key; undefined when there is none. Comments stay. Throws JsoncInvalid. */
export function removeFromJsonc(text: string, path: readonly string[]): string | undefined {
  let left = text;
  for (;;) {
    const removed = removeOne(left, path);
    if (removed === undefined) return left === text ? undefined : left;
    // An earlier member with the same key would count now.
    left = removed;
    if (/^\d+$/.test(path.at(-1) ?? '')) return left;
  }
}

function removeOne(text: string, path: readonly string[]): string | undefined {
  let parent: JsoncNode | undefined = text.trim() === '' ? undefined : readJsoncTree(text);
  for (const part of path.slice(0, -1)) parent = memberOf(parent, part)?.value;
  const member = memberOf(parent, path.at(-1) ?? '');
  if (!parent?.members || !member) return undefined;
  const comma = commaAfter(text, member.value.end);
  const [from, to] = wholeLines(text, member.start, comma === undefined ? member.value.end : comma + 1);
  const left = splice(text, from, to, '');
  const before = parent.members[parent.members.indexOf(member) - 1];
  // The last member had no comma behind it, and the new last one needs none.
  const needless = comma === undefined && before ? commaAfter(text, before.value.end) : undefined;
  return needless === undefined ? left : splice(left, needless, needless + 1, '');
}

function insert(text: string, node: JsoncNode, [key = '', ...rest]: readonly string[], value: unknown, eol: string): string {
  const members = node.members ?? [];
  const isObject = text[node.start] === '{';
  const last = members.at(-1);
  const isOneLine = last !== undefined && !text.slice(node.start, node.end).includes('\n');
  const outer = indentAt(text, node.start);
  const inner = last && !isOneLine ? indentAt(text, members[0]?.start ?? 0) : outer + ' '.repeat(tuning.indent);
  const member = `${isObject ? `${JSON.stringify(key)}: ` : ''}${print(nest(rest, value), isOneLine ? outer : inner, eol)}`;
  const close = node.end - 1;
  const end = text.slice(0, close).trimEnd().length;
  if (!last) return splice(text, end, close, `${eol}${inner}${member}${eol}${outer}`);
  const comma = commaAfter(text, last.value.end);
  const added = isOneLine ? ` ${member}` : `${eol}${inner}${member}${comma === undefined ? '' : ','}`;
  const grown = splice(text, end, end, added);
  return comma === undefined ? splice(grown, last.value.end, last.value.end, ',') : grown;
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value);
}

function print(value: unknown, indent: string, eol: string): string {
  return JSON.stringify(value, undefined, tuning.indent).replaceAll('\n', `${eol}${indent}`);
}

function splice(text: string, start: number, end: number, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** The blanks at the beginning of the line that an offset is on. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** The comma that follows a value, behind blanks and comments. */
function commaAfter(text: string, end: number): number | undefined {
  const found = /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*,/.exec(text.slice(end));
  return found ? end + found[0].length - 1 : undefined;
}

/** Lines that would be empty go as a whole. */
function wholeLines(text: string, start: number, end: number): [number, number] {
  const before = /(^|\n)[ \t]*$/.exec(text.slice(0, start));
  const after = /^[ \t]*\r?(\n|$)/.exec(text.slice(end));
  if (before && after) return [start - (before[0].length - (before[1] ?? '').length), end + after[0].length];
  return [start, end + (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0)];
}
