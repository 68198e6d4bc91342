/** JSON with comments and trailing commas. What cannot be read is thrown as a sentence with its place. */
export function parseJsonc(text: string, path: string): unknown {
  try {
    return JSON.parse(toPlainJson(text.replace(/^\uFEFF/, ' ')));
  } catch (error) {
    throw new Error(`${path} is not JSON: ${placeOf(text, (error as Error).message)}`, { cause: error });
  }
}

const stringOr = (other: string): RegExp => new RegExp(String.raw`"(?:[^"\\\n]|\\.)*"|${other}`, 'g');
const comments = stringOr(String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`);
const trailingCommas = stringOr(String.raw`,(?=\s*[}\]])`);

/** Blanks out comments and trailing commas, so that places in error messages stay right. What is within strings is left alone. */
function toPlainJson(text: string): string {
  const blank = (match: string): string => (match.startsWith('"') ? match : match.replace(/[^\n]/g, ' '));
  return text.replace(comments, blank).replace(trailingCommas, blank);
}

/** Where in the file a parse error is, for people. */
function placeOf(text: string, message: string): string {
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? NaN);
  if (Number.isNaN(position)) return message;
  const before = text.slice(0, position).split('\n');
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return message.replace(/ ?(in JSON )?at position \d+.*$/s, ` at ${place}`);
}
