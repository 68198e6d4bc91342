/** The Linux flag O_PATH, which Node does not export: opens a path without opening the file, so a FIFO or a device does not block. */
export const O_PATH = 0o10000000;

/** Whether an error is from a system call (ENOENT, EACCES …), not a bug. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && /^E[A-Z0-9]+$/.test((error as NodeJS.ErrnoException).code ?? '');
}
