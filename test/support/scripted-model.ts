import type { ModelDelta, ModelFacts, ModelFailure, ModelRequest, Providers } from '../../src/providers/port.js';
import type { StopReason, Usage } from '../../src/protocol/messages.js';

/** One question to the model, answered by the test as it goes along. */
export interface ModelCall {
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  begin(): this;
  say(text: string, block?: number): this;
  think(text: string, block?: number, signature?: string): this;
  call(name: string, args?: unknown, id?: string): this;
  end(stopReason?: StopReason, usage?: Usage | null): void;
  fail(message: string, cause?: string): void;
  /** A failure that may be tried again, or that says that there was too much. */
  failWith(failure: ModelFailure): void;
  /** Breaks the contract of providers. */
  throwError(error: Error): void;
  /** The stream ends without saying so. */
  cut(): void;
}

/** A model without a mind: every question waits until the test answers it. */
export interface ScriptedModel extends Providers {
  readonly asked: readonly ModelCall[];
  /** The next question that the test has not seen. */
  next(): Promise<ModelCall>;
  /** From now on questions are answered at once. */
  answerWith(answer: (call: ModelCall, count: number) => void): void;
  /** Does not end its streams when it is told to stop. */
  deaf: boolean;
  /** What there is to know about it. */
  known: ModelFacts;
}

type Step = ModelDelta | { type: 'throw'; error: Error } | { type: 'cut' };

export function createScriptedModel(): ScriptedModel {
  const asked: ModelCall[] = [];
  let seen = 0;
  let waiting: (() => void)[] = [];
  let answer: ((call: ModelCall, count: number) => void) | undefined;

  function open(request: ModelRequest, signal: AbortSignal): { call: ModelCall; steps: Step[]; more(): Promise<void>; close(): void } {
    const steps: Step[] = [];
    let wake: (() => void) | undefined;
    let block = 0;
    function push(step: Step): void {
      steps.push(step);
      wake?.();
    }
    function onAbort(): void {
      if (!model.deaf) push({ type: 'cut' });
    }
    signal.addEventListener('abort', onAbort);
    const call: ModelCall = {
      request,
      signal,
      begin() {
        push({ type: 'begin' });
        return call;
      },
      say(text, at = block) {
        push({ type: 'text', block: at, text });
        return call;
      },
      think(text, at = block, signature) {
        push({ type: 'thinking', block: at, text, ...(signature === undefined ? {} : { signature }) });
        return call;
      },
      call(name, args = {}, id) {
        block++;
        push({ type: 'tool_call', block, id: id ?? `call_${asked.length}_${block}`, name });
        push({ type: 'tool_arguments', block, json: typeof args === 'string' ? args : JSON.stringify(args) });
        return call;
      },
      end: (stopReason = 'stop', usage = null) => push({ type: 'end', stopReason, usage }),
      fail: (message, cause) => push({ type: 'failure', message, ...(cause === undefined ? {} : { cause }) }),
      failWith: (failure) => push({ type: 'failure', ...failure }),
      throwError: (error) => push({ type: 'throw', error }),
      cut: () => push({ type: 'cut' }),
    };
    return {
      call,
      steps,
      more: () => new Promise((resolve) => (wake = resolve)),
      close: () => signal.removeEventListener('abort', onAbort),
    };
  }

  const model: ScriptedModel = {
    asked,
    deaf: false,
    known: { contextWindow: null, maxOutput: null, price: null },
    async next() {
      while (asked.length <= seen) await new Promise<void>((resolve) => waiting.push(resolve));
      return asked[seen++]!;
    },
    answerWith(given) {
      answer = given;
    },
    find: (name) =>
      name.startsWith('scripted/')
        ? {
            async *stream(request, signal) {
              const { call, steps, more, close } = open(request, signal);
              asked.push(call);
              const ready = waiting;
              waiting = [];
              for (const resolve of ready) resolve();
              answer?.(call, asked.length);
              try {
                for (;;) {
                  const step = steps.shift();
                  if (!step) await more();
                  else if (step.type === 'throw') throw step.error;
                  else if (step.type === 'cut') return;
                  else yield step;
                }
              } finally {
                close();
              }
            },
          }
        : undefined,
    facts: () => model.known,
    names: () => ['scripted'],
    list: () => Promise.resolve({ models: [], providers: [] }),
  };
  return model;
}
