/**
 * A path as the kernel has it, one character for each byte: a name need not be UTF-8, and one that is not must not be overlooked.
 */
export type BytePath = string;

export function toBytePath(path: string): BytePath {
  return Buffer.from(path).toString('latin1');
}

export function toBuffer(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

/** For people and for patterns: what is not UTF-8 becomes a replacement character. */
export function toText(path: BytePath): string {
  // Nearly all of them, and there are many.
  if (!/[\x80-\xff]/.test(path)) return path;
  return toBuffer(path).toString('utf8');
}

/** Whether it can be said as text and still be found. */
export function isText(path: BytePath): boolean {
  return toBytePath(toText(path)) === path;
}

/** A path and the directories that it is in, the outermost first. */
export function waysTo(path: BytePath): BytePath[] {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`);
}
