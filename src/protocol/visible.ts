/** Control and format characters, and whatever else takes no room. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** A text in which everything that is there can be seen: what a person approves hides nothing. Line ends and tabs stay. */
export function makeVisible(text: string): string {
  return text.toWellFormed().replace(unseen, (character) => {
    if (character === '\n' || character === '\t') return character;
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
  });
}
