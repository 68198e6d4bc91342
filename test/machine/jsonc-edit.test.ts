import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { removeFromJsonc, setInJsonc } from '../../src/machine/config/jsonc-edit.js';
import { JsoncInvalid } from '../../src/machine/config/jsonc-tree.js';
import { parseJsonc } from '../../src/machine/jsonc.js';

const text = `// mine
{
  "model": "a/b", // why
  /* what it may do */
  "permissions": {
    "mode": "ask", // careful
    "rules": [{ "tool": "bash" }],
  },
  "limits": { "model_attempts": 3 }
  // the end
}
`;

describe('a key is set', () => {
  test.each<[string, string[], unknown, string, string]>([
    ['in its place', ['permissions', 'mode'], 'full', '"mode": "ask"', '"mode": "full"'],
    [
      'behind the last one, with a comma as the others have',
      ['permissions', 'when_detached'],
      'deny',
      '}],\n',
      '}],\n    "when_detached": "deny",\n',
    ],
    ['on the line of the others', ['limits', 'runs_at_once'], 2, '3 }\n', '3, "runs_at_once": 2 }\n'],
    [
      'with the objects that lead to it',
      ['sandbox', 'network'],
      true,
      '3 }\n  // the end\n',
      '3 },\n  // the end\n  "sandbox": {\n    "network": true\n  }\n',
    ],
    ['in a list', ['permissions', 'rules', '1'], { tool: 'x' }, '"bash" }],', '"bash" }, {\n      "tool": "x"\n    }],'],
  ])('%s', (_, path, value, before, after) => {
    expect(setInJsonc(text, path, value)).toBe(text.replace(before, after));
  });

  test('in a text that is empty, or has only comments in its object', () => {
    expect(setInJsonc('', ['a', 'b'], 1)).toBe('{\n  "a": {\n    "b": 1\n  }\n}\n');
    expect(setInJsonc('{}', ['a'], 1)).toBe('{\n  "a": 1\n}');
    expect(setInJsonc('{\n  // nothing yet\n}\n', ['a'], 1)).toBe('{\n  // nothing yet\n  "a": 1\n}\n');
    expect(setInJsonc('\uFEFF{\r\n  "a": 1\r\n}\r\n', ['b'], 1)).toBe('\uFEFF{\r\n  "a": 1,\r\n  "b": 1\r\n}\r\n');
  });

  test('and a text that is not JSON is refused', () => {
    expect(() => setInJsonc('{ "a": }', ['a'], 1)).toThrow(JsoncInvalid);
  });
});

test('a key is removed with its line, and comments stay', () => {
  expect(removeFromJsonc(text, ['permissions', 'rules'])).toBe(text.replace('    "rules": [{ "tool": "bash" }],\n', ''));
  expect(removeFromJsonc(text, ['model'])).toBe(text.replace('"model": "a/b", // why', '// why'));
  expect(removeFromJsonc(text, ['limits'])).toBe(text.replace('  },\n  "limits": { "model_attempts": 3 }\n', '  }\n'));
  expect(removeFromJsonc('{"a":1,"b":2,"a":3}', ['a'])).toBe('{"b":2}');
  expect(removeFromJsonc(text, ['thinking'])).toBeUndefined();
});

const keys = fc.constantFrom('a', 'b', 'c', 'd"e');
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 3 }),
  ),
})).value;
const comment = fc.constantFrom('', ' ', '\n', ' // "x": {\n', '/* , } */', '\t');

/** JSON with comments, blanks and trailing commas wherever they may be. */
function write(of: unknown, notes: string[]): string {
  let at = 0;
  const note = (): string => notes[at++ % notes.length] ?? '';
  function member(inner: unknown): string {
    if (typeof inner !== 'object' || inner === null) return JSON.stringify(inner);
    const isList = Array.isArray(inner);
    const parts = Object.entries(inner).map(
      ([key, value]) => `${note()}${isList ? '' : `${JSON.stringify(key)}${note()}:${note()}`}${member(value)}${note()}`,
    );
    const comma = parts.length > 0 && at % 2 === 0 ? ',' : '';
    return `${isList ? '[' : '{'}${parts.join(',')}${comma}${note()}${isList ? ']' : '}'}`;
  }
  return `${note()}${member(of)}${note()}`;
}

test('whatever the text looks like, what is set is read back, all else is as before, and no comment is lost', () => {
  const object = fc.dictionary(keys, value, { maxKeys: 4 });
  fc.assert(
    fc.property(object, fc.array(comment, { minLength: 1, maxLength: 7 }), keys, value, (before, notes, key, added) => {
      const text = write(before, notes);
      const comments = (of: string) => of.split(/\/\/ "x": \{|\/\* , \} \*\//).length;
      const set = setInJsonc(text, [key], added);
      expect(parseJsonc(set, 'set')).toEqual({ ...before, [key]: JSON.parse(JSON.stringify(added)) });
      if (!Object.hasOwn(before, key)) expect(comments(set)).toBe(comments(text) + comments(JSON.stringify(added)) - 1);
      const { [key]: _removed, ...rest } = before;
      const removed = removeFromJsonc(set, [key]);
      expect(parseJsonc(removed ?? '', 'removed')).toEqual(rest);
    }),
    { numRuns: 300 },
  );
});
