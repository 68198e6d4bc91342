import { encodeRow } from '../rows/encode.js';
import type { Look } from '../rows/look.js';
import { emptyRow, type Row } from '../rows/row.js';

export interface Cursor {
  row: number;
  column: number;
}

/** The whole screen. */
export interface Frame {
  rows: readonly Row[];
  cursor: Cursor | null;
}

export interface FramePainter {
  /** Writes what differs from the frame before, in one write; nothing when nothing differs. */
  paint(frame: Frame, columns: number, rows: number, look: Look): void;
  /** Forgets the screen, which something else has drawn on or a resize has rearranged: the next frame is painted whole. */
  forget(): void;
}

/** Paints frames of rows. Rows that did not change are compared by identity first, so that an unchanged part of the screen costs nothing. */
export function createFramePainter(write: (text: string) => void): FramePainter {
  let shown: (Row | undefined)[] = [];
  let encoded: (string | undefined)[] = [];
  let cursorAt = '';
  let size = '';
  let painted: Look | undefined;

  return {
    paint({ rows, cursor }, columns, height, look) {
      const isWhole = size !== `${columns}x${height}`;
      if (isWhole || painted !== look) shown = [];
      if (isWhole) encoded = [];
      size = `${columns}x${height}`;
      painted = look;
      let changes = '';
      for (let at = 0; at < height; at++) {
        const row = rows[at] ?? emptyRow;
        if (shown[at] === row) continue;
        shown[at] = row;
        const text = encodeRow(row, columns, look);
        if (encoded[at] === text) continue;
        encoded[at] = text;
        // The row is cleared first: a terminal that disagrees about a width then shows no remains.
        changes += `\x1b[${at + 1};1H\x1b[2K${text}`;
      }
      const place = cursor ? `\x1b[${cursor.row + 1};${Math.min(columns, cursor.column + 1)}H\x1b[?25h` : '\x1b[?25l';
      if (changes === '' && place === cursorAt) return;
      cursorAt = place;
      // Synchronized output, with the cursor last and inside: input methods look where the cursor is.
      write(`\x1b[?2026h${changes === '' ? '' : `\x1b[?25l${changes}`}${place}\x1b[?2026l`);
    },
    forget() {
      size = '';
      cursorAt = '';
    },
  };
}
