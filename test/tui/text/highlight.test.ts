import { expect, test } from 'vitest';
import { highlightLine, noOpenBlock } from '../../../src/tui/text/highlight.js';
import { languages } from '../../../src/tui/text/languages.js';

/** The coloured pieces of code, as `tone:text`. */
function coloured(language: string, ...lines: string[]): string[] {
  let open = noOpenBlock;
  return lines.flatMap((line) => {
    const { spans, open: next } = highlightLine(line, language, open);
    open = next;
    return spans.flatMap(({ text, tone }) => (tone === undefined ? [] : [`${tone}:${text}`]));
  });
}

test.each<[string, string[], string[]]>([
  [
    'ts',
    ['const a = call("x", 0x1f) // why', 'let b = `one', "two ${c}` + 'it\\'s'; /* three", 'four */ return'],
    [
      ...['keyword:const', 'name:call', 'string:"x"', 'number:0x1f', 'comment:// why', 'keyword:let', 'string:`one', 'string:two ${c}`'],
      ...["string:'it\\'s'", 'comment:/* three', 'comment:four */', 'keyword:return'],
    ],
  ],
  [
    'json',
    ['{"key": "value", "n": -1.5e3, "t": true}'],
    ['name:"key"', 'string:"value"', 'name:"n"', 'number:1.5e3', 'name:"t"', 'keyword:true'],
  ],
  [
    'python',
    ['@cache', 'def f(x): # why', '    """doc', '    goes on"""', "    return 'y'"],
    ['name:@cache', 'keyword:def', 'name:f', 'comment:# why', 'string:"""doc', 'string:    goes on"""', 'keyword:return', "string:'y'"],
  ],
  ['go', ['func main() { s := `raw', '` }'], ['keyword:func', 'name:main', 'string:`raw', 'string:`']],
  [
    'rust',
    ["fn f<'a>(c: &'a str) { println!(\"{}\", 'x') }"],
    ['keyword:fn', "name:'a", "name:'a", 'keyword:str', 'name:println!', 'string:"{}"', "string:'x'"],
  ],
  ['c++', ['#include <x>', 'int main() { return 0; }'], ['keyword:#include', 'keyword:int', 'name:main', 'keyword:return', 'number:0']],
  ['java', ['@Override public int f() {'], ['name:@Override', 'keyword:public', 'keyword:int', 'name:f']],
  ['ruby', ['def f; puts :sym; end # x'], ['keyword:def', 'name::sym', 'keyword:end', 'comment:# x']],
  [
    'bash',
    ['for f in "$x"; do grep --color \'a\' ${HOME}; done # x#y'],
    [
      'keyword:for',
      'keyword:in',
      'string:"$x"',
      'keyword:do',
      'keyword:--color',
      "string:'a'",
      'name:${HOME}',
      'keyword:done',
      'comment:# x#y',
    ],
  ],
  [
    'sql',
    ["SELECT count(*) FROM t WHERE a = 'b' -- x"],
    ['keyword:SELECT', 'name:count', 'keyword:FROM', 'keyword:WHERE', "string:'b'", 'comment:-- x'],
  ],
  ['yaml', ['a.b:', '  - key: "v" # c', '    n: 1'], ['name:a.b', 'name:  - key', 'string:"v"', 'comment:# c', 'name:    n', 'number:1']],
  ['toml', ['[section]', 'key = true # c'], ['heading:[section]', 'name:key', 'keyword:true', 'comment:# c']],
  [
    'html',
    ['<a href="x">it\'s</a> <!-- one', 'two -->'],
    ['keyword:<a', 'name:href', 'string:"x"', 'keyword:>', 'keyword:</a', 'keyword:>', 'comment:<!-- one', 'comment:two -->'],
  ],
  ['css', ['.a { ', '  color: #fff; margin: 1.5em !important }'], ['name:  color', 'number:#fff', 'number:1.5em', 'keyword:!important']],
  ['diff', ['--- a/x', '@@ -1 +1 @@', '-old', '+new', ' same'], ['muted:--- a/x', 'keyword:@@ -1 +1 @@', 'removed:-old', 'added:+new']],
  ['markdown', ['# Title', '- `code`', '> quote'], ['heading:# Title', 'keyword:-', 'string:`code`', 'comment:> quote']],
])('%s', (language, lines, pieces) => {
  expect(coloured(language, ...lines)).toEqual(pieces);
});

test('what is in no language that is known stays plain', () => {
  expect(highlightLine('const x = 1', 'brainfuck')).toEqual({ spans: [{ text: 'const x = 1' }], open: noOpenBlock });
  expect(highlightLine('', 'ts')).toEqual({ spans: [], open: noOpenBlock });
});

test('a line that nobody wrote by hand stays plain, and changes nothing for the next', () => {
  const line = '"x" '.repeat(1_000);
  expect(highlightLine(line, 'ts', 0)).toEqual({ spans: [{ text: line }], open: 0 });
});

test('no name is claimed twice', () => {
  const names = languages.flatMap((language) => language.names);
  expect(names).toEqual([...new Set(names)]);
});
