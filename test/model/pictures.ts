import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ContentBlock } from '../../src/protocol/messages.js';
import type { WatchedInput } from '../support/log-monitor.js';

/** What an input has beside its text: nothing, an image, or content with the words between images, which is sent instead of the text. */
export const anyPictures = fc.oneof(
  { weight: 4, arbitrary: fc.constant('none' as const) },
  { weight: 1, arbitrary: fc.constant('image' as const) },
  { weight: 1, arbitrary: fc.constant('album' as const) },
);
type Pictures = typeof anyPictures extends fc.Arbitrary<infer T> ? T : never;
export type InputContent = Extract<ContentBlock, { type: 'text' | 'image' }>[];

let count = 0;

function newImage(): InputContent[number] {
  return { type: 'image', data: Buffer.from(`image ${++count}`).toString('base64'), mime_type: 'image/png' };
}

/** The payload of an input that says `text`. */
export function withPictures(text: string, pictures: Pictures): { text: string; content?: InputContent } {
  if (pictures === 'none') return { text };
  if (pictures === 'image') return { text, content: [newImage()] };
  return { text: text.trim() === '' ? text : 'not sent', content: [newImage(), { type: 'text', text }, newImage()] };
}

export function hasImages({ content }: { content?: ContentBlock[] | undefined }): boolean {
  return imagesIn(content).length > 0;
}

/** The message that an input became has the images that were sent, whatever happened to it while it waited. */
export function checkPictures(input: WatchedInput, { content }: { content?: ContentBlock[] | undefined }): void {
  if (input.state === 'taken') assert.deepEqual(imagesIn(input.content), imagesIn(content), 'a message has the images that were sent');
}

function imagesIn(content: ContentBlock[] | undefined): ContentBlock[] {
  return content?.filter(({ type }) => type === 'image') ?? [];
}
