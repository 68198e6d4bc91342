import { limits } from '../protocol/limits.js';

const betweenWords = /([\s"'`,;:(){}[\]<>=]+)/;
const maskPattern = /\*{2,}|\.{3,}|…/;
/** Patterns of well-known API keys. */
const keyShapes = [
  /\b(?:sk|pk|rk)-(?=[\w*-]*[\d*])[\w*-]{20,}/g,
  /\bAIza[\w-]{30,}/g,
  /\b(?:gsk|hf|xai|ghp|gho|ghs|github_pat|glpat)[_-][A-Za-z0-9_]{20,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/g,
];

/** Redacts secrets in a text of a server, whole or partly masked. */
export function scrub(text: string, secrets: readonly string[]): string {
  const longSecrets = secrets.filter(({ length }) => length >= limits.secretCharsMin).toSorted((a, b) => b.length - a.length);
  let clean = text;
  for (const secret of longSecrets) clean = clean.replaceAll(secret, '[key]');
  const words = clean
    .split(betweenWords)
    .map((word) => (maskPattern.test(word) && longSecrets.some((secret) => isMaskOf(word, secret)) ? '[key]' : word));
  return keyShapes.reduce((redacted, shape) => redacted.replace(shape, '[key]'), words.join(''));
}

const credentialHeader = /(?:^|[-_])(?:auth\w*|cookie|(?:api)?key|token|secret|password|credentials?)(?:[-_]|$)/i;
const scheme = /^(?:bearer|basic|token|digest|apikey)\s+/i;

/** Headers without secrets, whose values are useful in an error. */
const publicHeader =
  /^(?:accept(?:-[a-z]+)?|content-(?:type|language)|user-agent|(?:http-)?referer|origin|x-title|anthropic-(?:beta|version)|openai-beta)$/i;

/**
 * The values of configured headers to redact, without their scheme. A header of a proxy or gateway may hold a credential, so all values that are
 * long enough count; those of headers whose name or scheme suggests a credential count at any length.
 */
export function credentialsIn(headers: Record<string, string | null>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const secret = value?.trim().replace(scheme, '') ?? '';
    const isCredential = credentialHeader.test(name) || (value !== null && scheme.test(value.trim()));
    return isCredential || (!publicHeader.test(name) && secret.length >= limits.headerSecretCharsMin) ? [secret] : [];
  });
}

function isMaskOf(word: string, secret: string): boolean {
  const shown = word.split(maskPattern);
  const head = shown[0] ?? '';
  // The period may end a sentence.
  const tail = shown.at(-1)?.replace(/\.$/, '') ?? '';
  return (
    (head.length >= limits.maskedSecretCharsMin && secret.startsWith(head)) ||
    (tail.length >= limits.maskedSecretCharsMin && secret.endsWith(tail))
  );
}
