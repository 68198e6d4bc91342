import { endOf, samePosition, type Position } from './text-buffer.js';

/** Where the editor was before or after an edit. */
export interface Mark {
  readonly cursor: Position;
  /** The entry of the history that was being looked at. */
  readonly place: number;
}

/** Edits of one kind that follow on each other are undone together, except for `single` ones. */
export type EditKind = 'type' | 'deleteBackward' | 'deleteForward' | 'recall' | 'single';

export interface Edit {
  readonly kind: EditKind;
  readonly from: Position;
  readonly removed: string;
  readonly inserted: string;
  readonly before: Mark;
  readonly after: Mark;
  readonly atMs: number;
}

/** The stack at one moment. */
export interface UndoMark {
  /** Counts edits that were dropped since, too. */
  readonly length: number;
  readonly top: Edit | undefined;
}

export interface UndoStack {
  push(edit: Edit): void;
  /** The next edit begins a group of its own. */
  seal(): void;
  undo(): Edit | undefined;
  redo(): Edit | undefined;
  mark(): UndoMark;
  /** Forgets what was pushed since a mark. */
  rewind(mark: UndoMark): void;
  clear(): void;
  /** The texts of all edits. */
  texts(): Iterable<string>;
}

const tuning = { pauseMs: 1_000, editsMax: 2_000, bytesMax: 32 * 1024 * 1024 } as const;

/** Undo by words and pauses. */
export function createUndoStack(bytesOf: (text: string) => number): UndoStack {
  let done: Edit[] = [];
  let undone: Edit[] = [];
  let isSealed = true;
  const sizes = new WeakMap<Edit, number>();
  let bytes = 0;
  /** Edits that were too old to be kept. */
  let dropped = 0;

  function sizeOf(edit: Edit): number {
    let size = sizes.get(edit);
    if (size === undefined) {
      size = bytesOf(edit.removed) + bytesOf(edit.inserted);
      sizes.set(edit, size);
    }
    return size;
  }

  function add(edit: Edit): void {
    done.push(edit);
    bytes += sizeOf(edit);
    while (done.length > tuning.editsMax || (bytes > tuning.bytesMax && done.length > 1)) {
      const oldest = done.shift();
      if (oldest) bytes -= sizeOf(oldest);
      dropped++;
    }
  }

  function take(): Edit | undefined {
    const edit = done.pop();
    if (edit) bytes -= sizeOf(edit);
    return edit;
  }

  return {
    push(edit) {
      undone = [];
      const last = done.at(-1);
      const merged = isSealed || !last ? undefined : mergeEdits(last, edit);
      isSealed = false;
      if (merged) take();
      // A walk through the history that has come back to where it began changed nothing.
      if (merged?.kind === 'recall' && merged.removed === merged.inserted) isSealed = true;
      else add(merged ?? edit);
    },
    seal() {
      isSealed = true;
    },
    undo() {
      isSealed = true;
      const edit = take();
      if (edit) undone.push(edit);
      return edit;
    },
    redo() {
      isSealed = true;
      const edit = undone.pop();
      if (edit) add(edit);
      return edit;
    },
    mark: () => ({ length: dropped + done.length, top: done.at(-1) }),
    rewind({ length, top }) {
      while (done.length > 0 && dropped + done.length > length) take();
      const last = done.at(-1);
      if (top && last && last !== top) {
        take();
        add(top);
      }
      isSealed = true;
    },
    clear() {
      done = [];
      undone = [];
      bytes = 0;
      dropped = 0;
      isSealed = true;
    },
    *texts() {
      for (const { removed, inserted } of [...done, ...undone]) yield* [removed, inserted];
    },
  };
}

function mergeEdits(last: Edit, edit: Edit): Edit | undefined {
  const { kind, after, atMs } = edit;
  if (kind !== last.kind || kind === 'single') return undefined;
  const grown = { kind, before: last.before, after, atMs };
  if (kind === 'recall') return { ...grown, from: last.from, removed: last.removed, inserted: edit.inserted };
  if (kind === 'type') {
    const follows = edit.removed === '' && samePosition(edit.from, endOf(last.from, last.inserted)) && atMs - last.atMs <= tuning.pauseMs;
    const beginsWord = isSpace(last.inserted.at(-1)) && !isSpace(edit.inserted.at(0));
    return follows && !beginsWord
      ? { ...grown, from: last.from, removed: last.removed, inserted: last.inserted + edit.inserted }
      : undefined;
  }
  if (edit.inserted !== '' || last.inserted !== '') return undefined;
  if (kind === 'deleteForward') {
    const follows = samePosition(edit.from, last.from) && isSpace(last.removed.at(-1)) === isSpace(edit.removed.at(0));
    return follows ? { ...grown, from: last.from, removed: last.removed + edit.removed, inserted: '' } : undefined;
  }
  const follows = samePosition(endOf(edit.from, edit.removed), last.from) && isSpace(last.removed.at(0)) === isSpace(edit.removed.at(-1));
  return follows ? { ...grown, from: edit.from, removed: edit.removed + last.removed, inserted: '' } : undefined;
}

function isSpace(character: string | undefined): boolean {
  return character === undefined || /\s/.test(character);
}
