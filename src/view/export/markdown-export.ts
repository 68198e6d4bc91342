import type { ToolView } from '../tools/tool-view.js';
import { exportFacts, exportTitle, type ExportWriter } from './exported-session.js';
import { createTurns, toolEnding, type ExportedPart, type ExportedTurn } from './exported-turns.js';

/** The conversation on the path to the leaf, for reading and for documents. */
export function createMarkdownWriter(): ExportWriter {
  const turns = createTurns();
  return {
    begin(session) {
      const facts = exportFacts(session).map(({ name, value }) => `- ${name}: ${codeSpan(value)}\n`);
      return `# ${escapeLine(exportTitle(session))}\n\n${facts.join('')}\n`;
    },
    add: (message) => turns.add(message).map(turnMarkdown).join(''),
    end: () => turns.end().map(turnMarkdown).join(''),
  };
}

function turnMarkdown({ heading, parts }: ExportedTurn): string {
  const texts = parts.map(partMarkdown).filter((text) => text.trim() !== '');
  return `## ${[heading, ...texts].join('\n\n')}\n\n`;
}

function partMarkdown(part: ExportedPart): string {
  switch (part.kind) {
    case 'text':
      return closeFence(part.text);
    case 'thinking':
      return part.text.trim() === '' ? '' : closeFence(part.text).replaceAll(/^/gm, '> ');
    case 'tool':
      return toolMarkdown(part.tool);
    case 'summary':
      return `_${escapeLine(part.headline)}_\n\n${closeFence(part.text)}`;
    case 'note':
      return `_${escapeLine(part.text)}_`;
  }
}

function toolMarkdown(tool: ToolView): string {
  const ending = toolEnding(tool);
  const texts = [
    `**Tool** ${codeSpan(tool.headline)}${ending === '' ? '' : ` (${escapeLine(ending)})`}`,
    ...(tool.diff === undefined ? [] : [fence(tool.diff, 'diff')]),
    ...(tool.output === '' ? [] : [fence(tool.output)]),
    ...(tool.artifact === undefined ? [] : [`_${escapeLine(tool.artifact)}_`]),
  ];
  return texts.join('\n\n');
}

/** A fence that is longer than any run of backticks in the text. */
function fence(text: string, language = ''): string {
  const ticks = '`'.repeat(Math.max(3, longestTicks(text) + 1));
  return `${ticks}${language}\n${text.replace(/\n$/, '')}\n${ticks}`;
}

function codeSpan(line: string): string {
  const ticks = '`'.repeat(longestTicks(line) + 1);
  const gap = /^`|`$|^ .* $/.test(line) ? ' ' : '';
  return `${ticks}${gap}${line}${gap}${ticks}`;
}

function longestTicks(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/`+/g), ([{ length }]) => length));
}

/** Text of one line that is no markup. */
function escapeLine(line: string): string {
  return line.replaceAll(/[\\`*_{}[\]<>#|~!&]/g, '\\$&');
}

/** Closes a code fence that a text leaves open, so that it does not swallow what follows. */
function closeFence(text: string): string {
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const [, ticks = '', rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (ticks === '') continue;
    if (open === undefined) open = ticks.startsWith('`') && rest.includes('`') ? undefined : ticks;
    else if (ticks.startsWith(open) && rest.trim() === '') open = undefined;
  }
  return open === undefined ? text : `${text}\n${open}`;
}
