import { shortId } from '../short-ids.js';
import type { ExportWriter } from './exported-session.js';
import { createHtmlWriter } from './html-export.js';
import { createJsonlWriter } from './jsonl-export.js';
import { createMarkdownWriter } from './markdown-export.js';

export const exportFormats = ['markdown', 'html', 'jsonl'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const formats: Record<ExportFormat, { extension: string; hasBranches: boolean; createWriter: () => ExportWriter }> = {
  markdown: { extension: 'md', hasBranches: false, createWriter: createMarkdownWriter },
  html: { extension: 'html', hasBranches: false, createWriter: createHtmlWriter },
  jsonl: { extension: 'jsonl', hasBranches: true, createWriter: createJsonlWriter },
};

export function createExportWriter(format: ExportFormat): ExportWriter {
  return formats[format].createWriter();
}

/** Whether a format has all branches of a session, or only the path to its leaf. */
export function hasBranches(format: ExportFormat): boolean {
  return formats[format].hasBranches;
}

/** The format that a file name asks for by its ending; undefined when it names none. */
export function formatOfFile(file: string): ExportFormat | undefined {
  const ending = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase();
  return exportFormats.find((format) => formats[format].extension === ending);
}

export function exportFileName(sessionId: string, format: ExportFormat): string {
  return `berth-${shortId(sessionId)}.${formats[format].extension}`;
}
