import { limits } from '../../protocol/limits.js';

/** What a text and its images may take in the line that carries them to the daemon. */
export const inputBytesMax = limits.lineBytesMax - limits.envelopeMarginBytes;

/** A text comes before, between and after the images of an input. */
export const inputImagesMax = Math.floor((limits.inputPartsMax - 1) / 2);

const unescapedAscii = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const shortEscapes = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);

/** The bytes of a well-formed text in JSON, without its quotes. */
export function jsonBytes(text: string): number {
  if (unescapedAscii.test(text)) return text.length;
  let bytes = 0;
  for (let at = 0; at < text.length; at++) bytes += unitBytes(text.charCodeAt(at));
  return bytes;
}

function unitBytes(unit: number): number {
  if (unit < 0x20) return shortEscapes.has(unit) ? 2 : 6;
  if (unit < 0x80) return unit === 0x22 || unit === 0x5c ? 2 : 1;
  // Each half of a surrogate pair has two of its four bytes.
  if (unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff)) return 2;
  return 3;
}

/** A text as the editor keeps it: well-formed, with \n as its only line end. */
export function normalizeText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').toWellFormed();
}
