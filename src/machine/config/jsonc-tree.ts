/** A value of a JSONC text and where it stands; offsets are those of JavaScript strings, `end` is exclusive. */
export interface JsoncNode {
  start: number;
  end: number;
  /** The members of an object or the elements of an array, whose keys are their indexes; undefined for other values. */
  members: JsoncMember[] | undefined;
}

export interface JsoncMember {
  key: string;
  /** Where the key begins; for an element of an array, where its value does. */
  start: number;
  value: JsoncNode;
}

/** A text is not JSON. */
export class JsoncInvalid extends Error {
  override name = 'JsoncInvalid';
  readonly offset: number;
  /** What is wrong, without the place. */
  readonly reason: string;
  constructor(message: string, { offset, reason, cause }: { offset: number; reason: string; cause?: unknown }) {
    super(message, { cause });
    this.offset = offset;
    this.reason = reason;
  }
}

const tuning = { depthMax: 100 } as const;
const blank = /(?:\s|\uFEFF|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y; // eslint-disable-line no-control-regex
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![^\s,:[\]{}"/])/y;

/** Reads where the values of a JSONC text stand. Throws JsoncInvalid at what is not JSON. */
export function readJsoncTree(text: string): JsoncNode {
  let at = 0;
  let depth = 0;

  function fail(reason: string): never {
    throw new JsoncInvalid(reason, { offset: at, reason });
  }

  function match(pattern: RegExp): string {
    pattern.lastIndex = at;
    const [found = ''] = pattern.exec(text) ?? [];
    at += found.length;
    return found;
  }

  function readValue(): JsoncNode {
    const start = at;
    const opened = text[at];
    if (opened === '{' || opened === '[') return { start, members: readMembers(opened === '{'), end: at };
    if (match(string) === '' && match(scalar) === '') fail(describe('a value', text, at));
    return { start, end: at, members: undefined };
  }

  function readKey(): string {
    const found = match(string);
    if (found === '') fail(describe('a key in double quotes', text, at));
    match(blank);
    if (text[at] !== ':') fail(describe('a colon', text, at));
    at++;
    match(blank);
    return JSON.parse(found) as string;
  }

  function readMembers(isObject: boolean): JsoncMember[] {
    if (++depth > tuning.depthMax) fail('it is nested too deeply');
    const close = isObject ? '}' : ']';
    const members: JsoncMember[] = [];
    do {
      at++;
      match(blank);
      if (text[at] === close) break;
      const start = at;
      const key = isObject ? readKey() : String(members.length);
      members.push({ key, start, value: readValue() });
      match(blank);
    } while (text[at] === ',');
    if (text[at] !== close) fail(describe(`a comma or ${close}`, text, at));
    at++;
    depth--;
    return members;
  }

  match(blank);
  const root = readValue();
  match(blank);
  if (at < text.length) fail(describe('nothing more', text, at));
  return root;
}

function describe(expected: string, text: string, at: number): string {
  const [found] = text.slice(at, at + 2);
  if (found === undefined) return `${expected} is missing at the end of the file`;
  if (found === '"') return `${expected} was expected, and not a text; or its closing quote is missing, or it has an unknown escape`;
  return `${expected} was expected, and not ${JSON.stringify(found)}`;
}

/** The last of several members with the same key: it counts when the text is parsed. */
export function memberOf(node: JsoncNode | undefined, key: string): JsoncMember | undefined {
  return node?.members?.findLast((member) => member.key === key);
}

/** Where a path begins: at its key, or at that of the innermost parent that there is. */
export function offsetOf(root: JsoncNode, path: readonly PropertyKey[]): number {
  let node = root;
  let offset = root.start;
  for (const part of path) {
    const member = memberOf(node, String(part));
    if (!member) break;
    offset = member.start;
    node = member.value;
  }
  return offset;
}

/** Line and column of an offset, both from 1. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
