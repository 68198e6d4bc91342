import type { RunError } from '../protocol/events.js';
import type { CompactionTrigger, Usage } from '../protocol/messages.js';
import { accept, createDraft, reject, type Decision, type Draft, type Fresh } from './decision.js';
import type { SessionState } from './session.js';
import { toMessage } from './turns.js';
import { sayUsage } from './usage.js';

export interface WantedCompaction {
  trigger: CompactionTrigger;
  tokensBefore: number;
  instruction: string | null;
}

/**
 * Starts a compaction. In an idle session this is a run without a turn: it can be aborted, and inputs that are sent meanwhile join it. An
 * active run compacts at its next turn boundary. A compaction that is open already is joined.
 */
export function askCompaction(state: SessionState, wanted: WantedCompaction, fresh: Fresh): Decision {
  if (state.run?.aborting) return reject('aborted');
  if (state.compaction) {
    const other = wanted.instruction !== null && wanted.instruction !== state.compaction.instruction;
    return other ? reject('run_in_progress', 'a summary is being made already, with another instruction') : accept([], undefined);
  }
  const draft = createDraft(state);
  if (!state.run) draft.say({ type: 'agent_start', payload: { session_id: state.id, run_id: fresh.id('run') } });
  sayStart(draft, wanted);
  return accept(draft.facts, undefined);
}

/** Starts a compaction for a full context window. The partial response is discarded. */
export function needCompaction(state: SessionState, wanted: WantedCompaction): Decision {
  if (!state.run || state.run.aborting) return reject('aborted');
  const draft = createDraft(state);
  if (state.run.message) {
    const { id: message_id, role } = state.run.message;
    draft.say({
      type: 'message_end',
      payload: { ...at(draft), turn_id: state.run.turn?.id ?? '', message_id, role, discarded: true, reason: 'retried' },
    });
  }
  if (!state.compaction) sayStart(draft, wanted);
  return accept(draft.facts, undefined);
}

function at({ state }: Draft): { session_id: string; run_id: string } {
  return { session_id: state.id, run_id: state.run?.id ?? '' };
}

function sayStart(draft: Draft, { trigger, tokensBefore, instruction }: WantedCompaction): void {
  draft.say({
    type: 'compaction_start',
    payload: { ...at(draft), trigger, tokens_before: tokensBefore, ...(instruction === null ? {} : { instruction }) },
  });
}

export interface Summary {
  text: string;
  firstKeptEntryId: string;
  tokensAfter: number;
  contextLeftPercent: number | null;
  model: string;
  usage: Usage | null;
}

/** The summary becomes an entry, which replaces the older history in model requests. */
export function endCompaction(state: SessionState, summary: Summary, fresh: Fresh): Decision {
  const { compaction } = state;
  if (!compaction || !state.run || state.run.aborting) return reject('aborted');
  const draft = createDraft(state);
  const facts = {
    trigger: compaction.trigger,
    first_kept_entry_id: summary.firstKeptEntryId,
    tokens_before: compaction.tokensBefore,
    tokens_after: summary.tokensAfter,
  };
  const messageId = fresh.id('msg');
  const content = [{ type: 'text' as const, text: summary.text }];
  const message = toMessage(state, { id: messageId, role: 'compaction', content, usage: summary.usage, model: summary.model }, fresh);
  draft.say({
    type: 'compaction_end',
    payload: { ...at(draft), ...facts, message_id: messageId, summary: summary.text, message: { ...message, compaction: facts } },
  });
  sayUsage(draft, summary.usage, summary.contextLeftPercent);
  return accept(draft.facts, undefined);
}

/** Ends a failed compaction: the history is unchanged. The usage of a discarded summary is counted. */
export function failCompaction(state: SessionState, error: RunError, usage: Usage | null = null): Decision {
  if (!state.compaction) return reject('aborted');
  const draft = createDraft(state);
  sayCompactionFailed(draft, error);
  sayUsage(draft, usage, state.contextLeftPercent);
  return accept(draft.facts, undefined);
}

export function sayCompactionFailed(draft: Draft, error: RunError): void {
  const { compaction } = draft.state;
  if (!compaction) return;
  const { trigger, tokensBefore } = compaction;
  draft.say({ type: 'compaction_end', payload: { ...at(draft), trigger, tokens_before: tokensBefore, error } });
}
