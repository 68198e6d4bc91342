import { createPrintableStream } from '../../view/printable.js';
import { createWordWrap, wrapLine } from './word-wrap.js';

export interface FlowStyle {
  /** Put before each line. */
  indent?: string;
  paint?: (text: string) => string;
}

/** Text that comes in pieces and whole lines, on one stream: no line begins in the middle of another. */
export interface LineWriter {
  /** More of a text; `of` tells texts apart, and another one begins on a new line. */
  flow(of: string, piece: string, style?: FlowStyle): void;
  /** A line of our own; what others wrote must be printable already. */
  line(text: string): void;
  /** A blank line, unless there is one, or nothing above it. */
  gap(): void;
  /** Ends the line that is being written. */
  endLine(): void;
}

/** `columns` is how wide the page is now; where that is unbounded, lines stay as they are. */
export function createLineWriter(write: (text: string) => void, columns: () => number = () => Infinity): LineWriter {
  let flowing: string | undefined;
  let stream = createPrintableStream();
  const wrap = createWordWrap();
  let style: FlowStyle = {};
  let atStart = true;
  let blankAbove = true;

  function put(text: string): void {
    if (text === '') return;
    const lines = text.split('\n');
    const indented = lines.map((line, at) => (line !== '' && (at > 0 || atStart) ? (style.indent ?? '') + line : line)).join('\n');
    write(style.paint && text !== '\n' ? style.paint(indented) : indented);
    blankAbove = (atStart && text === '\n') || text.endsWith('\n\n');
    atStart = text.endsWith('\n');
  }

  function flowColumns(): number {
    return columns() - (style.indent?.length ?? 0);
  }

  function endLine(): void {
    put(wrap.push(stream.end(), flowColumns()) + wrap.end(flowColumns()));
    if (!atStart) put('\n');
    flowing = undefined;
    style = {};
  }

  return {
    flow(of, piece, how = {}) {
      if (flowing !== of) {
        endLine();
        flowing = of;
        stream = createPrintableStream();
        style = how;
      }
      put(wrap.push(stream.push(piece), flowColumns()));
    },
    line(text) {
      endLine();
      const lines = text.split('\n').map((line) => wrapLine(line, columns()));
      put(`${lines.join('\n')}\n`);
    },
    gap() {
      endLine();
      if (!blankAbove) put('\n');
    },
    endLine,
  };
}
