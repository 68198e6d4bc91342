import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContentBlock, Message } from '../../../src/protocol/messages.js';
import { createExportWriter, exportFileName, formatOfFile, type ExportFormat } from '../../../src/view/export/export-format.js';
import type { ExportedSession } from '../../../src/view/export/exported-session.js';
import { hidden, hostileText } from '../hostile-text.js';
import { message } from '../messages.js';

const session: ExportedSession = {
  ...{ session_id: 'ses_0123456789abcdef', parent_id: null, title: 'A talk', cwd: '/work', model: 'offline/guide', thinking: 'off' },
  ...{ approval_mode: 'ask', leaf_id: 'm', usage: null },
};

function exported(format: ExportFormat, messages: Message[], facts: Partial<ExportedSession> = {}): string {
  const writer = createExportWriter(format);
  return [writer.begin({ ...session, ...facts }), ...messages.map(writer.add), writer.end()].join('');
}

function said(role: Message['role'], text: string, fields: Partial<Message> = {}): Message {
  return message({ role, text, content: [{ type: 'text', text }], ...fields });
}

function called(name: string, args: Record<string, unknown>, id = 'c1'): Message {
  return message({ content: [{ type: 'tool_call', id, name, arguments: args }] });
}

function result(text: string, fields: Partial<Message> = {}): Message {
  return said('tool_result', text, { tool_call_id: 'c1', tool_name: 'bash', ...fields });
}

const pixel = 'iVBORw0KGgo=';
/** A conversation in which everything that others said is this text. */
function hostileTalk(text: string): Message[] {
  return [
    message({ role: 'user', text, content: [{ type: 'text', text }, { type: 'image', data: text, mime_type: text }] }), // prettier-ignore
    message({ text, content: [{ type: 'thinking', thinking: text }, { type: 'text', text }, { type: 'tool_call', id: 'c1', name: text, arguments: { [text]: text } }] }), // prettier-ignore
    result(text, { tool_name: text, is_error: true, details: { diff: text, artifact_id: text, signal: text } }),
    said('compaction', text),
    result(text, { tool_call_id: 'nobody', skipped: true, created_at: text }),
  ];
}
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    hostileText,
    '<img src=x onerror=alert(1)>',
    '</style><script>alert(1)</script>',
    `"><svg onload='x'>`,
    '<a href="javascript:alert(1)">x</a>',
    '--><base href=//evil>',
    '</title><meta http-equiv=refresh content=0>',
    'data:image/svg+xml,<svg/>',
  ),
);

describe('as Markdown', () => {
  test('prompts are headings, calls have their headline, ending and output, and the facts of the session come first', () => {
    const page = exported('markdown', [
      said('user', 'list it'),
      called('bash', { command: 'ls `x`' }),
      result('a.txt\n[exit code 1]', { is_error: true, details: { exit_code: 1, duration_ms: 2000 } }),
      said('assistant', 'It is there.'),
    ]);
    expect(page).toBe(
      '# A talk\n\n- Directory: `/work`\n- Model: `offline/guide`\n- Session: `ses_0123456789abcdef`\n\n' +
        '## You\n\nlist it\n\n' +
        '## Agent\n\n**Tool** `` $ ls `x` `` (failed: exit code 1, 2.0 s)\n\n```\na.txt\n```\n\n' +
        '## Agent\n\nIt is there.\n\n',
    );
  });

  test('parallel calls each have their own result, and one without says so', () => {
    const both = message({ content: ['a', 'b', 'c'].map((id) => ({ type: 'tool_call', id, name: `tool_${id}`, arguments: {} })) });
    const page = exported('markdown', [both, result('of b', { tool_call_id: 'b' }), result('of a', { tool_call_id: 'a' })]);
    expect(page.slice(page.indexOf('## Agent'))).toBe(
      '## Agent\n\n**Tool** `tool_a`\n\n```\nof a\n```\n\n**Tool** `tool_b`\n\n```\nof b\n```\n\n**Tool** `tool_c` (no result)\n\n',
    );
  });

  test('a diff and an output stay in their fence, and a fence that an answer leaves open ends with the answer', () => {
    expect(exported('markdown', [called('bash', {}), result('````\nout\n## You')])).toContain('\n`````\n````\nout\n## You\n`````\n');
    expect(exported('markdown', [called('edit', { path: 'a' }), result('', { details: { diff: '-a\n+```\n' } })])).toContain(
      '````diff\n-a\n+```\n````',
    );
    const open = exported('markdown', [said('assistant', 'see:\n~~~~ts\nlet a;\n~~~\n```'), said('user', 'next')]);
    expect(open).toContain('let a;\n~~~\n```\n~~~~\n\n## You\n\nnext');
    expect(exported('markdown', [said('assistant', '```\na\n```')])).toMatch(/\n```\na\n```\n\n$/);
  });

  test('no hidden character is left of any text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(exported('markdown', hostileTalk(text), { title: text, cwd: text })).not.toMatch(hidden);
      }),
    );
  });
});

describe('as a web page', () => {
  const tags = /<(\/?)([a-z0-9!]+)((?: [a-z-]+(?:="[^"<>]*")?)*)>/g;

  test('is one file whose policy lets nothing load or run', () => {
    const page = exported('html', [said('user', 'hi'), said('assistant', 'ho')]);
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy"/);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:;`);
    expect(page).toContain('prefers-color-scheme: dark');
    expect(page).not.toMatch(/https?:|url\(|@import/);
  });

  test('whatever is said, there are only the tags and attributes that berth writes', () => {
    const shape = (page: string): string[] =>
      [
        ...new Set(Array.from(page.matchAll(tags), ([, , name, attributes = '']) => `${name}${attributes.replaceAll(/"[^"]*"/g, '')}`)),
      ].sort();
    const allowed = new Set([
      ...['!doctype html', 'html lang=', 'head', 'meta charset=', 'meta http-equiv= content=', 'meta name= content=', 'title', 'style'],
      ...['body', 'header', 'h1 dir=', 'dl', 'dt', 'dd dir=', 'main', 'section class=', 'h2', 'time datetime=', 'div class= dir='],
      ...['details class=', 'summary', 'code', 'span class=', 'pre', 'pre dir=', 'p class=', 'ins', 'del', 'img alt= src='],
      ...['head', 'h1', 'dd', 'html', 'div', 'section', 'details', 'span', 'p', 'time'],
    ]);
    fc.assert(
      fc.property(hostile, (text) => {
        const page = exported('html', hostileTalk(text), { title: text, cwd: text, model: text });
        expect(page).not.toMatch(hidden);
        // All that is left without these tags is text, and the style.
        const rest = page.replace(/<style>[^<]*<\/style>/, '').replaceAll(tags, '');
        expect(rest).not.toMatch(/[<>]/);
        expect(shape(page).filter((tag) => !allowed.has(tag))).toEqual([]);
      }),
    );
  });

  test('calls can be folded, and an image is shown only when it is one of the kinds that cannot run anything', () => {
    const image = (mime_type: string, data = pixel): ContentBlock => ({ type: 'image', mime_type, data });
    const page = exported('html', [
      message({ role: 'user', content: [image('image/png'), image('image/svg+xml'), image('image/png"', 'AA'), image('image/png', 'A"')] }),
      called('bash', { command: 'ls <b>' }),
      result('one & two'),
    ]);
    expect(page.match(/<img [^>]*>/g)).toEqual([`<img alt="image" src="data:image/png;base64,${pixel}">`]);
    expect(page.match(/an image that cannot be shown/g)).toHaveLength(3);
    expect(page).toContain(
      '<details class="tool"><summary><code>$ ls &lt;b&gt;</code></summary><pre dir="auto">one &amp; two</pre></details>',
    );
  });
});

describe('as JSON lines', () => {
  test('every message is a line of its own, unchanged, between one that says what it is and one that counts', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const talk = hostileTalk(text);
        const [first, ...rest] = exported('jsonl', talk, { title: text }).trimEnd().split('\n');
        expect(JSON.parse(first ?? '')).toEqual({ type: 'session', format: 'berth-session', version: 1, ...session, title: text });
        expect(rest.map((line) => JSON.parse(line) as unknown)).toEqual([...talk, { type: 'end', messages: talk.length }]);
        expect(rest.join('')).not.toMatch(hidden);
      }),
    );
  });
});

test('the name of a file says its format', () => {
  expect(['a.md', 'b.HTML', 'c.d.jsonl', 'html', 'x.txt'].map(formatOfFile)).toEqual(['markdown', 'html', 'jsonl', undefined, undefined]);
  expect(exportFileName('ses_0123456789abcdef', 'html')).toMatch(/^berth-0123\w*\.html$/);
});
