import { isUtf8 } from 'node:buffer';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

const bom = '\ufeff';

/** Beginnings by which files that are no text are told apart. */
const kinds: [name: string, begin: string][] = [
  ['a PDF document', '25504446'],
  ['a zip archive or office document', '504b0304'],
  ['a gzip archive', '1f8b'],
  ['a zstd archive', '28b52ffd'],
  ['an xz archive', 'fd377a585a'],
  ['a bzip2 archive', '425a68'],
  ['a 7z archive', '377abcaf271c'],
  ['an ELF program', '7f454c46'],
  ['a WebAssembly module', '0061736d'],
  ['a SQLite database', '53514c69746520666f726d61742033'],
  ['a Java class', 'cafebabe'],
  ['a BMP image', '424d'],
  ['an ICO image', '00000100'],
  ['an Ogg file', '4f676753'],
  ['an MP3 file', '494433'],
];

/** How the text of a file is written, judged by its beginning; undefined when it is no text. */
export function encodingOf(begin: Buffer): Encoding | undefined {
  if (begin[0] === 0xff && begin[1] === 0xfe) return 'utf-16le';
  if (begin[0] === 0xfe && begin[1] === 0xff) return 'utf-16be';
  if (!begin.includes(0)) return begin.subarray(0, 5).equals(Buffer.from('%PDF-')) ? undefined : 'utf-8';
  return wideEncodingOf(begin);
}

/** UTF-16 without a mark: of mostly western text, every other byte is zero. */
function wideEncodingOf(begin: Buffer): Encoding | undefined {
  const zeros = [0, 0];
  for (let i = 0; i < begin.length; i++) if (begin[i] === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const pairs = begin.length / 2;
  if (pairs < 2) return undefined;
  if (odd > pairs * 0.7 && even === 0) return 'utf-16le';
  return even > pairs * 0.7 && odd === 0 ? 'utf-16be' : undefined;
}

/** What a file that is no text is, in words. */
export function kindOf(begin: Buffer): string {
  const hex = begin.subarray(0, 16).toString('hex');
  return kinds.find(([, magic]) => hex.startsWith(magic))?.[0] ?? 'binary data';
}

/** A text that can be edited, with what belongs to the file and not to the text. */
export interface FileText {
  text: string;
  hasBom: boolean;
}

/** The text of a file, or why it cannot be edited, as the end of a sentence. */
export function decodeText(bytes: Buffer): FileText | string {
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return `is ${kindOf(bytes)}, not text`;
  if (encoding !== 'utf-8') return `is ${encoding.toUpperCase()} text; only UTF-8 can be edited`;
  if (!isUtf8(bytes)) return 'is not valid UTF-8; use a command to change it';
  const text = bytes.toString('utf8');
  return text.startsWith(bom) ? { text: text.slice(1), hasBom: true } : { text, hasBom: false };
}

export function encodeText({ text, hasBom }: FileText): Buffer {
  return Buffer.from(hasBom ? bom + text : text, 'utf8');
}

/** How many lines a text has; a line end at the end begins no other one. */
export function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
