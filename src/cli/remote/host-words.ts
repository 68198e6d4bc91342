/** How a command line for this machine, or for another one, begins. */
export function berthOn(host: string | undefined): string {
  return host === undefined ? 'berth' : `berth --host ${host}`;
}
