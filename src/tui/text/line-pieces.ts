import { wholeUnits } from '../../protocol/content.js';

/** A line of a text, or a part of one that is too long to be read as a whole. */
export interface LinePiece {
  readonly text: string;
  /** Set on what goes on in the line of the piece before: the white space between both. */
  readonly continues?: string;
}

export interface LinePieces {
  /** Takes the next piece of the text, and returns the lines that are complete now. */
  push(piece: string): LinePiece[];
  /** The line that has no end yet; undefined right after a line end. */
  rest(): LinePiece | undefined;
}

/** A longer line is cut at a space near this length, so that the end of a growing text is never long. */
const tuning = { pieceUnits: 2_048, spaceWithinUnits: 256 } as const;

/** Splits a growing text into lines. Where it is split depends on the text alone, not on the pieces in which it comes. */
export function createLinePieces(): LinePieces {
  let pending = '';
  let continues: string | undefined;

  function toPiece(line: string, isEnd: boolean): LinePiece {
    const text = isEnd && line.endsWith('\r') ? line.slice(0, -1) : line;
    return continues === undefined ? { text } : { text, continues };
  }

  function take(length: number, skipped: number, next: string | undefined): LinePiece {
    const piece = toPiece(pending.slice(0, length), next === undefined);
    pending = pending.slice(length + skipped);
    continues = next;
    return piece;
  }

  return {
    push(piece) {
      const lines: LinePiece[] = [];
      pending += piece;
      for (;;) {
        const end = pending.slice(0, tuning.pieceUnits + 1).indexOf('\n');
        if (end === -1 && pending.length > tuning.pieceUnits) {
          const space = pending.lastIndexOf(' ', tuning.pieceUnits);
          const hasSpace = space >= tuning.pieceUnits - tuning.spaceWithinUnits;
          lines.push(hasSpace ? take(space, 1, ' ') : take(wholeUnits(pending, tuning.pieceUnits), 0, ''));
        } else if (end === -1) return lines;
        else lines.push(take(end, 1, undefined));
      }
    },
    rest: () => (pending === '' && continues === undefined ? undefined : toPiece(pending, true)),
  };
}
