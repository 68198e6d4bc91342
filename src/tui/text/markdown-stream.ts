import { emptyRow, type Row } from '../rows/row.js';
import { noOpenBlock } from './highlight.js';
import { createLinePieces } from './line-pieces.js';
import { createBlockSplitter } from './markdown-blocks.js';
import { layoutPart, readPart, type ReadPart } from './markdown-layout.js';

/** Markdown that grows while it is shown. */
export interface MarkdownStream {
  push(piece: string): void;
  /** The rows of the text so far. The list is used again: it is valid until the next call. */
  rows(columns: number): readonly Row[];
}

/**
 * Renders Markdown that arrives in pieces. Blocks that are complete are read and laid out once; what is read again with each piece is the last
 * block, of which long ones are split, so that a piece costs the same however long the text is.
 */
export function createMarkdownStream(): MarkdownStream {
  const pieces = createLinePieces();
  const splitter = createBlockSplitter();
  const complete: ReadPart[] = [];
  let open = noOpenBlock;

  const rows: Row[] = [];
  let laidOut = 0;
  /** Rows of the complete parts; those after them are of the last block. */
  let completeRows = 0;
  let width = 0;
  let isStale = false;

  function append(read: ReadPart): void {
    if (read.part.isApart && rows.length > 0) rows.push(emptyRow);
    rows.push(...layoutPart(read, width));
  }

  return {
    push(piece) {
      if (piece === '') return;
      isStale = true;
      for (const line of pieces.push(piece)) {
        for (const part of splitter.push(line)) {
          const read = readPart(part, open);
          open = read.open;
          complete.push(read);
        }
      }
    },
    rows(columns) {
      const wanted = Math.max(1, columns);
      if (wanted === width && !isStale) return rows;
      if (wanted !== width) laidOut = completeRows = 0;
      width = wanted;
      isStale = false;
      rows.length = completeRows;
      for (; laidOut < complete.length; laidOut++) {
        const read = complete[laidOut];
        if (read) append(read);
      }
      completeRows = rows.length;
      let openNow = open;
      for (const part of splitter.rest(pieces.rest())) {
        const read = readPart(part, openNow);
        openNow = read.open;
        append(read);
      }
      return rows;
    },
  };
}
