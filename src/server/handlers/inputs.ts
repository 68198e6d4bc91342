import { createDraft, accept, type Decision, type Fresh } from '../../core/decision.js';
import { submitInput, type NewInput, type Submitted } from '../../core/inputs.js';
import { abortRun } from '../../core/runs.js';
import type { SessionState } from '../../core/session.js';
import { createSession } from '../../core/settings.js';
import type { Outcome } from '../../engine/door/commit.js';
import { textOf } from '../../protocol/content.js';
import { refusal } from '../../protocol/errors.js';
import type { ContentBlock } from '../../protocol/messages.js';
import type { Client } from '../clients.js';
import { sessionIdFor, stateFor, type HandlerContext } from '../handler-context.js';
import { accepted, draining, refused, rejected, sessionNotFound, type Answer, type Handlers } from '../handler.js';
import { readFirstSettings } from '../first-settings.js';
import { waitForRun } from '../deferred-replies.js';
import { isInTree } from './tree.js';

interface InputPayload {
  text: string;
  content?: ContentBlock[] | undefined;
  input_id?: string | undefined;
  session_id?: string | undefined;
}

/** The text of an input in queues: the text blocks of its content, if there are any. */
function textFor({ text, content }: InputPayload): string {
  return content?.some(({ type }) => type === 'text') ? textOf(content) : text;
}

export function createInputHandlers(deps: HandlerContext): Pick<Handlers, 'prompt' | 'steer' | 'follow_up' | 'abort'> {
  const { engine, newId, sessionDefaults, daemon } = deps;
  const { store, commit } = engine;

  function toInput(command: NewInput['command'], payload: InputPayload, client: Client, otherwise: NewInput['otherwise']): NewInput {
    return {
      id: payload.input_id ?? newId('inp'),
      command,
      text: textFor(payload),
      content: payload.content ?? null,
      client: client.saidHello ? client.name : null,
      otherwise,
    };
  }

  /** Idempotency: a retry without a session id goes to the session that accepted its input_id. */
  function targetSession(payload: InputPayload, client: Client): string | undefined {
    const namesNone = payload.session_id === undefined && client.sessionId === '';
    const earlier = namesNone && payload.input_id !== undefined ? store.inputs.acknowledged(payload.input_id) : undefined;
    return earlier?.sessionId ?? sessionIdFor(deps, payload.session_id, client);
  }

  function submit(sessionId: string, input: NewInput): Outcome<Submitted> {
    return commit.decide(sessionId, (state, fresh) => decideSubmit(state, input, fresh));
  }

  function decideSubmit(state: SessionState, input: NewInput, fresh: Fresh): Decision<Submitted> {
    const earlier = store.inputs.acknowledged(input.id);
    if (!earlier && daemon.isDraining() && !state.run) {
      return { ok: false, refusal: draining };
    }
    if (state.deleting) {
      return { ok: false, refusal: refusal('session_not_found', `the session ${state.id} is being deleted`, { field: 'session_id' }) };
    }
    return submitInput(state, input, earlier, fresh);
  }

  /** The first prompt in an empty store creates its session in the same commit; a refused prompt creates none. */
  function submitToNewSession(input: NewInput, client: Client): Outcome<Submitted> & { sessionId: string } {
    const sessionId = newId('ses');
    const fields = { ...sessionDefaults(), ...readFirstSettings(engine) };
    const outcome = commit.create(sessionId, (state, fresh) => {
      const draft = createDraft(state);
      const made = createSession(sessionId, fields);
      if (made.ok) made.facts.forEach((fact) => draft.say(fact));
      const submitted = decideSubmit(draft.state, input, fresh);
      if (!submitted.ok) return submitted;
      const decision = accept([...draft.facts, ...submitted.facts], submitted.reply, submitted.admit);
      if (!decision.ok) return decision;
      const anchor = engine.anchors.find(fields.cwd);
      return { ...decision, anchor, usesFirstSettings: true, ...(client.saidHello ? {} : { activate: sessionId }) };
    });
    return { ...outcome, sessionId };
  }

  function submitTo(found: string | undefined, input: NewInput, client: Client): Outcome<Submitted> & { sessionId: string } {
    return found === undefined ? submitToNewSession(input, client) : { ...submit(found, input), sessionId: found };
  }

  function submitted(command: 'steer' | 'follow_up', payload: InputPayload & { if_idle: 'reject' | 'prompt' }, client: Client): Answer {
    const found = targetSession(payload, client);
    const input = toInput(command, payload, client, payload.if_idle);
    const { sessionId, ...outcome } = submitTo(found, input, client);
    return acknowledge(command, outcome, sessionId, input.id);
  }

  function acknowledge(command: string, outcome: Outcome<Submitted>, sessionId: string, inputId: string): Answer {
    if (!outcome.ok) return refused(outcome.refusal);
    const payload = { command, run_id: outcome.reply.runId, session_id: sessionId, input_id: inputId };
    return { ok: true, type: 'accepted', payload, seq: outcome.reply.seq ?? outcome.seq };
  }

  return {
    prompt(payload, client) {
      const { leaf_id: leafId, wait, if_busy } = payload;
      const found = targetSession(payload, client);
      const input = toInput('prompt', payload, client, if_busy);
      if (leafId !== undefined) {
        if (found === undefined || !isInTree(engine, found, leafId)) return rejected('leaf_not_found');
        input.leafId = leafId;
      }
      const made = submitTo(found, input, client);
      if (!wait || !made.ok) return acknowledge('prompt', made, made.sessionId, input.id);
      const { sessionId } = made;
      const { runId } = made.reply;
      return { later: (gone) => waitForRun(engine, { sessionId, runId, inputId: input.id }, gone) };
    },
    steer: (payload, client) => submitted('steer', payload, client),
    follow_up: (payload, client) => submitted('follow_up', payload, client),
    abort(payload, client) {
      const state = stateFor(deps, payload.session_id, client);
      if (!state) return payload.session_id === undefined ? rejected('no_active_run') : sessionNotFound(payload.session_id);
      const outcome = commit.decide(state.id, (now) => abortRun(now, payload.keep_queue, payload.reason));
      if (!outcome.ok) return refused(outcome.refusal);
      return accepted<'abort'>(outcome, { command: 'abort', run_id: outcome.reply.runId, session_id: state.id });
    },
  };
}
