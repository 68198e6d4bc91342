import { askCompaction } from '../../core/compaction.js';
import { sessionIdFor, stateFor, type HandlerContext } from '../handler-context.js';
import { draining, refused, rejected, sessionNotFound, type Handlers } from '../handler.js';
import { waitForCompaction, createModelLists } from '../deferred-replies.js';

export function createModelHandlers(deps: HandlerContext): Pick<Handlers, 'list_models' | 'compact_session'> {
  const { engine, sessionDefaults, daemon } = deps;
  const waitForModels = createModelLists(engine, () => sessionDefaults().model);
  return {
    list_models: () => ({ later: waitForModels }),
    compact_session({ session_id, instruction }, client) {
      const state = stateFor(deps, session_id, client);
      if (!state) {
        const isNone = sessionIdFor(deps, session_id, client) === undefined;
        return isNone ? rejected('nothing_to_compact', 'there is no session yet') : sessionNotFound(session_id);
      }
      if (!state.run && daemon.isDraining()) return refused(draining);
      const planned = engine.compactions.plan(state);
      if (!planned && !state.compaction) return rejected('nothing_to_compact', 'there is nothing before the last message to summarise');
      const trimmed = instruction?.trim() ?? '';
      const compaction = {
        trigger: 'manual' as const,
        tokensBefore: planned?.tokensBefore ?? 0,
        instruction: trimmed === '' ? null : trimmed,
      };
      const after = engine.store.log.head();
      const outcome = engine.commit.decide(state.id, (now, fresh) => askCompaction(now, compaction, fresh));
      if (!outcome.ok) return refused(outcome.refusal);
      return { later: (gone) => waitForCompaction(engine, state.id, after, gone) };
    },
  };
}
