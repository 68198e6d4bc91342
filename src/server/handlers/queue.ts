import { clearQueue, removeQueued, resumeQueue, updateQueued } from '../../core/inputs.js';
import { resumeRun } from '../../core/recovery.js';
import { stateFor, type HandlerContext } from '../handler-context.js';
import { accepted, draining, refused, refusedWith, reply, sessionNotFound, type Handlers } from '../handler.js';
import { toQueue } from '../state-view.js';

export function createQueueHandlers(
  deps: HandlerContext,
): Pick<Handlers, 'get_queue' | 'update_queued' | 'remove_queued' | 'clear_queue' | 'resume_queue' | 'resume_run'> {
  const { engine, daemon } = deps;
  const { store, commit } = engine;

  /** The session of an input: the id of an input is unique, so the command may leave out its session. */
  function sessionOfInput(inputId: string, named: string | undefined): string | undefined {
    return named ?? store.inputs.acknowledged(inputId)?.sessionId;
  }

  return {
    get_queue(payload, client) {
      const state = stateFor(deps, payload.session_id, client);
      if (!state) return sessionNotFound(payload.session_id);
      return reply<'get_queue'>('queue', { ...toQueue(state), session_id: state.id });
    },
    update_queued(payload) {
      const { input_id: inputId, revision, text, kind, position, hold } = payload;
      const sessionId = sessionOfInput(inputId, payload.session_id);
      if (sessionId === undefined) return refusedWith('command_rejected', 'not_waiting');
      const change = {
        inputId,
        revision,
        ...(text === undefined ? {} : { text }),
        ...(kind === undefined ? {} : { kind }),
        ...(position === undefined ? {} : { position }),
        ...(hold === undefined ? {} : { hold }),
      };
      const outcome = commit.decide(sessionId, (state, fresh) => updateQueued(state, change, fresh));
      if (!outcome.ok) return refused(outcome.refusal);
      const payloadOut = { command: 'update_queued', session_id: sessionId, input_id: inputId, revision: outcome.reply.revision } as const;
      return accepted<'update_queued'>(outcome, payloadOut);
    },
    remove_queued({ input_id, session_id }) {
      const sessionId = sessionOfInput(input_id, session_id);
      if (sessionId === undefined) return refusedWith('command_rejected', 'not_waiting');
      const outcome = commit.decide(sessionId, (state) => removeQueued(state, input_id));
      return accepted<'remove_queued'>(outcome, { command: 'remove_queued', session_id: sessionId, input_id });
    },
    clear_queue(payload, client) {
      const state = stateFor(deps, payload.session_id, client);
      if (!state) return sessionNotFound(payload.session_id);
      const outcome = commit.decide(state.id, clearQueue);
      if (!outcome.ok) return refused(outcome.refusal);
      return accepted<'clear_queue'>(outcome, { command: 'clear_queue', session_id: state.id, count: outcome.reply.count });
    },
    resume_queue(payload, client) {
      const state = stateFor(deps, payload.session_id, client);
      if (!state) return sessionNotFound(payload.session_id);
      if (daemon.isDraining()) return refused(draining);
      const outcome = commit.decide(state.id, resumeQueue);
      if (!outcome.ok) return refused(outcome.refusal);
      return accepted<'resume_queue'>(outcome, { command: 'resume_queue', session_id: state.id, run_id: outcome.reply.runId });
    },
    resume_run(payload) {
      const { run_id: runId, action } = payload;
      const sessionId = store.runs.find(runId)?.session_id;
      if (sessionId === undefined || (payload.session_id !== undefined && payload.session_id !== sessionId)) {
        return refusedWith('command_rejected', 'run_not_found');
      }
      if (daemon.isDraining()) return refused(draining);
      const outcome = commit.decide(sessionId, (state, fresh) => {
        const point = { retryEntryId: store.entries.retryPoint(state.leafId) };
        return resumeRun(state, runId, action, point, fresh);
      });
      if (!outcome.ok) return refused(outcome.refusal);
      return accepted<'resume_run'>(outcome, { command: 'resume_run', session_id: sessionId, run_id: outcome.reply.runId });
    },
  };
}
