import { JsoncInvalid, placeOf, readJsoncTree } from './config/jsonc-tree.js';

/** Parses JSON with comments and trailing commas. Throws JsoncInvalid, whose message has the path, the line and the column. */
export function parseJsonc(text: string, path: string): unknown {
  try {
    return JSON.parse(toPlainJson(text.replace(/^\uFEFF/, ' ')));
  } catch (error) {
    const { offset, reason } = findFault(text, error as SyntaxError);
    const { line, column } = placeOf(text, offset);
    throw new JsoncInvalid(`${path} is not JSON: ${reason} at line ${line}, column ${column}`, { offset, reason, cause: error });
  }
}

const stringOr = (other: string): RegExp => new RegExp(String.raw`"(?:[^"\\\n]|\\.)*"|${other}`, 'g');
const comments = stringOr(String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`);
const trailingCommas = stringOr(String.raw`,(?=\s*[}\]])`);

/** Replaces comments and trailing commas outside strings by blanks. */
function toPlainJson(text: string): string {
  const blank = (match: string): string => (match.startsWith('"') ? match : match.replace(/[^\n]/g, ' '));
  return text.replace(comments, blank).replace(trailingCommas, blank);
}

/** V8 often leaves out where a text is wrong, so it is read again with positions. */
function findFault(text: string, error: SyntaxError): { offset: number; reason: string } {
  try {
    readJsoncTree(text);
    return { offset: 0, reason: error.message };
  } catch (found) {
    if (found instanceof JsoncInvalid) return found;
    throw found;
  }
}
