import { isUtf8 } from 'node:buffer';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

const bom = '\ufeff';

/** Magic bytes, in hex, of common binary formats. */
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

/** Detects the character encoding from the beginning of a file; undefined for binary files. */
export function encodingOf(begin: Buffer): Encoding | undefined {
  if (begin[0] === 0xff && begin[1] === 0xfe) return 'utf-16le';
  if (begin[0] === 0xfe && begin[1] === 0xff) return 'utf-16be';
  if (!begin.includes(0)) return begin.subarray(0, 5).equals(Buffer.from('%PDF-')) ? undefined : 'utf-8';
  return guessUtf16(begin);
}

/** Detects UTF-16 without a byte order mark: in mostly Latin text, every other byte is zero. */
function guessUtf16(begin: Buffer): Encoding | undefined {
  const zeros = [0, 0];
  for (let i = 0; i < begin.length; i++) if (begin[i] === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const pairs = begin.length / 2;
  if (pairs < 2) return undefined;
  if (odd > pairs * 0.7 && even === 0) return 'utf-16le';
  return even > pairs * 0.7 && odd === 0 ? 'utf-16be' : undefined;
}

/** Describes the format of a binary file by its magic bytes. */
export function binaryKindOf(begin: Buffer): string {
  const hex = begin.subarray(0, 16).toString('hex');
  return kinds.find(([, magic]) => hex.startsWith(magic))?.[0] ?? 'binary data';
}

/** The text of a file, without its byte order mark (BOM). */
export interface FileText {
  text: string;
  hasBom: boolean;
}

/** Decodes a UTF-8 file, or says why it cannot be edited, as the end of a sentence. */
export function decodeText(bytes: Buffer): FileText | string {
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return `is ${binaryKindOf(bytes)}, not text`;
  if (encoding !== 'utf-8') return `is ${encoding.toUpperCase()} text; only UTF-8 can be edited`;
  if (!isUtf8(bytes)) return 'is not valid UTF-8; use a command to change it';
  const text = bytes.toString('utf8');
  return text.startsWith(bom) ? { text: text.slice(1), hasBom: true } : { text, hasBom: false };
}

export function encodeText({ text, hasBom }: FileText): Buffer {
  return Buffer.from(hasBom ? bom + text : text, 'utf8');
}

/** Counts lines; a trailing line ending begins no further line. */
export function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
