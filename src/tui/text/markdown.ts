import type { Row } from '../rows/row.js';
import { createMarkdownStream } from './markdown-stream.js';

/** Markdown as rows of at most `columns` columns. Never throws; HTML and what cannot be read are shown as text. */
export function renderMarkdown(text: string, columns: number): Row[] {
  const stream = createMarkdownStream();
  stream.push(text);
  return [...stream.rows(columns)];
}
