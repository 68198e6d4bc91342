/**
 * Fault injection for the crash suite: `BERTH_FAULT=name:n` kills the process the n-th time it passes the point of that name.
 * Without the variable a point is an empty call.
 */
export function createFaultPoints(spec: string | undefined): (point: string) => void {
  const [name, count = '1'] = spec?.split(':') ?? [];
  if (name === undefined || name === '') return () => undefined;
  let left = Number(count);
  return (point) => {
    if (point === name && --left === 0) process.kill(process.pid, 'SIGKILL');
  };
}
