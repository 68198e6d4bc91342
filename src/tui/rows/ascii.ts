import { graphemesOf } from '../kit/graphemes.js';
import { textWidth } from './cells.js';

/** What stands for the signs of the frontend. */
const signs: Readonly<Record<string, string>> = {
  '○': 'o',
  '●': '*',
  '✓': '+',
  '✗': 'x',
  '⊘': '/',
  '◌': '.',
  '⏸': '=',
  '↩': '<',
  '…': '~',
  '│': '|',
  '┃': '|',
  '▏': '|',
  '┊': '|',
  '▌': '>',
  '▸': '>',
  '❯': '>',
  '─': '-',
  '═': '=',
  '┼': '+',
  '−': '-',
  '–': '-',
  '×': 'x',
  '•': '*',
  '·': '-',
  '“': '"',
  '”': '"',
  '↑': '^',
  '↓': 'v',
  '←': '<',
  '→': '>',
  '⠋': '|',
  '⠙': '/',
  '⠸': '-',
  '⠴': '\\',
  '⠦': '|',
  '⠇': '/',
};

const ascii = /^[\0-\x7f]*$/;

/**
 * A drawn text in ASCII that takes as many columns: a sign of the frontend becomes one like it, and every other character `?`. In an exact
 * text signs become `?` as well, so that nothing in it is taken for what it is not.
 */
export function toAscii(text: string, { exact = false }: { exact?: boolean | undefined } = {}): string {
  if (ascii.test(text)) return text;
  return graphemesOf(text)
    .map((grapheme) => (ascii.test(grapheme) ? grapheme : replaceGrapheme(grapheme, exact)))
    .join('');
}

function replaceGrapheme(grapheme: string, exact: boolean): string {
  const [character = ''] = grapheme;
  const sign = exact ? '?' : ascii.test(character) ? character : (signs[character] ?? '?');
  return sign.padEnd(textWidth(grapheme), '?').slice(0, textWidth(grapheme));
}
