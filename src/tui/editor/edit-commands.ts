import { isToken, nextBorder, previousBorder } from './borders.js';
import type { Document } from './document.js';
import type { EditorActionName } from './editor-actions.js';
import type { KillRing } from './kill-ring.js';
import { columnOf, moveByRow, rowOf, rowStarts } from './line-layout.js';
import { left, lineEnd, lineStart, right, spaceLeft, wordLeft, wordRight } from './motions.js';
import type { Recall } from './recall.js';
import { endOf, samePosition, startPosition, type Position } from './text-buffer.js';
import type { Tokens } from './tokens.js';

interface Deps {
  document: Document;
  tokens: Tokens;
  kills: KillRing;
  recall: Recall;
  /** The columns of a row, for Up and Down. */
  columns(): number;
}

/** Actions that are undone together with others of their kind that follow. */
const continued = new Set<EditorActionName>(['deleteBackward', 'deleteForward', 'newline', 'up', 'down']);
const kill = new Set<EditorActionName>([
  'deleteToSpace',
  'deleteWordBackward',
  'deleteWordForward',
  'deleteToLineEnd',
  'deleteToLineStart',
]);

/** Does the actions of the editor. */
export interface EditCommands {
  run(name: EditorActionName): void;
  /** Something else was done: a cut begins anew, and Up and Down take the column of the cursor. */
  interrupt(): void;
}

export function createEditCommands({ document, tokens, kills, recall, columns }: Deps): EditCommands {
  let last: EditorActionName | undefined;
  let wantedColumn: number | undefined;
  let yanked: { from: Position; text: string } | undefined;

  function move(to: Position): void {
    document.moveTo(to);
  }

  function killTo(target: Position, direction: 'before' | 'after'): void {
    const cursor = document.cursor();
    const [from, to] = direction === 'before' ? [target, cursor] : [cursor, target];
    const text = document.slice(from, to);
    if (text === '') return;
    kills.add(text, last !== undefined && kill.has(last) ? direction : undefined);
    document.edit(from, to, '');
  }

  function vertical(by: -1 | 1): void {
    if (recall.isWalking() && recallNext(by)) return;
    const cursor = document.cursor();
    const line = document.lines()[cursor.line];
    if (!line) return;
    const starts = rowStarts(line, columns(), tokens);
    wantedColumn ??= columnOf(line.text, starts[rowOf(starts, cursor.unit)] ?? 0, cursor.unit, columns(), tokens);
    const to = moveByRow(document.lines(), cursor, by, wantedColumn, columns(), tokens);
    if (to) return move(to);
    if (!recallNext(by)) move(by < 0 ? startPosition : document.end());
  }

  function recallNext(by: -1 | 1): boolean {
    if (!(by < 0 ? recall.older() : recall.newer())) return false;
    wantedColumn = undefined;
    return true;
  }

  function transpose(): void {
    const { line, unit } = document.cursor();
    const text = document.lineText(line);
    const middle = unit === text.length ? previousBorder(text, unit) : unit;
    if (middle === 0) return;
    const from = previousBorder(text, middle);
    const to = nextBorder(text, middle);
    document.edit({ line, unit: from }, { line, unit: to }, text.slice(middle, to) + text.slice(from, middle));
  }

  /** The placeholder before the cursor, or the one after it. */
  function expandPlaceholder(): void {
    const { line, unit } = document.cursor();
    const text = document.lineText(line);
    for (const at of [unit - 1, unit]) {
      if (!isToken(text.charCodeAt(at)) || (text.codePointAt(at) ?? 0) > 0xffff) continue;
      const expanded = tokens.textOf(text.charAt(at));
      if (expanded === undefined) continue;
      document.edit({ line, unit: at }, { line, unit: at + 1 }, expanded);
      return;
    }
  }

  function yank(text: string | undefined, over?: { from: Position; text: string }): void {
    if (text === undefined) return;
    const from = over?.from ?? document.cursor();
    const isTaken = document.edit(from, over ? endOf(from, over.text) : from, text);
    yanked = isTaken ? { from, text } : undefined;
  }

  const runs: Record<EditorActionName, () => void> = {
    left: () => move(left(document, document.cursor())),
    right: () => move(right(document, document.cursor())),
    up: () => vertical(-1),
    down: () => vertical(1),
    wordLeft: () => move(wordLeft(document, document.cursor())),
    wordRight: () => move(wordRight(document, document.cursor())),
    lineStart: () => move(lineStart(document.cursor())),
    lineEnd: () => move(lineEnd(document, document.cursor())),
    textStart: () => move(startPosition),
    textEnd: () => move(document.end()),
    newline: () => void document.insert('\n', { kind: 'single' }),
    deleteBackward() {
      const cursor = document.cursor();
      const from = left(document, cursor);
      if (!samePosition(from, cursor)) document.edit(from, cursor, '', { kind: 'deleteBackward' });
    },
    deleteForward() {
      const cursor = document.cursor();
      const to = right(document, cursor);
      if (!samePosition(to, cursor)) document.edit(cursor, to, '', { kind: 'deleteForward' });
    },
    deleteToSpace: () => killTo(spaceLeft(document, document.cursor()), 'before'),
    deleteWordBackward: () => killTo(wordLeft(document, document.cursor()), 'before'),
    deleteWordForward: () => killTo(wordRight(document, document.cursor()), 'after'),
    deleteToLineEnd() {
      const cursor = document.cursor();
      const end = lineEnd(document, cursor);
      killTo(end.unit === cursor.unit ? right(document, cursor) : end, 'after');
    },
    deleteToLineStart() {
      const cursor = document.cursor();
      killTo(cursor.unit === 0 ? left(document, cursor) : lineStart(cursor), 'before');
    },
    yank: () => yank(kills.newest()),
    yankPop() {
      if (yanked) yank(kills.next(), yanked);
    },
    transpose,
    undo: () => void document.undo(),
    redo: () => void document.redo(),
    expandPlaceholder,
  };

  function interrupt(): void {
    last = undefined;
    wantedColumn = undefined;
    yanked = undefined;
    recall.stopWalking();
  }

  return {
    run(name) {
      if (name !== last || !continued.has(name)) {
        const isVertical = (name === 'up' || name === 'down') && (last === 'up' || last === 'down');
        if (!isVertical) document.seal();
      }
      if (name !== 'up' && name !== 'down') {
        wantedColumn = undefined;
        recall.stopWalking();
      }
      if (name !== 'yank' && name !== 'yankPop') yanked = undefined;
      runs[name]();
      last = name;
    },
    interrupt,
  };
}
