const secretCharsMin = 6;
/** As much of a secret as is shown beside the stars that hide the rest. */
const shownCharsMin = 3;
const betweenWords = /([\s"'`,;:(){}[\]<>=]+)/;
const stars = /\*{2,}|\.{3,}|…/;
const keyLike = /\b(sk|pk|rk)-[A-Za-z0-9_*-]{8,}/g;

/** A text without the secrets that servers repeat of what they were sent, be they whole or half hidden. */
export function scrub(text: string, secrets: readonly string[]): string {
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/\s+/)]).filter(({ length }) => length >= secretCharsMin);
  let clean = text;
  for (const part of parts.toSorted((a, b) => b.length - a.length)) clean = clean.replaceAll(part, '[key]');
  const words = clean.split(betweenWords).map((word) => (stars.test(word) && parts.some((part) => isMaskOf(word, part)) ? '[key]' : word));
  return words.join('').replace(keyLike, '[key]');
}

function isMaskOf(word: string, secret: string): boolean {
  const shown = word.split(stars);
  const head = shown[0] ?? '';
  // A sentence may end here.
  const tail = shown.at(-1)?.replace(/\.$/, '') ?? '';
  return (head.length >= shownCharsMin && secret.startsWith(head)) || (tail.length >= shownCharsMin && secret.endsWith(tail));
}
