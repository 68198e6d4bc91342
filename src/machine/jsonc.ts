/** Parses JSON with comments and trailing commas. Throws a message with line and column. */
export function parseJsonc(text: string, path: string): unknown {
  try {
    return JSON.parse(toPlainJson(text.replace(/^\uFEFF/, ' ')));
  } catch (error) {
    throw new Error(`${path} is not JSON: ${withLineAndColumn(text, (error as Error).message)}`, { cause: error });
  }
}

const stringOr = (other: string): RegExp => new RegExp(String.raw`"(?:[^"\\\n]|\\.)*"|${other}`, 'g');
const comments = stringOr(String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`);
const trailingCommas = stringOr(String.raw`,(?=\s*[}\]])`);

/** Replaces comments and trailing commas outside strings by blanks, so that positions in error messages stay right. */
function toPlainJson(text: string): string {
  const blank = (match: string): string => (match.startsWith('"') ? match : match.replace(/[^\n]/g, ' '));
  return text.replace(comments, blank).replace(trailingCommas, blank);
}

/** The message of a parse error with line and column instead of a position. */
function withLineAndColumn(text: string, message: string): string {
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? NaN);
  if (Number.isNaN(position)) return message;
  const before = text.slice(0, position).split('\n');
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return message.replace(/ ?(in JSON )?at position \d+.*$/s, ` at ${place}`);
}
