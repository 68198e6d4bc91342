import * as z from 'zod';
import { queueMode } from '../protocol/events.js';
import { once } from '../protocol/once.js';
import { refusal } from '../protocol/errors.js';
import type { Engine } from '../engine/engine.js';
import { faultWords, type Outcome } from '../engine/commit.js';

const firstSettings = once(() =>
  z.object({ steering_mode: queueMode, follow_up_mode: queueMode, active_tools: z.array(z.string()).nullable() }).partial(),
);
export type FirstSettings = z.infer<ReturnType<typeof firstSettings>>;

/** What was set while there was no session: it counts for the next one that is made in its place. Acknowledged, so it is a row. */
export function readFirstSettings({ store }: Engine): FirstSettings {
  const kept = store.meta.get('first_session');
  return kept === undefined ? {} : firstSettings().parse(JSON.parse(kept));
}

export function changeFirstSettings(engine: Engine, change: FirstSettings): Outcome<undefined> {
  const { store, commit } = engine;
  const kept = { ...readFirstSettings(engine), ...change };
  const fault = commit.attemptMaintain(() => store.meta.set('first_session', JSON.stringify(kept)));
  if (!fault) return { ok: true, seq: store.log.head(), reply: undefined };
  return { ok: false, refusal: refusal(fault, faultWords[fault]) };
}
