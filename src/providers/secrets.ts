import { limits } from '../protocol/limits.js';

const betweenWords = /([\s"'`,;:(){}[\]<>=]+)/;
const stars = /\*{2,}|\.{3,}|…/;
/** Keys that look like keys, whoever they belong to. */
const keyShapes = [
  /\b(?:sk|pk|rk)-(?=[\w*-]*[\d*])[\w*-]{20,}/g,
  /\bAIza[\w-]{30,}/g,
  /\b(?:gsk|hf|xai|ghp|gho|ghs|github_pat|glpat)[_-][A-Za-z0-9_]{20,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/g,
];

/** A text of a server without the secrets that it repeats of what it was sent, be they whole or half hidden. */
export function scrub(text: string, secrets: readonly string[]): string {
  const known = secrets.filter(({ length }) => length >= limits.secretCharsMin).toSorted((a, b) => b.length - a.length);
  let clean = text;
  for (const secret of known) clean = clean.replaceAll(secret, '[key]');
  const words = clean
    .split(betweenWords)
    .map((word) => (stars.test(word) && known.some((secret) => isMaskOf(word, secret)) ? '[key]' : word));
  return keyShapes.reduce((said, shape) => said.replace(shape, '[key]'), words.join(''));
}

const credentialHeader = /(?:^|[-_])(?:auth\w*|cookie|(?:api)?key|token|secret|password|credentials?)(?:[-_]|$)/i;
const scheme = /^(?:bearer|basic|token|digest|apikey)\s+/i;

/** Headers that describe a request: a server that names them in an error says something that is of use. */
const publicHeader =
  /^(?:accept(?:-[a-z]+)?|content-(?:type|language)|user-agent|(?:http-)?referer|origin|x-title|anthropic-(?:beta|version)|openai-beta)$/i;

/**
 * The values of configured headers that are not repeated to anybody, without their scheme. Nobody knows what a header of a proxy or gateway
 * means, so all values count that are long enough; those of headers whose name or scheme says that they hold a credential count at any length.
 */
export function credentialsIn(headers: Record<string, string | null>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const secret = value?.trim().replace(scheme, '') ?? '';
    const isCredential = credentialHeader.test(name) || (value !== null && scheme.test(value.trim()));
    return isCredential || (!publicHeader.test(name) && secret.length >= limits.headerSecretCharsMin) ? [secret] : [];
  });
}

function isMaskOf(word: string, secret: string): boolean {
  const shown = word.split(stars);
  const head = shown[0] ?? '';
  // A sentence may end here.
  const tail = shown.at(-1)?.replace(/\.$/, '') ?? '';
  return (
    (head.length >= limits.maskedSecretCharsMin && secret.startsWith(head)) ||
    (tail.length >= limits.maskedSecretCharsMin && secret.endsWith(tail))
  );
}
