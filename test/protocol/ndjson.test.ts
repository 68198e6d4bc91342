import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLineDecoder, type DecodedLine } from '../../src/protocol/ndjson.js';

const lineBytesMax = 4096;
const depthMax = 64;

function decode(...chunks: (string | Uint8Array)[]): DecodedLine[] {
  const decoder = createLineDecoder(lineBytesMax, depthMax);
  return chunks.flatMap((chunk) => decoder.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
}

function values(lines: DecodedLine[]): unknown[] {
  return lines.map((line) => (line.kind === 'json' ? line.value : line.kind));
}

describe('splitting', () => {
  const odd = { a: 'é', b: '€', c: '😀👩‍👩‍👧', d: '\u2028\u2029\u0085\u00a0\ufeff', e: '\\"\n\r\t\u0000\u001f', f: '\uffff\u{10ffff}' };
  const bytes = Buffer.from(`${JSON.stringify(odd)}\r\n{"next":1}\n`);

  test('a line cut in two at any byte is the same line', () => {
    for (let at = 0; at <= bytes.length; at++) {
      expect(values(decode(bytes.subarray(0, at), bytes.subarray(at)))).toEqual([odd, { next: 1 }]);
    }
  });

  test('a line cut in three at any two bytes is the same line', () => {
    const short = Buffer.from('{"t":"é€😀"}\n');
    for (let one = 0; one <= short.length; one++) {
      for (let two = one; two <= short.length; two++) {
        expect(values(decode(short.subarray(0, one), short.subarray(one, two), short.subarray(two)))).toEqual([{ t: 'é€😀' }]);
      }
    }
  });

  test('a byte at a time is the same as all at once', () => {
    const singles = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(decode(...singles)).toEqual(decode(bytes));
    expect(values(decode(...singles))).toEqual([odd, { next: 1 }]);
  });

  test('whatever the pieces, the same lines come out', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    fc.assert(
      fc.property(fc.array(fc.dictionary(text, text, { maxKeys: 4 }), { maxLength: 8 }), fc.array(fc.nat(60)), (objects, cuts) => {
        const plain = objects.map((object) => JSON.parse(JSON.stringify(object)) as Record<string, string>);
        for (const object of plain) Reflect.deleteProperty(object, '__proto__');
        const all = Buffer.from(plain.map((object) => `${JSON.stringify(object)}\n`).join(''));
        const chunks: Buffer[] = [];
        let from = 0;
        for (const cut of cuts) chunks.push(all.subarray(from, (from += cut)));
        chunks.push(all.subarray(from));
        expect(values(decode(...chunks))).toEqual(plain);
      }),
    );
  });

  test('only \\n ends a line: separators that others split at are text', () => {
    for (const separator of ['\u2028', '\u2029', '\u0085', '\u000b', '\u000c', '\r']) {
      const json = `{"t":${JSON.stringify(`a${separator}b`)}}`;
      expect(values(decode(`${json}\n`))).toEqual([{ t: `a${separator}b` }]);
    }
    expect(values(decode('{"t":"a\u2028b"}\n'))).toEqual([{ t: 'a\u2028b' }]);
  });

  test('CRLF is forgiven, blank lines are skipped, spaces around an object do not matter', () => {
    expect(values(decode('\n\r\n   \n\t\n{"a":1}\r\n  {"b":2}  \r\n\n'))).toEqual([{ a: 1 }, { b: 2 }]);
  });

  test('a \\r that comes in another piece than its \\n is forgiven too', () => {
    expect(values(decode('{"a":1}', '\r', '\n{"b":2}\r', '\n'))).toEqual([{ a: 1 }, { b: 2 }]);
  });

  test('a last line without its end is never handed out', () => {
    expect(decode('{"a":1}')).toEqual([]);
    expect(values(decode('{"a":1}\n{"b":'))).toEqual([{ a: 1 }]);
  });

  test('thousands of lines in one piece come in order', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({ i }));
    expect(values(decode(many.map((one) => `${JSON.stringify(one)}\n`).join('')))).toEqual(many);
  });
});

describe('bounds', () => {
  const lineOf = (length: number): string => `"${'x'.repeat(length - 2)}"`;

  test('a line of exactly the bound passes, whole or in pieces', () => {
    const line = Buffer.from(`${lineOf(lineBytesMax)}\n`);
    expect(decode(line)).toHaveLength(1);
    expect(decode(line)[0]?.kind).toBe('json');
    for (const at of [1, lineBytesMax - 1, lineBytesMax]) expect(decode(line.subarray(0, at), line.subarray(at))[0]?.kind).toBe('json');
  });

  test('one byte more is too long, with or without its end, whole or in pieces', () => {
    const line = Buffer.from(`${lineOf(lineBytesMax + 1)}\n`);
    expect(decode(line)).toEqual([{ kind: 'too_long' }]);
    expect(decode(line.subarray(0, lineBytesMax + 1))).toEqual([{ kind: 'too_long' }]);
    expect(decode(line.subarray(0, lineBytesMax))).toEqual([]);
    expect(decode(...[...line].map((byte) => Uint8Array.of(byte)))).toEqual([{ kind: 'too_long' }]);
  });

  test('bytes count, not characters', () => {
    const characters = Math.floor((lineBytesMax - 2) / 3);
    expect(decode(`"${'€'.repeat(characters)}"\n`)[0]?.kind).toBe('json');
    expect(decode(`"${'€'.repeat(characters + 1)}"\n`)).toEqual([{ kind: 'too_long' }]);
  });

  test('lines before the one that is too long are handed out, nothing after it is', () => {
    const decoder = createLineDecoder(lineBytesMax, depthMax);
    expect(values(decoder.push(Buffer.from(`{"a":1}\n${lineOf(lineBytesMax + 1)}\n{"b":2}\n`)))).toEqual([{ a: 1 }, 'too_long']);
    expect(decoder.push(Buffer.from('{"c":3}\n'))).toEqual([]);
    expect(decoder.push(Buffer.from('x'.repeat(lineBytesMax * 3)))).toEqual([]);
  });

  test('an endless line costs no more than the bound', () => {
    const decoder = createLineDecoder(lineBytesMax, depthMax);
    const piece = Buffer.alloc(1000, 'x');
    const before = process.memoryUsage().arrayBuffers;
    let lines: DecodedLine[] = [];
    for (let i = 0; i < 100_000; i++) lines = lines.concat(decoder.push(piece));
    expect(lines).toEqual([{ kind: 'too_long' }]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  });

  test('the bound holds for each line, not for their sum', () => {
    expect(decode(`${lineOf(lineBytesMax)}\n`.repeat(20)).map(({ kind }) => kind)).toEqual(Array(20).fill('json'));
  });
});

describe('nesting', () => {
  const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const objects = (depth: number): string => '{"a":'.repeat(depth - 1) + '{}' + '}'.repeat(depth - 1);

  test('nesting up to the bound passes, one deeper is malformed', () => {
    for (const nest of [arrays, objects]) {
      expect(decode(`${nest(depthMax)}\n`)[0]?.kind).toBe('json');
      expect(decode(`${nest(depthMax + 1)}\n`)[0]?.kind).toBe('malformed');
    }
  });

  test('a hundred thousand brackets are malformed and the decoder goes on', () => {
    const deep = createLineDecoder(4 * 1024 * 1024, depthMax);
    for (const text of ['['.repeat(100_000), arrays(100_000), '{"a":'.repeat(100_000), objects(100_000)]) {
      expect(deep.push(Buffer.from(`${text}\n`)).map(({ kind }) => kind)).toEqual(['malformed']);
    }
    expect(values(deep.push(Buffer.from('{"a":1}\n')))).toEqual([{ a: 1 }]);
  });

  test('a wide object is not a deep one', () => {
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, [{}]]));
    expect(values(decode(`${JSON.stringify(wide)}\n`))).toEqual([wide]);
  });
});

describe('members', () => {
  const membersMax = 5;
  const decodeFew = (line: string): DecodedLine[] => createLineDecoder(1024 * 1024, depthMax, membersMax).push(Buffer.from(`${line}\n`));

  test.each(['[1,2,3,4,5]', '{"a":1,"b":[1,2],"c":{"d":1}}', '[[],[],[],[],[]]', '[ 1 , 2 , 3 , 4 ,\t5 ]'])(
    '%s has as many as allowed',
    (line) => {
      expect(values(decodeFew(line))).toEqual([JSON.parse(line)]);
    },
  );

  test.each([
    '[1,2,3,4,5,6]',
    '{"a":1,"b":[1,2],"c":{"d":1},"e":[1,2]}',
    `{${Array.from({ length: 300 }, (_, i) => `"k${i}":1`).join(',')}}`,
  ])('%s has more, and the decoder goes on', (line) => {
    expect(decodeFew(`${line}\n{"a":1}`)).toEqual([
      { kind: 'malformed', reason: 'more than 5 members' },
      { kind: 'json', value: { a: 1 } },
    ]);
  });

  test('commas in strings are text, whatever is escaped before the quotes', () => {
    for (const text of [
      ',,,,,,,,',
      '",",",",",",",',
      '\\',
      '\\\\",,,,,,,,',
      ',,,,,,\\"',
      '\\,\\",\\\\",\\\\\\",,,,,,,',
      '\n","\u0000","',
    ]) {
      const line = JSON.stringify({ [text]: text, b: [text] });
      expect(values(decodeFew(line))).toEqual([{ [text]: text, b: [text] }]);
    }
  });

  test('any JSON is refused exactly when it has more', () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Math.max(0, Object.keys(value).length - 1) + Object.values(value).reduce((sum: number, child) => sum + count(child), 0)
        : 0;
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (line) => {
        const commas = count(JSON.parse(line));
        expect(decodeFew(line)[0]?.kind).toBe(commas + 1 > membersMax ? 'malformed' : 'json');
      }),
    );
  });
});

describe('what cannot be read', () => {
  test.each([
    ['a lone continuation byte', [0x80]],
    ['a start byte without its rest', [0xe2, 0x82]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
    ['a character past the last', [0xf4, 0x90, 0x80, 0x80]],
    ['a byte that UTF-8 does not have', [0xff]],
    ['UTF-16', [0x7b, 0x00, 0x7d, 0x00, 0xd8]],
  ])('%s is malformed, and the next line is read', (_, bad) => {
    const line = Buffer.concat([Buffer.from('{"t":"'), Buffer.from(bad), Buffer.from('"}\n{"ok":1}\n')]);
    expect(decode(line).map(({ kind }) => kind)).toEqual(['malformed', 'json']);
    for (let at = 0; at <= line.length; at++) {
      expect(decode(line.subarray(0, at), line.subarray(at)).map(({ kind }) => kind)).toEqual(['malformed', 'json']);
    }
  });

  test.each([
    '{"v":1,',
    '{',
    '}',
    'nonsense',
    "{'a':1}",
    '{"a":1}{"b":2}',
    '{"a":01}',
    '{"a":NaN}',
    '\u0000',
    '\ufeff{}',
    '{"a":"\u0001"}',
  ])('%j is malformed, and the next line is read', (bad) => {
    expect(decode(`${bad}\n{"ok":1}\n`).map(({ kind }) => kind)).toEqual(['malformed', 'json']);
  });

  test('lines that are JSON but no object are handed on: what they mean is for others to say', () => {
    expect(values(decode('null\n42\n"x"\n[]\ntrue\n'))).toEqual([null, 42, 'x', [], true]);
  });
});

describe('hostile keys', () => {
  test('__proto__ is dropped wherever it stands, and pollutes nothing', () => {
    const line = '{"__proto__":{"polluted":1},"a":{"__proto__":[{"polluted":2}],"b":[{"__proto__":null,"c":1}]}}\n';
    expect(values(decode(line))).toEqual([{ a: { b: [{ c: 1 }] } }]);
    const [read] = values(decode(line)) as [{ a: { b: object[] } }];
    for (const node of [read, read.a, ...read.a.b]) {
      expect(Object.hasOwn(node, '__proto__')).toBe(false);
      expect(Object.getPrototypeOf(node)).toBe(Object.prototype);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('other names of Object.prototype are plain data', () => {
    const line = '{"constructor":1,"toString":2,"hasOwnProperty":3,"valueOf":{"prototype":4}}\n';
    const [read] = values(decode(line)) as [Record<string, unknown>];
    expect(Object.entries(read)).toEqual([
      ['constructor', 1],
      ['toString', 2],
      ['hasOwnProperty', 3],
      ['valueOf', { prototype: 4 }],
    ]);
  });

  test('an escaped __proto__ is the same key', () => {
    expect(Object.keys(values(decode('{"\\u005f_proto__":{"polluted":1},"a":1}\n'))[0] as object)).toEqual(['a']);
  });
});
