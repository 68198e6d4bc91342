import { randomBytes } from 'node:crypto';
import { makeId, type IdPrefix } from '../protocol/ids.js';

const tuning = { idBytes: 12, poolIds: 256 } as const;

/** New ids. Random bytes are requested for many ids at once: a system call for each takes longer than the rest of making it. */
export function createNewIds(): (prefix: IdPrefix) => string {
  let pool = Buffer.alloc(0);
  return (prefix) => {
    if (pool.length === 0) pool = randomBytes(tuning.idBytes * tuning.poolIds);
    const random = pool.subarray(0, tuning.idBytes);
    pool = pool.subarray(tuning.idBytes);
    return makeId(prefix, Date.now(), random);
  };
}
