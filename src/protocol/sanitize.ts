import { lazy } from './lazy.js';

/**
 * Every character that a person cannot see or that a terminal acts on: control and format characters (bidirectional overrides, zero-width
 * spaces), separators of lines, and the rest of what Unicode calls ignorable. Not part of it are line ends, tabs, and the selector that says
 * how the emoji before it is drawn. This is the only such class: what a person approves, a terminal prints and a model reads differ in how
 * they render one of these characters, and in joiners, which are part of honest text but never of what is approved.
 */
const hiddenClass = String.raw`(?![\n\t]|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?<!\p{Extended_Pictographic})(?:\ufe0e|\ufe0f)`;
/** Letters and marks of scripts whose writing needs joiners: Arabic and Persian, Syriac, and those of India and around it. */
const joiningScripts = 'Arab Syrc Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr'
  .split(' ')
  .map((script) => `\\p{scx=${script}}`)
  .join('');
const joining = String.raw`(?!\p{Default_Ignorable_Code_Point})(?=[\p{L}\p{M}])[${joiningScripts}]`;
/** A joiner in its place: between letters of these scripts, or within a joined emoji. */
const joinerClass = String.raw`(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d(?=\p{Extended_Pictographic})|(?<=${joining})[\u200c\u200d](?=${joining})`;
// Made when they are needed: to look all these characters up takes milliseconds, and most texts are plain.
const hidden = lazy(() => new RegExp(hiddenClass, 'gu'));
const joinerOrHidden = lazy(() => new RegExp(`(${joinerClass})|${hiddenClass}`, 'gu'));
const hiddenOrLineEnd = lazy(() => new RegExp(`[\\n\\t]|${hiddenClass}`, 'gu'));
/** Hidden characters, and lookalikes of a space. */
const ambiguous = lazy(() => new RegExp(String.raw`(?![ \n\t])[\p{Z}\p{C}\u2800\ufffc\ufffd]|${hiddenClass}`, 'u'));
/** A fast check for texts without such characters. */
const plainText = /^[\n\t\x20-\x7e]*$/;
const plainLine = /^[\x20-\x7e]*$/;

/** Replaces each hidden character by what `render` makes of it, which must not hold one itself. Text without any is returned as it is. */
export function replaceHidden(text: string, render: (character: string) => string): string {
  return plainText.test(text) ? text : text.toWellFormed().replace(hidden(), render);
}

/** Replaces hidden characters in texts for reading, not for approval: joiners stay where emoji and scripts need them. */
export function replaceHiddenButJoiners(text: string, render: (character: string) => string): string {
  if (plainText.test(text)) return text;
  return text.toWellFormed().replace(joinerOrHidden(), (character, joiner: string | undefined) => joiner ?? render(character));
}

/** A text with its hidden characters spelled out: what a person approves hides nothing. Line ends and tabs stay. */
export function makeVisible(text: string): string {
  return replaceHidden(text, escapeCharacter);
}

/** A text on one line with its hidden characters spelled out, line endings and tabs too. */
export function makeVisibleLine(name: string): string {
  return plainLine.test(name) ? name : name.toWellFormed().replace(hiddenOrLineEnd(), escapeCharacter);
}

/** The first character of a command that a person and a shell might read differently; undefined when there is none. */
export function findAmbiguous(text: string): string | undefined {
  return plainText.test(text) ? undefined : ambiguous().exec(text)?.[0];
}

function escapeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
}
