import { createPrintableStream, printable } from '../../view/printable.js';
import type { Row } from '../rows/row.js';
import { createMarkdownStream } from '../text/markdown-stream.js';

/** A text that grows while it is shown: what was laid out before is not looked at again. */
export interface TextStream {
  /** Takes the whole text as it is now. */
  grow(text: string): void;
  units(): number;
  /** The text so far, sanitized. */
  text(): string;
  rows(columns: number): readonly Row[];
}

/** How much of the end of the known text is compared to tell growth from another text. */
const tuning = { comparedUnits: 32 } as const;

export function createTextStream(): TextStream {
  let known = '';
  let clean = createPrintableStream();
  let markdown = createMarkdownStream();

  function isGrowth(text: string): boolean {
    const from = Math.max(0, known.length - tuning.comparedUnits);
    return text.length >= known.length && text.slice(from, known.length) === known.slice(from);
  }

  return {
    grow(text) {
      if (text.length === known.length && isGrowth(text)) return;
      if (!isGrowth(text)) {
        known = '';
        clean = createPrintableStream();
        markdown = createMarkdownStream();
      }
      markdown.push(clean.push(text.slice(known.length)));
      known = text;
    },
    units: () => known.length,
    text: () => printable(known),
    rows: (columns) => markdown.rows(columns),
  };
}
