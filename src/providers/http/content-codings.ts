import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { limits } from '../../protocol/limits.js';

/** Decompresses a response body. Requests ask for `identity`, because compression delays a stream; some servers compress all the same. */
export function decodeBody(message: IncomingMessage): Readable {
  const codings = (message.headers['content-encoding'] ?? '').toLowerCase().split(',');
  const decoders = codings.map((coding) => coding.trim()).filter((coding) => coding !== '' && coding !== 'identity');
  if (decoders.length === 0) return message;
  if (decoders.length > limits.modelContentCodingsMax)
    throw new Error(`its answer has more than ${limits.modelContentCodingsMax} content encodings`);
  const streams = decoders.toReversed().map(decoderOf);
  if (!streams.every((stream) => stream !== undefined)) return message;
  // An error of any stream is emitted by the last one.
  return process.getBuiltinModule('node:stream').pipeline([message, ...streams], () => undefined) as unknown as Readable;
}

function decoderOf(coding: string): Duplex | undefined {
  const { constants, createBrotliDecompress, createGunzip, createInflate } = process.getBuiltinModule('node:zlib');
  const flushEagerly = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip(flushEagerly);
  if (coding === 'deflate') return createInflate(flushEagerly);
  if (coding === 'br') return createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH });
  return undefined;
}
