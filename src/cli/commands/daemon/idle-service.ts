import { NoDaemon } from '../../../client/errors.js';
import { isInstalledFor } from '../../../machine/systemd/installed-units.js';
import { readUnit, serviceUnit } from '../../../machine/systemd/user-manager.js';
import type { Paths } from '../../../machine/paths.js';

/** Throws NoDaemon while systemd listens and no daemon runs: connecting would start one. */
export async function refuseIdleService({ socket }: Paths): Promise<void> {
  if (!isInstalledFor(socket, process.env)) return;
  const unit = await readUnit(serviceUnit);
  if (unit?.active === 'inactive') throw new NoDaemon('no daemon runs; systemd starts it for the next client');
  if (unit?.active === 'failed')
    throw new NoDaemon(`no daemon runs: ${serviceUnit} failed, and journalctl --user -u ${serviceUnit} says why`);
}
