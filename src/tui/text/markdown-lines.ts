/** What begins and ends a block of code. */
export interface Fence {
  readonly sign: string;
  readonly length: number;
  readonly language: string;
  readonly indent: number;
}

const fenceLine = /^( {0,3})(?:(`{3,})([^`]*)|(~{3,})(.*))$/;
const heading = /^#{1,6}(?:[ \t]|$)/;
const listMarker = /^ {0,3}(?:[*+-]|\d{1,9}[.)])(?:[ \t]|$)/;
const tableDelimiter = /^\|?(?:[ \t]*:?-+:?[ \t]*\|)*(?:[ \t]*:?-+:?)?$/;
const htmlLine = /^ {0,3}<[a-z!/?]/i;
/** HTML that goes on over blank lines, and what ends it. */
const htmlBlocks: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:\s|>|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
];

export function isHeading(line: string): boolean {
  return heading.test(line);
}

export function isListMarker(line: string): boolean {
  return listMarker.test(line);
}

/** Whether a line may be the one below the head of a table. */
export function isTableDelimiter(line: string): boolean {
  return line.includes('-') && tableDelimiter.test(line.trim());
}

export function isHtml(line: string): boolean {
  return htmlLine.test(line);
}

/** What ends the HTML that a line begins, if that goes on after the line and over blank ones. */
export function htmlEndAfter(line: string): RegExp | undefined {
  const [, end] = htmlBlocks.find(([start]) => start.test(line)) ?? [];
  return end?.test(line.slice(line.indexOf('<') + 1)) === false ? end : undefined;
}

export function readFence(line: string): Fence | undefined {
  const [, indent = '', ticks, tickInfo, tildes, tildeInfo] = fenceLine.exec(line) ?? [];
  const run = ticks ?? tildes;
  if (run === undefined) return undefined;
  return { sign: run.charAt(0), length: run.length, language: languageOf(tickInfo ?? tildeInfo ?? ''), indent: indent.length };
}

/** The fence in the first line of an item. */
export function readItemFence(line: string): Fence | undefined {
  const marker = listMarker.exec(line)?.[0];
  const fence = marker === undefined ? undefined : readFence(line.slice(marker.length));
  return fence && { ...fence, indent: 0 };
}

/** Whether a line ends the code that a fence began. */
export function isClosingFence(line: string, { sign, length }: Fence): boolean {
  const run = line.trim();
  return run.length >= length && run === sign.repeat(run.length);
}

/** The language that the line of an opening fence names. */
export function languageOf(info: string): string {
  const [language = ''] = info
    .trim()
    .toLowerCase()
    .split(/[\s,:{]/);
  return language;
}

/** Columns of white space at the beginning of a line. */
export function indentOf(line: string): number {
  let columns = 0;
  for (const character of line) {
    if (character === ' ') columns++;
    else if (character === '\t') columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

/** A line without so many columns of its indentation. */
export function dedent(line: string, columns: number): string {
  let left = columns;
  let at = 0;
  while (left > 0 && (line.charAt(at) === ' ' || line.charAt(at) === '\t')) {
    left -= line.charAt(at) === '\t' ? 4 : 1;
    at++;
  }
  return line.slice(at);
}
