import { eastAsianWidth } from 'get-east-asian-width';

const plainAscii = /^[\x20-\x7e]*$/;
/** Latin letters, punctuation, arrows, lines, symbols and Chinese characters: each is a grapheme of its own, and none is invisible. */
const simple = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u2bff\u3400-\u4dbf\u4e00-\u9fff]*$/;
/** What a sanitized text may still hold that takes no column: marks, joiners and selectors. */
const combining = /^(?:\p{M}|\u200c|\u200d|\ufe0e|\ufe0f)/u;
let segmenter: Intl.Segmenter | undefined;

/** The columns that a character of a sanitized text takes in a terminal. An emoji counts as what it is without a selector behind it. */
export function widthOf(character: string): number {
  if (plainAscii.test(character)) return character.length;
  const code = character.codePointAt(0) ?? 0;
  return simple.test(character) || !combining.test(character) ? eastAsianWidth(code) : 0;
}

/** The grapheme clusters of a text: what a cursor steps over and a terminal never breaks. */
export function graphemesOf(text: string): string[] {
  if (plainAscii.test(text)) return text.split('');
  if (simple.test(text)) return Array.from(text);
  // Loading the data of the segmenter is felt at the start.
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}
