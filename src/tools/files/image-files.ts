/** The image formats that models accept. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** Detects an image format by magic bytes, not by file extension; undefined for any format that models do not accept. */
export function imageTypeOf(begin: Buffer): ImageType | undefined {
  const text = begin.toString('latin1', 0, 12);
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif';
  return text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP' ? 'image/webp' : undefined;
}

export interface ImageSize {
  width: number;
  height: number;
}

/** Width and height from the header of an image; undefined when the header is corrupt, so that no model would accept the image. */
export function imageSizeOf(image: Buffer, mimeType: ImageType): ImageSize | undefined {
  try {
    const size = readSize(image, mimeType);
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    // The file is truncated within its header.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readSize(image: Buffer, mimeType: ImageType): ImageSize | undefined {
  switch (mimeType) {
    case 'image/png':
      return image.toString('latin1', 12, 16) === 'IHDR' ? { width: image.readUInt32BE(16), height: image.readUInt32BE(20) } : undefined;
    case 'image/gif':
      return { width: image.readUInt16LE(6), height: image.readUInt16LE(8) };
    case 'image/webp':
      return readWebpSize(image);
    case 'image/jpeg':
      return readJpegSize(image);
  }
}

function readWebpSize(image: Buffer): ImageSize | undefined {
  switch (image.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: image.readUInt16LE(26) & 0x3fff, height: image.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = image.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: image.readUIntLE(24, 3) + 1, height: image.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

/** Walks the JPEG segments to the start-of-frame marker. */
function readJpegSize(image: Buffer): ImageSize | undefined {
  let at = 2;
  while (image.readUInt8(at) === 0xff) {
    const marker = image.readUInt8(at + 1);
    if (marker === 0xff) {
      at++;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: image.readUInt16BE(at + 5), width: image.readUInt16BE(at + 7) };
    at += 2 + image.readUInt16BE(at + 2);
  }
  return undefined;
}
