import { borderFrom } from './borders.js';
import { inputBytesMax } from './input-size.js';
import { createTextBuffer, endOf, startPosition, type Line, type Position } from './text-buffer.js';
import type { Tokens } from './tokens.js';
import { createUndoStack, type Edit, type EditKind, type UndoMark } from './undo-stack.js';

export interface EditOptions {
  kind?: EditKind;
  atMs?: number;
  /** Where the cursor is afterwards; else behind what was inserted. */
  cursor?: Position;
  place?: number;
}

/** The text with its cursor, the edits that led to it, and its size. */
export interface Document {
  lines(): readonly Line[];
  lineText(line: number): string;
  end(): Position;
  slice(from: Position, to: Position): string;
  /** The text in which a placeholder is one character. */
  text(): string;
  isEmpty(): boolean;
  revision(): number;
  cursor(): Position;
  /** Moves the cursor to a border. */
  moveTo(position: Position): void;
  /** The entry of the history that the text came from. */
  place(): number;
  /** Replaces a range; false, and nothing has changed, when the text would be too large. */
  edit(from: Position, to: Position, text: string, options?: EditOptions): boolean;
  insert(text: string, options?: EditOptions): boolean;
  /** Replaces the whole text, however large it is. */
  replaceAll(text: string, options?: EditOptions): void;
  /** Whether the text may become larger by so many bytes. */
  hasRoom(bytes: number): boolean;
  /** A placeholder before the cursor has become larger by so many bytes. */
  grown(bytes: number): void;
  seal(): void;
  undo(): boolean;
  redo(): boolean;
  mark(): UndoMark;
  /** Makes one edit of everything that was typed since a mark: `text` instead of what was typed at `from`. */
  collapse(mark: UndoMark, from: Position, typed: string, text: string): void;
  /** Empties the text and forgets its edits. */
  reset(place: number): void;
  /** The texts that an undo or redo may bring back. */
  undoTexts(): Iterable<string>;
}

export function createDocument(tokens: Tokens, firstPlace: number): Document {
  const buffer = createTextBuffer();
  const stack = createUndoStack(tokens.bytesOf);
  let cursor = startPosition;
  let place = firstPlace;
  let bytes = 0;

  /** Inserted text may join with what stands behind it, and the cursor is never inside a grapheme. */
  function toBorder({ line, unit }: Position): Position {
    return { line, unit: borderFrom(buffer.lineText(line), unit) };
  }

  function replace(from: Position, to: Position, text: string, sizes: { added: number; removed: number }, options: EditOptions): void {
    const before = { cursor, place };
    const removed = buffer.replace(from, to, text);
    bytes += sizes.added - sizes.removed;
    cursor = toBorder(options.cursor ?? endOf(from, text));
    place = options.place ?? place;
    stack.push({
      kind: options.kind ?? 'single',
      from,
      removed,
      inserted: text,
      before,
      after: { cursor, place },
      atMs: options.atMs ?? 0,
    });
  }

  function edit(from: Position, to: Position, text: string, options: EditOptions = {}): boolean {
    const sizes = { added: tokens.bytesOf(text), removed: tokens.bytesOf(buffer.slice(from, to)) };
    if (sizes.added > sizes.removed && bytes + sizes.added - sizes.removed > inputBytesMax) return false;
    replace(from, to, text, sizes, options);
    return true;
  }

  function apply({ from }: Edit, removed: string, inserted: string): void {
    buffer.replace(from, endOf(from, removed), inserted);
    bytes += tokens.bytesOf(inserted) - tokens.bytesOf(removed);
  }

  return {
    lines: buffer.lines,
    lineText: buffer.lineText,
    end: buffer.end,
    slice: buffer.slice,
    text: buffer.text,
    isEmpty: () => buffer.lines().length === 1 && buffer.lineText(0) === '',
    revision: buffer.revision,
    cursor: () => cursor,
    moveTo(position) {
      cursor = position;
    },
    place: () => place,
    edit,
    insert: (text, options) => edit(cursor, cursor, text, options),
    replaceAll(text, options = {}) {
      const sizes = { added: tokens.bytesOf(text), removed: bytes };
      replace(startPosition, buffer.end(), text, sizes, options);
    },
    hasRoom: (more) => bytes + more <= inputBytesMax,
    grown(more) {
      bytes += more;
      buffer.touch(cursor.line);
    },
    seal: stack.seal,
    undo() {
      const undone = stack.undo();
      if (!undone) return false;
      apply(undone, undone.inserted, undone.removed);
      ({ cursor, place } = undone.before);
      return true;
    },
    redo() {
      const redone = stack.redo();
      if (!redone) return false;
      apply(redone, redone.removed, redone.inserted);
      ({ cursor, place } = redone.after);
      return true;
    },
    mark: stack.mark,
    collapse(mark, from, typed, text) {
      buffer.replace(from, endOf(from, typed), '');
      bytes -= tokens.bytesOf(typed);
      cursor = from;
      stack.rewind(mark);
      replace(from, from, text, { added: tokens.bytesOf(text), removed: 0 }, {});
      stack.seal();
    },
    reset(nextPlace) {
      buffer.replace(startPosition, buffer.end(), '');
      stack.clear();
      cursor = startPosition;
      place = nextPlace;
      bytes = 0;
    },
    undoTexts: stack.texts,
  };
}
