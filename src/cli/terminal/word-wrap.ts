import { columnsOf } from './columns.js';

/** Breaks lines between words as text arrives. A word is held back until it is known to fit. */
export interface WordWrap {
  /** More text; `width` is how many columns a line has. */
  push(text: string, width: number): string;
  /** What was held back. */
  end(width: number): string;
}

const layout = {
  /** Below this, lines are left to the terminal. */
  widthMin: 20,
  tabColumns: 8,
} as const;
const escape = '\u001b';
const colour = `${escape}\\[[\\d;]*m`;
/** Characters between which a line may break without a blank. */
const breakable = '\\u2e80-\\u9fff\\uac00-\\ud7a3\\uff00-\\uffef\\u{20000}-\\u{3fffd}';
/** Sequences that colour, line ends, blanks, breakable characters, and words. */
const tokens = new RegExp(`${colour}|\\s|[${breakable}]|[^\\s${escape}${breakable}]+|${escape}`, 'gu');
const colours = new RegExp(colour, 'gu');
const isBreakable = new RegExp(`^[${breakable}]$`, 'u');

export function createWordWrap(): WordWrap {
  let column = 0;
  let gap = '';
  let word = '';
  let wordColumns = 0;

  function place(width: number): string {
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

  /** A word that no line holds is broken where each line ends. */
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
    const out = place(width);
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
          out += `${place(width)}\n`;
          column = 0;
          gap = '';
        } else if (/^\s$/.test(token)) {
          out += place(width);
          gap += token;
        } else if (token.startsWith(escape)) {
          // It takes no room, and belongs to what comes next.
          word += token;
        } else {
          const columns = columnsOf(token);
          const isAlone = isBreakable.test(token);
          if (isAlone) out += place(width);
          word += token;
          wordColumns += columns;
          if (isAlone || wordColumns > width) out += place(width);
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

/** A line in as many as it takes. Those after the first are indented like it, or like the second column of what looks like a table. */
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

/** Prose in lines of a width: lines that follow each other are one paragraph, and indented ones stay apart. */
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
