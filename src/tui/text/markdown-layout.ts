import { Lexer, Tokenizer, type Token, type Tokens } from 'marked';
import { printable } from '../../view/printable.js';
import { marks } from '../rows/marks.js';
import { emptyRow, span, spansWidth, type Row, type Span } from '../rows/row.js';
import { wrapSpans } from '../rows/wrap.js';
import { highlightLine, noOpenBlock } from './highlight.js';
import type { MarkdownPart } from './markdown-blocks.js';
import { renderInline } from './markdown-inline.js';
import { languageOf } from './markdown-lines.js';
import { layoutTable } from './markdown-table.js';

/** A part of a Markdown text that was read, and can be laid out for any width. */
export interface ReadPart {
  readonly part: MarkdownPart;
  readonly blocks: readonly Token[];
  readonly code: readonly (readonly Span[])[];
  /** The comment or string of the code that is open at the end of the part. */
  readonly open: number;
}

/** Where rows stand: what is drawn in front of the first of them and of the others. */
interface Frame {
  readonly columns: number;
  readonly first: readonly Span[];
  readonly rest: readonly Span[];
  /** Columns of `first` that are decoration. */
  readonly firstGutter: number;
  /** Columns of decoration in front of the items of a list. */
  readonly itemGutter: number;
  readonly quotes: number;
}

/** Deeper quotes get no further bar. In lines that open more blocks at once than `nestingMax`, nothing is read as Markdown. */
const layout = { quoteBars: 4, nestingMax: 16, underlineUnitsMin: 3 } as const;

const tooDeep = new RegExp(`^(?:[ \\t]*(?:>|[*+-](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))){${layout.nestingMax},}`, 'm');

/** Reads a part. `open` is what the code in the part before left open. */
export function readPart(part: MarkdownPart, open: number): ReadPart {
  const lines = part.lines.map(printable);
  if (part.kind === 'code') return { part, blocks: [], ...highlightLines(lines, part.language ?? '', part.isLater ? open : noOpenBlock) };
  if (part.kind === 'blocks') return { part, blocks: lexBlocks(lines.join('\n')), code: [], open };
  return { part: { ...part, lines }, blocks: [], code: [], open };
}

/** The rows of a part, without the blank row before it. */
export function layoutPart({ part, blocks, code }: ReadPart, columns: number): Row[] {
  const lead = [span(' '.repeat(Math.min(part.indent, Math.floor(columns / 2))))];
  const indent = part.indent === 0 ? [] : lead;
  const frame = { columns, first: indent, rest: indent, firstGutter: 0, itemGutter: 0, quotes: 0 };
  const rows = layoutKind(part, blocks, code, frame);
  const [head, ...others] = rows;
  return head && part.continues !== undefined ? [{ ...head, continues: part.continues }, ...others] : rows;
}

function layoutKind(part: MarkdownPart, blocks: readonly Token[], code: readonly (readonly Span[])[], frame: Frame): Row[] {
  switch (part.kind) {
    case 'code':
      return layoutCode(code, frame);
    case 'blocks':
      return layoutBlocks(blocks, frame, part.repeatsHead);
    case 'line':
      return wrapText(renderInline(part.lines.join('\n')), frame);
    case 'text':
      return wrapText([span(part.lines.join('\n'))], frame);
  }
}

function highlightLines(lines: readonly string[], language: string, open: number): { code: (readonly Span[])[]; open: number } {
  let current = open;
  const code = lines.map((line) => {
    const coloured = highlightLine(line, language, current);
    current = coloured.open;
    return coloured.spans;
  });
  return { code, open: current };
}

class BlockTokenizer extends Tokenizer {
  /** The address of a reference stays in the text: who reads it may look for it there. */
  override def(): undefined {
    return undefined;
  }

  /** A heading is underlined with three signs at least: a growing list would be taken for one underlined with a single dash. */
  override lheading(source: string): Tokens.Heading | undefined {
    const token = super.lheading(source);
    const underline = token?.raw.trimEnd().split('\n').at(-1) ?? '';
    return underline.trim().length >= layout.underlineUnitsMin ? token : undefined;
  }
}

function lexBlocks(text: string): Token[] {
  const plain: Tokens.HTML = { type: 'html', raw: text, text, pre: false, block: true };
  if (tooDeep.test(text)) return [plain];
  try {
    // Blocks only: the time that the lexer takes for inline text is cubic for some texts.
    return new Lexer({ gfm: true, tokenizer: new BlockTokenizer() }).blockTokens(text, []);
  } catch {
    // The lexer throws on what it cannot read, and when blocks are nested too deeply for its stack.
    return [plain];
  }
}

function layoutBlocks(blocks: readonly Token[], frame: Frame, repeatsHead = false): Row[] {
  const rows: Row[] = [];
  let before = '';
  for (const block of blocks) {
    if (block.type !== 'space') {
      if (rows.length > 0 && /\n[ \t]*\n[ \t]*$/.test(before)) rows.push(blankRow(frame));
      rows.push(...layoutBlock(block, rows.length === 0 ? frame : laterFrame(frame), repeatsHead));
      before = '';
    }
    before += block.raw;
  }
  return rows;
}

function laterFrame(frame: Frame): Frame {
  return { ...frame, first: frame.rest, firstGutter: spansWidth(frame.rest) };
}

function layoutBlock(block: Token, frame: Frame, repeatsHead: boolean): Row[] {
  switch (block.type) {
    case 'heading':
      return layoutHeading(block as Tokens.Heading, frame);
    case 'paragraph':
    case 'text':
      return wrapText(renderInline((block as Tokens.Paragraph).text), frame);
    case 'code': {
      const { text, lang = '' } = block as Tokens.Code;
      return layoutCode(highlightLines(text.split('\n'), languageOf(lang), noOpenBlock).code, frame);
    }
    case 'list':
      return layoutList(block as Tokens.List, frame);
    case 'blockquote':
      return layoutQuote(block as Tokens.Blockquote, frame);
    case 'hr':
      return layoutRule(frame);
    case 'table':
      return layoutTableBlock(block as Tokens.Table, frame, repeatsHead);
    default:
      return wrapText([span(block.raw.replace(/\n+$/, ''))], frame);
  }
}

function wrapText(spans: readonly Span[], { columns, first, rest, firstGutter }: Frame, anywhere = false): Row[] {
  return wrapSpans(spans, columns, { first, rest, firstGutter, anywhere });
}

function layoutHeading({ depth, text }: Tokens.Heading, frame: Frame): Row[] {
  const style = { tone: 'heading', bold: true, ...(depth === 1 && { underline: true }), ...(depth > 2 && { italic: true }) } as const;
  return wrapText(renderInline(text, style), frame);
}

function layoutCode(code: readonly (readonly Span[])[], frame: Frame): Row[] {
  const bar = span(`${marks.bar} `, 'border');
  const first = [...frame.first, bar];
  const rest = [...frame.rest, bar];
  const lines = code.length === 0 ? [[]] : code;
  return lines.flatMap((spans, at) => wrapSpans(spans, frame.columns, { first: at === 0 ? first : rest, rest, anywhere: true }));
}

function layoutQuote({ tokens }: Tokens.Blockquote, frame: Frame): Row[] {
  const bar = frame.quotes < layout.quoteBars ? [span(`${marks.quote} `, 'border')] : [];
  const first = [...frame.first, ...bar];
  const rest = [...frame.rest, ...bar];
  const inner = { ...frame, first, rest, firstGutter: Infinity, itemGutter: spansWidth(rest), quotes: frame.quotes + 1 };
  const rows = layoutBlocks(tokens, inner);
  return rows.length === 0 ? wrapText([], inner) : rows;
}

function layoutList({ items, ordered, start }: Tokens.List, frame: Frame): Row[] {
  const rows: Row[] = [];
  for (const [at, item] of items.entries()) {
    const number = ordered ? `${(start === '' ? 1 : start) + at}.` : '-';
    const marker = [span(`${number} `, 'accent'), ...(item.task ? [span(item.checked ? '[x] ' : '[ ] ', 'accent')] : [])];
    const indent = span(' '.repeat(number.length + 1));
    // Half of the screen is left for the text, however deep the list is.
    const isDeep = spansWidth(frame.rest) + number.length + 1 > frame.columns / 2;
    const inner = {
      ...frame,
      first: [...(at === 0 ? frame.first : frame.rest), ...marker],
      rest: isDeep ? frame.rest : [...frame.rest, indent],
      firstGutter: frame.itemGutter,
    };
    if (at > 0 && /\n[ \t]*\n[ \t]*$/.test(items[at - 1]?.raw ?? '')) rows.push(blankRow(frame));
    const itemRows = layoutBlocks(item.tokens, inner);
    rows.push(...(itemRows.length === 0 ? wrapText([], inner) : itemRows));
  }
  return rows;
}

function layoutRule(frame: Frame): Row[] {
  const { columns, first } = frame;
  const room = Math.max(1, columns - spansWidth(first));
  return wrapText([span(marks.line.repeat(room), 'border')], frame).map((one) => ({ ...one, gutter: columns }));
}

/** A table in an item of a list stands below the marker. */
function layoutTableBlock(table: Tokens.Table, frame: Frame, repeatsHead: boolean): Row[] {
  const rows = layoutTable(table, frame.columns, frame.rest, repeatsHead);
  return frame.first === frame.rest ? rows : [...wrapText([], frame), ...rows];
}

/** Between blocks: empty, but for the bars of a quote. */
function blankRow({ rest, quotes }: Frame): Row {
  return quotes === 0 ? emptyRow : { spans: rest, gutter: spansWidth(rest) };
}
