import type { Decision, Fresh } from '../../src/core/decision.js';
import { submitInput, type EarlierInput, type NewInput, type Submitted } from '../../src/core/inputs.js';
import { beginMessage, endCalls, endMessage, endTurn, startCall } from '../../src/core/runs.js';
import { emptySession, evolve, type SessionState } from '../../src/core/session.js';
import { askPerson, type NewRequest } from '../../src/core/requests.js';
import { createSession } from '../../src/core/settings.js';
import type { Fact } from '../../src/protocol/events.js';
import type { ContentBlock, Usage } from '../../src/protocol/messages.js';
import { questionParams } from './requests.js';

/** Ids that count, and a clock that stands still. */
function createFresh(contents: ReadonlyMap<string, ContentBlock[] | null>): Fresh {
  let count = 0;
  return { nowMs: Date.UTC(2026, 10, 16), id: (prefix) => `${prefix}_${++count}`, contentOf: (inputId) => contents.get(inputId) ?? null };
}

function input(id: string, overrides: Partial<NewInput> = {}): NewInput {
  return { id, command: 'prompt', text: `text of ${id}`, content: null, client: null, otherwise: 'reject', ...overrides };
}

export function factsOf(decision: Decision<unknown>): readonly Fact[] {
  if (!decision.ok) throw new Error(`refused: ${decision.refusal.code} ${decision.refusal.message}`);
  return decision.facts;
}

/** The word a decision was refused with. */
export function refusalOf(decision: Decision<unknown>): string {
  if (decision.ok) throw new Error(`accepted: ${brief(decision.facts).join(', ')}`);
  return decision.refusal.code === 'command_rejected' ? decision.refusal.message : decision.refusal.code;
}

/** Facts in few words, such as `message_end assistant` or `queue_update taken inp_1`. */
export function brief(facts: readonly Fact[]): string[] {
  return facts.map((fact) => {
    switch (fact.type) {
      case 'message_start':
        return `message_start ${fact.payload.role}`;
      case 'message_end':
        return `message_end ${fact.payload.role}${fact.payload.discarded ? ` discarded ${fact.payload.reason ?? ''}` : ''}`;
      case 'turn_start':
        return `turn_start ${fact.payload.turn_id} ${fact.payload.kind}`;
      case 'turn_end':
        return `turn_end ${fact.payload.turn_id}`;
      case 'tool_execution_start':
        return `tool_execution_start ${fact.payload.tool_call_id}`;
      case 'tool_execution_end':
        return `tool_execution_end ${fact.payload.tool_call_id}${fact.payload.skipped ? ' skipped' : ''}`;
      case 'agent_end':
        return `agent_end ${fact.payload.outcome}`;
      case 'queue_update':
        return `queue_update ${fact.payload.op}${fact.payload.input ? ` ${fact.payload.input.input_id}` : ''}`;
      case 'ui_resolved':
        return `ui_resolved ${fact.payload.by} ${fact.payload.outcome}`;
      default:
        return fact.type;
    }
  });
}

export function fold(state: SessionState, facts: readonly Fact[]): SessionState {
  return facts.reduce(evolve, state);
}

export interface CorePlay {
  readonly state: SessionState;
  readonly fresh: Fresh;
  /** Makes an accepted decision true and says in few words what it told. */
  take(decision: Decision<unknown>): string[];
  submit(id: string, overrides?: Partial<NewInput>, earlier?: EarlierInput): Decision<Submitted>;
  prompt(id?: string): void;
  steer(id: string): void;
  followUp(id: string): void;
  /** The model answers: text, or calls of the given names with ids `call_1`, `call_2`… */
  answer(answer: { text?: string; calls?: string[]; usage?: Usage }): void;
  start(callId: string): void;
  finish(...callIds: string[]): string[];
  ask(overrides?: Partial<NewRequest>): string;
  endTurn(): string[];
}

/** A session as the core sees it, moved by decisions alone. */
export function createPlay(): CorePlay {
  const contents = new Map<string, ContentBlock[] | null>();
  const fresh = createFresh(contents);
  let state = fold(emptySession('ses_a'), factsOf(createSession('ses_a', { cwd: '/', model: 'offline/guide' })));
  const play: CorePlay = {
    get state() {
      return state;
    },
    fresh,
    take(decision) {
      const facts = factsOf(decision);
      state = fold(state, facts);
      if (decision.ok && decision.admit) contents.set(decision.admit.inputId, decision.admit.content);
      return brief(facts);
    },
    submit: (id, overrides, earlier) => submitInput(state, input(id, overrides), earlier, fresh),
    prompt(id = 'inp_p') {
      play.take(play.submit(id));
    },
    steer(id) {
      play.take(play.submit(id, { command: 'steer' }));
    },
    followUp(id) {
      play.take(play.submit(id, { command: 'follow_up' }));
    },
    answer({ text, calls = [], usage }) {
      const messageId = fresh.id('msg');
      play.take(beginMessage(state, messageId));
      const content: ContentBlock[] = [
        ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
        ...calls.map((name, index) => ({ type: 'tool_call' as const, id: `call_${index + 1}`, name, arguments: {} })),
      ];
      play.take(endMessage(state, { id: messageId, content, usage: usage ?? null }, null, fresh));
    },
    start(callId) {
      play.take(startCall(state, callId, callId));
    },
    finish(...callIds) {
      const result = { content: [{ type: 'text' as const, text: 'done' }], isError: false, skipped: false, durationMs: 1 };
      return play.take(
        endCalls(
          state,
          callIds.map((id) => ({ id, result })),
          fresh,
        ),
      );
    },
    ask(overrides = {}) {
      const id = overrides.id ?? fresh.id('req');
      const request = { toolCallId: 'call_1', askKey: 'answer', params: questionParams('confirm'), expiresAtMs: null };
      play.take(askPerson(state, { ...request, ...overrides, id }));
      return id;
    },
    endTurn: () => play.take(endTurn(state, fresh)),
  };
  return play;
}
