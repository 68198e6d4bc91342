import { graphemesOf, widthOf } from '../kit/graphemes.js';

const layout = { tabColumns: 4, marksPerCharacter: 8 } as const;
const tuning = { cachedCharacters: 4_096 } as const;

const plainAscii = /^[\x20-\x7e]*$/;
const joinedEmoji = /(?<=\p{Extended_Pictographic}\ufe0f?)(?:\u200d|\p{Emoji_Modifier})|[\ufe0e\ufe0f]/gu;
const markFlood = new RegExp(`(\\p{M}{${layout.marksPerCharacter}})\\p{M}+`, 'gu');
const isDrawnOtherwise = /[\t\n\u200d]|\p{Emoji_Modifier}|\p{M}/u;
const spacingMark = /\p{Mc}/u;

/**
 * A sanitized text as it is drawn: tabs and line ends as spaces, and emoji without what terminals disagree about (joiners, skin tones,
 * selectors of a presentation), because a row that a terminal takes for wider than it is breaks the screen.
 */
export function drawnText(text: string): string {
  if (plainAscii.test(text) || !isDrawnOtherwise.test(text)) return text;
  return (
    text
      .replaceAll('\t', ' '.repeat(layout.tabColumns))
      .replaceAll('\n', ' ')
      .replace(joinedEmoji, '')
      .replace(markFlood, '$1')
      // A mark without a letter gets a dotted circle: some terminals give it a cell and others none.
      .replace(/^\p{M}/u, '\u25cc$&')
  );
}

/** The columns that a sanitized text takes on the screen: never fewer than a terminal gives it, whether it knows grapheme clusters or not. */
export function textWidth(text: string): number {
  if (plainAscii.test(text)) return text.length;
  let width = 0;
  let isHalfFlag = false;
  for (const character of drawnText(text)) {
    const code = character.codePointAt(0) ?? 0;
    const isFlag = code >= 0x1f1e6 && code <= 0x1f1ff;
    // Two of these letters are one flag, and terminals disagree about a single one.
    width += isFlag ? (isHalfFlag ? 0 : 2) : characterWidth(character, code);
    isHalfFlag = isFlag && !isHalfFlag;
  }
  return width;
}

/** The longest beginning of a text that takes at most `columns` columns. */
export function textHead(text: string, columns: number): string {
  if (plainAscii.test(text)) return text.slice(0, Math.max(0, columns));
  let head = '';
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    width += textWidth(grapheme);
    if (width > columns) break;
    head += grapheme;
  }
  return head;
}

const known = new Map<number, number>();

function characterWidth(character: string, code: number): number {
  if (code < 0x300) return 1;
  let width = known.get(code);
  if (width === undefined) {
    if (known.size >= tuning.cachedCharacters) known.clear();
    width = measureCharacter(character, code);
    known.set(code, width);
  }
  return width;
}

function measureCharacter(character: string, code: number): number {
  // Vowels and final consonants of Hangul are drawn into the syllable before them.
  if ((code >= 0x1160 && code <= 0x11ff) || (code >= 0xd7b0 && code <= 0xd7ff)) return 0;
  if (code >= 0x3248 && code <= 0x324f) return 2;
  return spacingMark.test(character) ? 1 : widthOf(character);
}
