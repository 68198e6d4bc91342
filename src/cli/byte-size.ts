const units = ['KB', 'MB', 'GB', 'TB'];

/** Bytes for people: 1.4 MB. */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit = 'bytes';
  for (const larger of units) {
    if (size < 1024) break;
    size /= 1024;
    unit = larger;
  }
  return `${unit === 'bytes' || size >= 10 ? Math.round(size) : size.toFixed(1)} ${unit}`;
}
