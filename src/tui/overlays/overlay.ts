import type { Cursor } from '../screen/frame.js';
import type { Row } from '../rows/row.js';

/** Something that is shown in the place of the transcript and has the keyboard until it is closed. */
export interface Overlay {
  /** Its rows, at most `rows`, and where the cursor is in them. */
  frame(columns: number, rows: number): { rows: readonly Row[]; cursor: Cursor | null };
  onKey(key: string): void;
  onText(text: string): void;
  onPaste(text: string): void;
  /** A click on one of its rows. */
  onClick?(row: number): void;
  onWheel?(by: number): void;
  /** It was closed without an answer. */
  onClosed?(): void;
}
