import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Message } from '../../protocol/messages.js';
import { messageParts } from '../../view/message-text.js';
import { printable } from '../../view/printable.js';
import { shortId } from '../../view/short-ids.js';
import { attempt } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import { sessionTitleText } from '../app/names.js';
import type { PaneParts } from '../pane/session-pane.js';

/** Writes the whole conversation to a new Markdown file, also what is not loaded. */
export function exportSession(file: string, { context, attached }: PaneParts): void {
  const path = resolve(file === '' ? `berth-${shortId(attached.sessionId)}.md` : file);
  attempt(context, 'not exported', async () => {
    const pages: string[] = [];
    let before: string | undefined;
    let count = 0;
    for (let more = true; more;) {
      const request = { session_id: attached.sessionId, ...(before === undefined ? {} : { before }) };
      const { messages, has_more } = accepted(await context.berth.call('get_messages', request));
      pages.push(messages.map(toMarkdown).join(''));
      count += messages.length;
      before = messages[0]?.id;
      more = has_more && before !== undefined;
    }
    // An existing file is never overwritten.
    writeFileSync(path, `# ${sessionTitleText(attached.view())}\n\n${pages.reverse().join('')}`, { flag: 'wx', mode: 0o600 });
    context.notice(`${count} messages written to ${path}`);
  });
}

/** A message with its calls and results. */
export function toMarkdown(message: Message): string {
  const heading = { user: '## You\n\n', assistant: '## Agent\n\n', tool_result: '', compaction: '## Summary\n\n' }[message.role];
  const texts = messageParts(message).map((part) => {
    switch (part.kind) {
      case 'text':
        return part.text;
      case 'thinking':
        return quote(part.text);
      case 'tool_call':
        return `**${part.headline}**`;
      case 'tool_result':
        return fence(part.outcome === 'skipped' ? part.reason : part.text);
      case 'summary':
        return `${part.headline}\n\n${part.text}`;
      case 'note':
        return `_${part.text}_`;
    }
  });
  const diff = message.details?.diff === undefined ? [] : [fence(printable(message.details.diff), 'diff')];
  return `${heading}${[...texts, ...diff].filter((text) => text.trim() !== '').join('\n\n')}\n\n`;
}

function quote(text: string): string {
  return text.replaceAll(/^/gm, '> ');
}

/** A fence that is longer than any in the text. */
function fence(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}${language}\n${text}\n${ticks}`;
}
