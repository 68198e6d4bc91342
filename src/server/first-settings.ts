import * as z from 'zod';
import { queueMode } from '../protocol/events.js';
import { lazy } from '../protocol/lazy.js';
import type { ServedEngine } from '../engine/engine.js';
import type { Outcome } from '../engine/door/commit.js';

const firstSettings = lazy(() =>
  z.object({ steering_mode: queueMode, follow_up_mode: queueMode, active_tools: z.array(z.string()).nullable() }).partial(),
);
export type FirstSettings = z.infer<ReturnType<typeof firstSettings>>;

/** What was set while there was no session: it counts for the next one that is made in its place. Acknowledged, so it is a row. */
export function readFirstSettings({ store }: ServedEngine): FirstSettings {
  const kept = store.meta.get('first_session');
  return kept === undefined ? {} : firstSettings().parse(JSON.parse(kept));
}

export function changeFirstSettings(engine: ServedEngine, change: FirstSettings): Outcome<undefined> {
  return engine.commit.decideShared(() => {
    const firstSettings = JSON.stringify({ ...readFirstSettings(engine), ...change });
    return { ok: true, facts: [], firstSettings, reply: undefined };
  });
}
