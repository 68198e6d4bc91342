import { printableLine } from '../../view/printable.js';
import { textHead, textWidth } from '../rows/cells.js';
import { jsonBytes } from './input-size.js';

export interface Image {
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly name: string;
}

/** An image in a text that was taken from the editor. */
export interface ImageToken extends Image {
  readonly label: string;
  /** Where its label begins in the text, in UTF-16 units. */
  readonly at: number;
}

/** Placeholders: texts and images that stand in the editor as one character each, shown as a label. */
export interface Tokens {
  addPaste(text: string): string | undefined;
  addText(label: string, text: string): string | undefined;
  addImage(image: Image): string | undefined;
  /** Adds to a paste that is still coming in. */
  grow(character: string, text: string): void;
  /** The label of a placeholder. */
  labelOf(character: string): string | undefined;
  widthOf(character: string): number;
  /** What a placeholder of text stands for; undefined for images. */
  textOf(character: string): string | undefined;
  /** A text with its placeholders replaced by what they stand for, images by their labels. */
  expand(text: string): string;
  /** A text with its placeholders replaced by their labels. */
  show(text: string): string;
  /** The bytes that a text and its images take in a line of the protocol. */
  bytesOf(text: string): number;
  imagesIn(text: string): ImageToken[];
  /** Finds images again by their labels. */
  linkImages(text: string): string;
}

interface Token {
  label: string;
  labelWidth: number;
  bytes: number;
  /** Pieces of a paste; none for an image. */
  pieces: string[];
  lineEnds: number;
  units: number;
  image?: Image;
  number?: number;
}

const tuning = { codesFirst: 0xd800, codes: 1_024, bytesBeforeForgetting: 64 * 1024 * 1024 } as const;
const layout = { nameColumns: 40 } as const;

const tokenPattern = /[\ud800-\udbff](?![\udc00-\udfff])/g;
/** Beside the data of an image on the wire: the names of fields. */
const imageOverhead = '{"type":"image","data":"","mime_type":""},';

/** `texts` are all texts that may hold a placeholder: what none of them has is forgotten when room is needed. */
export function createTokens(texts: () => Iterable<string>): Tokens {
  const known = new Map<string, Token>();
  let nextCode = 0;
  let pastes = 0;
  let images = 0;
  let forgetAtBytes: number = tuning.bytesBeforeForgetting;

  function add(token: Token): string | undefined {
    if (known.size >= tuning.codes || knownBytes() > forgetAtBytes) forgetUnused();
    if (known.size >= tuning.codes) return undefined;
    let character: string;
    do character = String.fromCharCode(tuning.codesFirst + (nextCode++ % tuning.codes));
    while (known.has(character));
    known.set(character, token);
    return character;
  }

  function forgetUnused(): void {
    const used = new Set<string>();
    for (const text of texts()) for (const [character] of text.matchAll(tokenPattern)) used.add(character);
    for (const character of known.keys()) if (!used.has(character)) known.delete(character);
    forgetAtBytes = Math.max(tuning.bytesBeforeForgetting, 2 * knownBytes());
  }

  function knownBytes(): number {
    let bytes = 0;
    for (const token of known.values()) bytes += token.bytes;
    return bytes;
  }

  function replaceTokens(text: string, by: (token: Token) => string): string {
    if (known.size === 0) return text;
    return text.replace(tokenPattern, (character) => {
      const token = known.get(character);
      return token ? by(token) : '';
    });
  }

  function joinPieces(token: Token): string {
    if (token.pieces.length > 1) token.pieces = [token.pieces.join('')];
    return token.pieces[0] ?? '';
  }

  function labelPaste(token: Token): void {
    const lines = token.lineEnds + (token.pieces.at(-1)?.endsWith('\n') === true ? 0 : 1);
    const size = lines > 1 ? `${count(lines)} lines` : `${count(token.units)} characters`;
    token.label = `[pasted #${token.number ?? 0}, ${size}]`;
    token.labelWidth = textWidth(token.label);
  }

  return {
    addPaste(text) {
      const token: Token = {
        label: '',
        labelWidth: 0,
        bytes: jsonBytes(text),
        pieces: [text],
        lineEnds: lineEndsIn(text),
        units: text.length,
        number: pastes + 1,
      };
      labelPaste(token);
      const character = add(token);
      if (character !== undefined) pastes++;
      return character;
    },
    addText(name, text) {
      const label = `[${shortName(name)}]`;
      return add({ label, labelWidth: textWidth(label), bytes: jsonBytes(text), pieces: [text], lineEnds: 0, units: text.length });
    },
    addImage(image) {
      const label = `[image #${images + 1} ${shortName(image.name)}]`;
      const bytes = jsonBytes(label) + image.data.length + jsonBytes(image.mimeType) + imageOverhead.length;
      const character = add({ label, labelWidth: textWidth(label), bytes, pieces: [], lineEnds: 0, units: 0, image });
      if (character !== undefined) images++;
      return character;
    },
    grow(character, text) {
      const token = known.get(character);
      if (!token) return;
      token.pieces.push(text);
      token.bytes += jsonBytes(text);
      token.lineEnds += lineEndsIn(text);
      token.units += text.length;
      labelPaste(token);
    },
    labelOf: (character) => known.get(character)?.label,
    widthOf: (character) => known.get(character)?.labelWidth ?? 0,
    textOf(character) {
      const token = known.get(character);
      return token && !token.image ? joinPieces(token) : undefined;
    },
    expand: (text) => replaceTokens(text, (token) => (token.image ? token.label : joinPieces(token))),
    show: (text) => replaceTokens(text, ({ label }) => label),
    bytesOf(text) {
      let bytes = jsonBytes(known.size === 0 ? text : text.replace(tokenPattern, ''));
      if (known.size > 0) for (const [character] of text.matchAll(tokenPattern)) bytes += known.get(character)?.bytes ?? 0;
      return bytes;
    },
    imagesIn(text) {
      const found: ImageToken[] = [];
      let at = 0;
      let done = 0;
      for (const { 0: character, index } of text.matchAll(tokenPattern)) {
        at += index - done;
        done = index + 1;
        const token = known.get(character);
        if (token?.image) found.push({ ...token.image, label: token.label, at });
        at += token?.image ? token.label.length : (token?.units ?? 0);
      }
      return found;
    },
    linkImages(text) {
      let linked = text;
      for (const [character, { image, label }] of known) if (image) linked = linked.replace(label, () => character);
      return linked;
    },
  };
}

function lineEndsIn(text: string): number {
  let found = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) found++;
  return found;
}

function shortName(name: string): string {
  const line = printableLine(name);
  return textWidth(line) <= layout.nameColumns ? line : `${textHead(line, layout.nameColumns - 1)}…`;
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
