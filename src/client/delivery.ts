import { setTimeout as delay } from 'node:timers/promises';
import type { CommandInput } from '../protocol/commands/commands.js';
import { refusal, type Refusal } from '../protocol/errors.js';
import type { QueuedInput, WireEvent } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import { applyQueue, applyToSent, type SentInput } from '../view/sent-inputs.js';
import { ConnectionLost, DaemonUnresponsive, NoDaemon, OutboxFull } from './errors.js';
import { newInputId } from './input-id.js';
import type { KeptInput, Outbox } from './outbox.js';

/** A new input: the fields of `prompt`, `steer` and `follow_up`. */
export interface NewInput {
  text: string;
  content?: NonNullable<CommandInput<'prompt'>['content']>;
  /** For a prompt: what to do while a run is active, and the message to go on from. */
  if_busy?: 'reject' | 'steer' | 'follow_up';
  leaf_id?: string;
  /** For a steer or follow_up: what to do while no run is active. */
  if_idle?: 'reject' | 'prompt';
  /** The idempotency key; made by the client when absent. */
  input_id?: string;
}

/** The reply of a daemon; undefined when the daemon has another store than the input's session. */
export type Submitted = { ok: true; seq: number; payload: { run_id: string } } | { ok: false; error: Refusal } | undefined;

interface Deps {
  sessionId: string;
  logId(): string;
  outbox: Outbox;
  /** Sends an input without retries; throws ConnectionLost, NoDaemon or DaemonUnresponsive. */
  submit(input: KeptInput): Promise<Submitted>;
  /** Called for inputs that were committed or returned after `send` had resolved, and for those that another process left behind. */
  onDelivered?: ((input: SentInput) => void) | undefined;
  notice(text: string): void;
}

/** Delivery of one session's inputs to a daemon: in order, exactly once, and on disk until they are committed. */
export interface Delivery {
  send(command: KeptInput['command'], input: NewInput): Promise<SentInput>;
  sent(): readonly SentInput[];
  dismiss(inputId: string): void;
  flushed(): Promise<void>;
  /** To be called when a daemon is reachable: sends the inputs in the outbox, also those that ended processes left behind. */
  flush(): void;
  hear(event: WireEvent): void;
  hearQueue(queue: readonly QueuedInput[]): void;
  close(): void;
}

export function createDelivery({ sessionId, logId, outbox, submit, onDelivered, notice }: Deps): Delivery {
  const closing = new AbortController();
  const queue: KeptInput[] = [];
  /** The pending promises of `send`, by input id. */
  const waiting = new Map<string, (input: SentInput) => void>();
  /** Inputs that another process left behind. If a third process settles one of them first, that process reports it. */
  const adopted = new Set<string>();
  let sent: readonly SentInput[] = [];
  let pumping: Promise<void> | undefined;
  let isPumpWanted = false;

  function track(input: SentInput): void {
    const excess = sent.length + 1 - limits.sentInputsMax;
    const settled = sent.filter(({ state }) => state !== 'kept').slice(0, Math.max(0, excess));
    sent = [...sent.filter((other) => !settled.includes(other) && other.inputId !== input.inputId), input];
  }

  /** Updates the state of an input, unless the input is not tracked any more. */
  function change(kept: KeptInput, fields: Partial<SentInput>): SentInput {
    const changed = { ...(sent.find(({ inputId }) => inputId === kept.inputId) ?? toSent(kept)), ...fields };
    sent = sent.map((input) => (input.inputId === kept.inputId ? changed : input));
    return changed;
  }

  /** Resolves the promise of `send`; later changes go to `onDelivered`. */
  function report(input: SentInput): void {
    const resolve = waiting.get(input.inputId);
    waiting.delete(input.inputId);
    if (resolve) resolve(input);
    else if (input.state !== 'kept') onDelivered?.(input);
  }

  function keep(input: KeptInput): void {
    try {
      outbox.keep(input);
    } catch (error) {
      if (error instanceof OutboxFull || !(error instanceof Error && 'syscall' in error)) throw error;
      // A disk error does not prevent sending.
      notice(
        `the message could not be kept on disk, in the outbox (${error.message}); it is lost if this program ends before a daemon has committed it`,
      );
    }
  }

  /** Sends an input, with retries. True when the input is settled; false when it has to wait for a daemon. */
  async function deliver(kept: KeptInput): Promise<boolean> {
    const deadline = performance.now() + limits.startMs;
    for (let waitMs: number = limits.outboxRetryMinMs; ; waitMs = Math.min(2 * waitMs, limits.outboxRetryMaxMs)) {
      const answer = await tryOnce(kept);
      if (answer?.ok) {
        const isOurs = outbox.remove(kept.inputId) || !adopted.has(kept.inputId);
        const tracked = change(kept, { seq: answer.seq, runId: answer.payload.run_id });
        // Race: events may have advanced the state already.
        const settled = tracked.state === 'kept' ? change(kept, { state: 'committed' }) : tracked;
        if (isOurs) report(settled);
        return true;
      }
      if (answer && !answer.error.retryable) {
        returnInput(kept, answer.error);
        return true;
      }
      change(kept, answer ? { refusal: answer.error } : {});
      // Later inputs wait behind this one, to keep the order.
      for (const waits of queue) report(change(waits, {}));
      if (closing.signal.aborted || performance.now() > deadline) return false;
      await pause(waitMs);
    }
  }

  async function tryOnce(kept: KeptInput): Promise<Submitted> {
    try {
      return await submit(kept);
    } catch (error) {
      if (![ConnectionLost, NoDaemon, DaemonUnresponsive].some((kind) => error instanceof kind)) throw error;
      return undefined;
    }
  }

  function returnInput(kept: KeptInput, why: Refusal): void {
    const isOurs = outbox.markReturned(kept.inputId) || !adopted.has(kept.inputId);
    const returned = change(kept, { state: 'returned', refusal: why });
    if (isOurs) report(returned);
  }

  async function pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: closing.signal }).catch((error: unknown) => {
      if (!closing.signal.aborted) throw error;
    });
  }

  async function pumpAll(): Promise<void> {
    for (let [next] = queue; next && !closing.signal.aborted; [next] = queue) {
      if (!(await deliver(next))) break;
      queue.shift();
    }
  }

  async function pumpWhileWanted(): Promise<void> {
    while (isPumpWanted && !closing.signal.aborted) {
      isPumpWanted = false;
      await pumpAll().catch((error: unknown) => notice(`a message could not be sent: ${String(error)}`));
    }
    pumping = undefined;
  }

  function pump(): void {
    isPumpWanted = true;
    pumping ??= pumpWhileWanted();
  }

  /** Takes over the inputs that ended processes left in the outbox. */
  function adopt(): void {
    for (const { returned, ...kept } of outbox.leftBehind(sessionId)) {
      if (sent.some(({ inputId }) => inputId === kept.inputId) || kept.logId !== logId()) continue;
      adopted.add(kept.inputId);
      track(toSent(kept));
      if (returned) returnInput(kept, refusal('session_error', 'the daemon refused this message when it was sent before; send it again'));
      else if (Date.now() - kept.atMs > limits.outboxSendMaxMs)
        returnInput(kept, refusal('timeout', 'this message was in the outbox for too long to be sent automatically; send it again'));
      else queue.push(kept);
    }
  }

  return {
    async send(command, { input_id = newInputId(), ...payload }) {
      const kept: KeptInput = { inputId: input_id, sessionId, logId: logId(), command, payload, atMs: Date.now() };
      keep(kept);
      track(toSent(kept));
      queue.push(kept);
      const answer = new Promise<SentInput>((resolve) => waiting.set(kept.inputId, resolve));
      pump();
      return answer;
    },
    sent: () => sent,
    dismiss(inputId) {
      if (sent.find((input) => input.inputId === inputId)?.state !== 'returned') return;
      outbox.remove(inputId);
      sent = sent.filter((input) => input.inputId !== inputId);
    },
    async flushed() {
      while (pumping) await pumping;
    },
    flush() {
      adopt();
      pump();
    },
    hear(event) {
      sent = applyToSent(sent, event);
    },
    hearQueue(inputs) {
      sent = applyQueue(sent, inputs);
    },
    close() {
      closing.abort();
      for (const kept of queue) report(change(kept, {}));
    },
  };
}

function toSent({ inputId, command, payload, atMs }: KeptInput): SentInput {
  return { inputId, command, text: payload.text, atMs, state: 'kept' };
}
