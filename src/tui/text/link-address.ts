const tuning = { addressUnitsMax: 2_000, parenthesesMax: 8 } as const;

export interface LinkAddress {
  href: string;
  /** Where the text goes on. */
  end: number;
}

/** Reads `(address "title")` at an opening parenthesis; undefined when it is none. */
export function readAddress(text: string, from: number): LinkAddress | undefined {
  const most = Math.min(text.length, from + tuning.addressUnitsMax);
  let at = skipSpaces(text, from + 1, most);
  const start = at;
  let href: string;
  if (text.charAt(at) === '<') {
    while (at < most && !'>\n'.includes(text.charAt(at))) at++;
    if (text.charAt(at) !== '>') return undefined;
    href = text.slice(start + 1, at);
    at++;
  } else {
    let depth = 0;
    for (; at < most && !isSpace(text.charAt(at)); at++) {
      const character = text.charAt(at);
      if (character === '(' && ++depth > tuning.parenthesesMax) return undefined;
      if (character === ')' && depth-- === 0) break;
    }
    href = text.slice(start, at);
  }
  const afterHref = skipSpaces(text, at, most);
  const afterTitle = afterHref > at ? skipTitle(text, afterHref, most) : afterHref;
  if (text.charAt(afterTitle) !== ')') return undefined;
  return { href, end: afterTitle + 1 };
}

function skipTitle(text: string, from: number, most: number): number {
  const closing = { '"': '"', "'": "'", '(': ')' }[text.charAt(from)];
  if (closing === undefined) return from;
  const end = text.slice(0, most).indexOf(closing, from + 1);
  return end === -1 ? from : skipSpaces(text, end + 1, most);
}

const bareAddress = /(?:https?:\/\/(?:\[[\da-f:.]+\])?|www\.)[^\s<>[\]`"\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]+/iy;

/** Punctuation that belongs to the sentence around an address. */
const trailing = "?!.,:;*_~'|";

/** The web address at this place of a text, without the punctuation after it; empty when there is none. */
export function readBareAddress(text: string, from: number): string {
  if (from > 0 && /[\p{L}\p{N}]/u.test(text.charAt(from - 1))) return '';
  bareAddress.lastIndex = from;
  const found = bareAddress.exec(text)?.[0].slice(0, tuning.addressUnitsMax) ?? '';
  let end = found.length;
  let stray = found.split(')').length - found.split('(').length;
  while (end > 0) {
    const last = found.charAt(end - 1);
    if (last === ')' && stray > 0) stray--;
    else if (!trailing.includes(last)) break;
    end--;
  }
  return found.slice(0, end);
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\t';
}

function skipSpaces(text: string, from: number, most: number): number {
  let at = from;
  while (at < most && isSpace(text.charAt(at))) at++;
  return at;
}
