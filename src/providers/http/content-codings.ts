import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { limits } from '../../protocol/limits.js';

/** The bytes that were meant. Nobody is asked to compress, as words would come late; some do all the same. */
export function decoded(message: IncomingMessage): Readable {
  const codings = (message.headers['content-encoding'] ?? '').toLowerCase().split(',');
  const decoders = codings.map((coding) => coding.trim()).filter((coding) => coding !== '' && coding !== 'identity');
  if (decoders.length === 0) return message;
  if (decoders.length > limits.modelContentCodingsMax) throw new Error('its answer is packed too often');
  const streams = decoders.toReversed().map(decoderOf);
  if (!streams.every((stream) => stream !== undefined)) return message;
  // What fails is told by the last of them.
  return process.getBuiltinModule('node:stream').pipeline([message, ...streams], () => undefined) as unknown as Readable;
}

function decoderOf(coding: string): Duplex | undefined {
  const { constants, createBrotliDecompress, createGunzip, createInflate } = process.getBuiltinModule('node:zlib');
  const asItComes = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip(asItComes);
  if (coding === 'deflate') return createInflate(asItComes);
  if (coding === 'br') return createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH });
  return undefined;
}
