import type { ContentBlock, Message } from '../../protocol/messages.js';
import type { ToolView } from '../tools/tool-view.js';
import { exportFacts, exportTitle, type ExportWriter } from './exported-session.js';
import { createTurns, toolEnding, type ExportedPart, type ExportedTurn } from './exported-turns.js';
import { exportStyle } from './html-style.js';

/** Images that a browser shows without running anything in them. */
const imageTypes: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** Nothing is loaded and nothing runs, whatever the texts say. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/** The conversation on the path to the leaf as one page that loads nothing, runs nothing and shows all texts as they are. */
export function createHtmlWriter(): ExportWriter {
  const turns = createTurns();
  return {
    begin(session) {
      const title = escapeHtml(exportTitle(session));
      const facts = exportFacts(session).map(({ name, value }) => `<dt>${name}</dt><dd dir="auto">${escapeHtml(value)}</dd>`);
      return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>
${exportStyle}</style>
</head>
<body>
<header><h1 dir="auto">${title}</h1><dl>${facts.join('')}</dl></header>
<main>
`;
    },
    add: (message) => turns.add(message).map(turnHtml).join(''),
    end: () => `${turns.end().map(turnHtml).join('')}</main>\n</body>\n</html>\n`,
  };
}

function turnHtml({ message, heading, parts }: ExportedTurn): string {
  const images = message.content.flatMap(imageHtml);
  const shown = images.length > 0 ? parts.filter((part) => part.kind !== 'note' || part.about !== 'images') : parts;
  const body = [...shown.map(partHtml), ...images].filter((text) => text !== '');
  return `<section class="${message.role}"><h2>${heading}${timeHtml(message)}</h2>\n${body.join('\n')}\n</section>\n`;
}

function partHtml(part: ExportedPart): string {
  switch (part.kind) {
    case 'text':
      return textHtml(part.text);
    case 'thinking':
      return part.text.trim() === '' ? '' : `<details class="thinking"><summary>Thinking</summary>${textHtml(part.text)}</details>`;
    case 'tool':
      return toolHtml(part.tool);
    case 'summary':
      return `<p class="note">${escapeHtml(part.headline)}</p>\n${textHtml(part.text)}`;
    case 'note':
      return `<p class="note">${escapeHtml(part.text)}</p>`;
  }
}

function toolHtml(tool: ToolView): string {
  const ending = toolEnding(tool);
  const end = ending === '' ? '' : ` <span class="${tool.state}">${escapeHtml(ending)}</span>`;
  const body = [
    ...(tool.diff === undefined ? [] : [`<pre>${diffHtml(tool.diff)}</pre>`]),
    ...(tool.output === '' ? [] : [`<pre dir="auto">${escapeHtml(tool.output)}</pre>`]),
    ...(tool.artifact === undefined ? [] : [`<p class="note">${escapeHtml(tool.artifact)}</p>`]),
  ];
  return `<details class="tool"><summary><code>${escapeHtml(tool.headline)}</code>${end}</summary>${body.join('')}</details>`;
}

function diffHtml(diff: string): string {
  const lines = diff.split('\n').map((line) => {
    const mark = { '+': 'ins', '-': 'del' }[line.charAt(0)];
    return mark === undefined ? escapeHtml(line) : `<${mark}>${escapeHtml(line)}</${mark}>`;
  });
  return lines.join('\n');
}

function imageHtml(block: ContentBlock): string[] {
  if (block.type !== 'image') return [];
  const isSafe = imageTypes.includes(block.mime_type) && /^[A-Za-z0-9+/]+={0,2}$/.test(block.data);
  if (!isSafe) return ['<p class="note">an image that cannot be shown</p>'];
  return [`<img alt="image" src="data:${block.mime_type};base64,${block.data}">`];
}

function timeHtml({ created_at: at }: Message): string {
  return at === ''
    ? ''
    : ` <time datetime="${escapeHtml(at)}">${escapeHtml(at.replace('T', ' ').replace(/(:\d\d)\.\d+Z$/, '$1 UTC'))}</time>`;
}

function textHtml(text: string): string {
  return text.trim() === '' ? '' : `<div class="text" dir="auto">${escapeHtml(text)}</div>`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
