import { expect, test } from 'vitest';
import type { Bookkeeping, Commit } from '../../src/engine/door/commit.js';
import { createRetryingCommit } from '../../src/engine/door/retrying-commit.js';

test.each([
  ['storage_full', 'the disk is full; free some space'],
  ['store_busy', 'another program holds it; end that program'],
] as const)(
  'what could not be written for a %s before the daemon stopped is refused with the session, the cause and what to do',
  async (fault, why) => {
    const parked: (string | undefined)[] = [];
    const commit = { attemptMaintain: () => fault } as unknown as Commit & Bookkeeping;
    const patient = createRetryingCommit({ commit, onParked: (_session, told) => parked.push(told), stopped: AbortSignal.abort() });
    await expect(patient.maintainWithRetry('ses_1', () => undefined)).rejects.toThrow(
      `the database could not be written for session ses_1 before the daemon stopped: ${why}, then start the daemon again`,
    );
    expect(parked).toEqual([fault]);
  },
);
