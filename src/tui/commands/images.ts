import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { limits } from '../../protocol/limits.js';
import type { PaneParts } from '../pane/session-pane.js';

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** The image file that a pasted text names, as terminals paste a file that is dropped on them. */
export function imagePathIn(pasted: string): string | undefined {
  const text = pasted
    .trim()
    .replace(/^(['"])(.*)\1$/s, '$2')
    .replaceAll(/\\(.)/g, '$1');
  const path = text.startsWith('file://') ? fileUrlPath(text) : text;
  const [, ending = ''] = /^\/[^\n]*\.(\w+)$/.exec(path) ?? [];
  return Object.hasOwn(types, ending.toLowerCase()) && isFile(path) ? path : undefined;
}

function fileUrlPath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    // A malformed address is a text like any other.
    if (error instanceof TypeError || error instanceof URIError) return '';
    throw error;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Puts an image file into the message; says why when that is not possible. */
export function addImageFile({ context, editor }: PaneParts, path: string): void {
  const { size } = statSync(path);
  if (size > limits.imageBytesMax)
    return context.notice(`${basename(path)} is too large: ${size} bytes, at most ${limits.imageBytesMax}`, 'alarm');
  const mimeType = types[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'image/png';
  if (!editor.addImage({ data: readFileSync(path).toString('base64'), mimeType, name: basename(path) }))
    context.notice('the message has as many images as it can', 'alarm');
}

const clipboardPrograms = [
  { program: 'wl-paste', args: ['--no-newline', '--type', 'image/png'] },
  { program: 'xclip', args: ['-selection', 'clipboard', '-target', 'image/png', '-out'] },
] as const;

/** Puts the image on the clipboard of this computer into the message. */
export function pasteImage({ context, editor }: PaneParts): void {
  if (context.env.SSH_CONNECTION !== undefined)
    return context.notice('over ssh the clipboard is on your own computer: copy the image here and paste its path', 'alarm');
  for (const { program, args } of clipboardPrograms) {
    const { stdout, status, error } = spawnSync(program, args, { maxBuffer: limits.imageBytesMax, timeout: limits.clipboardMs });
    if (error || status !== 0 || stdout.length === 0) continue;
    if (!editor.addImage({ data: stdout.toString('base64'), mimeType: 'image/png', name: 'clipboard' }))
      context.notice('the message has as many images as it can', 'alarm');
    return;
  }
  context.notice('no image on the clipboard (wl-paste or xclip reads it); paste the path of a file instead', 'alarm');
}
