import { expect, test } from 'vitest';
import type { Commit } from '../../src/engine/commit.js';
import { createPatientCommit } from '../../src/engine/patience.js';

test('what could not be written before the daemon stopped is refused with the session, the cause and what to do', async () => {
  const parked: (string | undefined)[] = [];
  const commit = { tryMaintain: () => false } as unknown as Commit;
  const patient = createPatientCommit({ commit, onParked: (_session, fault) => parked.push(fault), stopped: AbortSignal.abort() });
  await expect(patient.maintainEventually('ses_1', () => undefined)).rejects.toThrow(
    /^the database could not be written for session ses_1 .*: the disk is full, or another program holds it; free space .* start the daemon/,
  );
  expect(parked).toEqual(['store_busy']);
});
