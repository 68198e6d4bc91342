import { setDraft } from '../../core/drafts.js';
import { limits } from '../../protocol/limits.js';
import { clipInputs } from '../../protocol/encode.js';
import type { DraftView } from '../../protocol/views.js';
import type { DraftRow } from '../../store/rows/draft-rows.js';
import { fitting } from '../pages.js';
import { stateFor, type HandlerContext } from '../handler-context.js';
import { waitForFiles } from '../deferred-replies.js';
import { refused, refusedWith, reply, sessionNotFound, type Handlers } from '../handler.js';

const notLoaded =
  'files cannot be listed: too many files are open, or the program was replaced while the daemon ran; try again, or restart it with berth daemon stop';

/** Drafts, earlier prompts and completion of paths. */
export function createEditorHandlers(deps: HandlerContext): Pick<Handlers, 'set_draft' | 'list_drafts' | 'list_prompts' | 'list_files'> {
  const { engine, clients } = deps;

  function toView({ id, by, clientId, text, updatedMs }: DraftRow): DraftView {
    const updated_at = new Date(updatedMs).toISOString();
    return { draft_id: id, by, text, updated_at, attached: clients.isConnected(clientId) };
  }

  return {
    set_draft({ draft_id, text, session_id: named }, client) {
      const state = stateFor(deps, named, client);
      if (!state) return sessionNotFound(named);
      const { id: session_id } = state;
      const change = { draftId: draft_id, by: client.name, clientId: client.id, text };
      const outcome = engine.commit.decide(session_id, (now) => setDraft(now, change));
      if (!outcome.ok) return refused(outcome.refusal);
      const payload = { session_id, draft_id, by: client.name, chars: text.length };
      engine.signals.tellOnce(session_id, `draft:${draft_id}`, { type: 'draft_update', payload });
      return reply<'set_draft'>('accepted', { command: 'set_draft', session_id, draft_id }, outcome.seq);
    },
    list_drafts({ draft_id, session_id: named }, client) {
      const state = stateFor(deps, named, client);
      if (!state) return sessionNotFound(named);
      const drafts = engine.store.drafts.of(state.id).map(toView);
      const shown = draft_id === undefined ? clipInputs(drafts) : drafts.filter((draft) => draft.draft_id === draft_id);
      return reply<'list_drafts'>('drafts', { session_id: state.id, drafts: shown });
    },
    list_prompts({ query, limit, session_id: named }, client) {
      const state = stateFor(deps, named, client);
      if (!state && named !== undefined) return sessionNotFound(named);
      // Consistency: the newest prompts are indexed first.
      engine.housekeeping.indexAll();
      const cwd = state?.cwd ?? '';
      const page = engine.store.prompts.list({ cwd, query, limit: limit ?? limits.pageRowsDefault });
      const prompts = fitting(page.prompts);
      return reply<'list_prompts'>('prompts', { prompts, has_more: page.hasMore || prompts.length < page.prompts.length });
    },
    list_files({ query, limit = limits.listedPathsDefault, session_id: named }, client) {
      const state = stateFor(deps, named, client);
      if (!state) return sessionNotFound(named);
      if (!engine.fileSearch.isReady()) return refusedWith('overloaded', notLoaded);
      return { later: () => waitForFiles(engine, state, { query, limit }) };
    },
  };
}
