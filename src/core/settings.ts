import type { EventPayload } from '../protocol/events.js';
import { accept, createDraft, reject, type Decision } from './decision.js';
import { sayAbort } from './runs.js';
import type { SessionState } from './session.js';
import { sayUsage } from './usage.js';

export type SettingsChange = Omit<
  EventPayload<'session_update'>,
  'session_id' | 'created' | 'deleted' | 'deleting' | 'parent_id' | 'leaf_id'
>;

/** Creates a session: one event has all of its settings. */
export function createSession(id: string, fields: SettingsChange & { parent_id?: string; leaf_id?: string | null }): Decision {
  return accept([{ type: 'session_update', payload: { session_id: id, created: true, ...fields } }], undefined);
}

/** Changes settings. A title makes a one-off session an ordinary one. Another model may have another context window: then a usage_update event follows. */
export function changeSettings(state: SessionState, change: SettingsChange, contextLeftPercent = state.contextLeftPercent): Decision {
  if (Object.keys(change).length === 0) return accept([], undefined);
  const draft = createDraft(state);
  const kept = state.oneOff && (change.title ?? '') !== '' ? { one_off: false } : {};
  draft.say({ type: 'session_update', payload: { session_id: state.id, ...change, ...kept } });
  sayUsage(draft, null, contextLeftPercent);
  return accept(draft.facts, undefined);
}

/** Moves the leaf. The caller has checked that the entry is in this session's tree. */
export function setLeaf(state: SessionState, leafId: string): Decision {
  if (state.run) return reject('run_in_progress');
  if (state.leafId === leafId) return accept([], undefined);
  return accept([{ type: 'session_update', payload: { session_id: state.id, leaf_id: leafId } }], undefined);
}

/** Deletes an archived session whose time is over. One that is in use again meanwhile stays. */
export function expireSession(state: SessionState): Decision {
  if (!state.archived || state.run || state.inputs.length > 0) return reject('run_in_progress');
  return deleteSession(state);
}

/** Deletes a session at once, or aborts its run first and deletes the session in the commit that ends the run. */
export function deleteSession(state: SessionState): Decision {
  const draft = createDraft(state);
  if (state.run) {
    if (!state.deleting) draft.say({ type: 'session_update', payload: { session_id: state.id, deleting: true } });
    sayAbort(draft, false, 'the session is being deleted');
  } else {
    draft.say({ type: 'session_update', payload: { session_id: state.id, deleted: true } });
  }
  return accept(draft.facts, undefined);
}
