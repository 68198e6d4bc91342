import { columnsOf } from './columns.js';

/** Word wrap for streamed text. A word is buffered until its end is known. */
export interface WordWrap {
  /** Wraps more text to `width` columns. */
  push(text: string, width: number): string;
  /** Flushes the buffered word. */
  end(width: number): string;
}

const layout = {
  /** Narrower lines are left to the terminal to wrap. */
  widthMin: 20,
  tabColumns: 8,
} as const;
const escape = '\u001b';
const colour = `${escape}\\[[\\d;]*m`;
/** CJK characters, between which a line may break without a space. */
const breakable = '\\u2e80-\\u9fff\\uac00-\\ud7a3\\uff00-\\uffef\\u{20000}-\\u{3fffd}';
/** Colour escape sequences, whitespace, breakable characters, and words. */
const tokens = new RegExp(`${colour}|\\s|[${breakable}]|[^\\s${escape}${breakable}]+|${escape}`, 'gu');
const colours = new RegExp(colour, 'gu');
const isBreakable = new RegExp(`^[${breakable}]$`, 'u');

export function createWordWrap(): WordWrap {
  let column = 0;
  let gap = '';
  let word = '';
  let wordColumns = 0;

  function flushWord(width: number): string {
    if (word === '') return '';
    const gapColumns = columnsOfGap(gap, column);
    let out: string;
    if (column + gapColumns + wordColumns <= width) {
      out = gap + word;
      column += gapColumns + wordColumns;
    } else if (wordColumns <= width) {
      out = `\n${word}`;
      column = wordColumns;
    } else {
      out = breakWord(gapColumns, width);
    }
    gap = '';
    word = '';
    wordColumns = 0;
    return out;
  }

  /** Breaks a word that is longer than a line. */
  function breakWord(gapColumns: number, width: number): string {
    const fits = column + gapColumns + 1 < width;
    let out = fits ? gap : '\n';
    column = fits ? column + gapColumns : 0;
    for (const character of word) {
      const columns = columnsOf(character);
      if (column + columns > width) {
        out += '\n';
        column = 0;
      }
      out += character;
      column += columns;
    }
    return out;
  }

  function end(width: number): string {
    const out = flushWord(width);
    column = 0;
    gap = '';
    return out;
  }

  return {
    push(text, width) {
      if (width < layout.widthMin || width === Infinity) return end(width) + text;
      let out = '';
      for (const [token] of text.matchAll(tokens)) {
        if (token === '\n') {
          out += `${flushWord(width)}\n`;
          column = 0;
          gap = '';
        } else if (/^\s$/.test(token)) {
          out += flushWord(width);
          gap += token;
        } else if (token.startsWith(escape)) {
          // A colour sequence has no width, and belongs to the next word.
          word += token;
        } else {
          const columns = columnsOf(token);
          const isAlone = isBreakable.test(token);
          if (isAlone) out += flushWord(width);
          word += token;
          wordColumns += columns;
          if (isAlone || wordColumns > width) out += flushWord(width);
        }
      }
      return out;
    },
    end,
  };
}

function columnsOfGap(gap: string, column: number): number {
  let end = column;
  for (const blank of gap) end += blank === '\t' ? layout.tabColumns - (end % layout.tabColumns) : 1;
  return end - column;
}

/** Wraps a line with a hanging indent: that of the line, or the second column of a table row. */
export function wrapLine(line: string, width: number): string {
  const plain = line.replaceAll(colours, '');
  const [, table] = /^( +\S+(?: \S+)* {2,})\S/.exec(plain) ?? [];
  const [indent = ''] = /^ */.exec(plain) ?? [];
  const hang = ' '.repeat(Math.min(table?.length ?? indent.length, Math.floor(width / 3)));
  const wrap = createWordWrap();
  if (columnsOf(plain) <= width || width < layout.widthMin) return line;
  const whole = wrap.push(line, width);
  const [first = ''] = (whole + wrap.end(width)).split('\n');
  const rest = line.slice(first.length).trimStart();
  if (rest === '') return line;
  const below = createWordWrap();
  const lines = (below.push(rest, width - hang.length) + below.end(width - hang.length)).split('\n');
  return [first, ...lines.map((more) => hang + more)].join('\n');
}

/** Wraps prose: consecutive lines are one paragraph, and indented lines stay separate. */
export function wrapText(text: string, width: number): string {
  const paragraphs: string[] = [];
  for (const line of text.split('\n')) {
    const above = paragraphs.at(-1);
    const joins = above !== undefined && above !== '' && line !== '' && !above.startsWith(' ') && !line.startsWith(' ');
    if (joins) paragraphs[paragraphs.length - 1] = `${above} ${line}`;
    else paragraphs.push(line);
  }
  return paragraphs.map((line) => wrapLine(line, width)).join('\n');
}
