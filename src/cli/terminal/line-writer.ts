import { createPrintableStream } from '../../view/printable.js';
import { createWordWrap, wrapLine } from './word-wrap.js';

export interface FlowStyle {
  /** Put before each line. */
  indent?: string;
  paint?: (text: string) => string;
}

/** Writes streamed text and whole lines to one stream, so that no line begins within another. */
export interface LineWriter {
  /** Appends to a streamed text; `of` identifies the text, and another one begins on a new line. */
  flow(of: string, piece: string, style?: FlowStyle): void;
  /** Writes a line. Untrusted text must be sanitized before. */
  line(text: string): void;
  /** Writes a blank line, unless there is one above, or nothing. */
  gap(): void;
  /** Ends the line that is being written. */
  endLine(): void;
}

/** `columns` is the current width; with `Infinity`, lines are not wrapped. */
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
