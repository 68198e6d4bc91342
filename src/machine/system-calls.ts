/** Node has no name for this flag of Linux. It opens the place and not what is there, so neither a FIFO nor a device notices. */
export const O_PATH = 0o10000000;

/** Whether the operating system reported it (ENOENT, EACCES …), and it is not a mistake of ours. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && /^E[A-Z0-9]+$/.test((error as NodeJS.ErrnoException).code ?? '');
}
