import * as z from 'zod';
import { queueMode } from '../protocol/events.js';
import { lazy } from '../protocol/lazy.js';
import type { ServedEngine } from '../engine/engine.js';
import type { Outcome } from '../engine/door/commit.js';

const firstSettings = lazy(() =>
  z.object({ steering_mode: queueMode, follow_up_mode: queueMode, active_tools: z.array(z.string()).nullable() }).partial(),
);
export type FirstSettings = z.infer<ReturnType<typeof firstSettings>>;

/** Settings that were changed while there was no session: they apply to the first one. They are acknowledged, and so stored in a row. */
export function readFirstSettings({ store }: ServedEngine): FirstSettings {
  const json = store.meta.get('first_session');
  return json === undefined ? {} : firstSettings().parse(JSON.parse(json));
}

export function changeFirstSettings(engine: ServedEngine, change: FirstSettings): Outcome<undefined> {
  return engine.commit.decideShared(() => {
    const firstSettings = JSON.stringify({ ...readFirstSettings(engine), ...change });
    return { ok: true, facts: [], firstSettings, reply: undefined };
  });
}
