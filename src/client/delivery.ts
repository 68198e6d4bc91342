import { setTimeout as delay } from 'node:timers/promises';
import type { CommandInput } from '../protocol/commands/commands.js';
import { refusal, type Refusal } from '../protocol/errors.js';
import type { QueuedInput, WireEvent } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import { applyQueue, applyToSent, type SentInput } from '../view/sent-inputs.js';
import { ConnectionLost, DaemonUnresponsive, NoDaemon, OutboxFull } from './errors.js';
import { newInputId } from './input-id.js';
import type { KeptInput, Outbox } from './outbox.js';

/** What an input says, and when it may start or join a run: the fields of `prompt`, `steer` and `follow_up`. */
export interface NewInput {
  text: string;
  content?: NonNullable<CommandInput<'prompt'>['content']>;
  /** Of a prompt: what to do while a run is in progress, and the message to go on from. */
  if_busy?: 'reject' | 'steer' | 'follow_up';
  leaf_id?: string;
  /** Of a steer or follow_up: what to do while none is. */
  if_idle?: 'reject' | 'prompt';
  /** Chosen by the client when absent. */
  input_id?: string;
}

/** What a daemon answered; undefined when it has another store than the one that the input is meant for. */
export type Submitted = { ok: true; seq: number; payload: { run_id: string } } | { ok: false; error: Refusal } | undefined;

interface Deps {
  sessionId: string;
  logId(): string;
  outbox: Outbox;
  /** Sends once; throws ConnectionLost, NoDaemon or DaemonUnresponsive. */
  submit(input: KeptInput): Promise<Submitted>;
  /** Told of inputs that were sent or returned after `send` had resolved, and of those that another process left behind. */
  onDelivered?: ((input: SentInput) => void) | undefined;
  notice(text: string): void;
}

/** Inputs of one session on their way to a daemon: in order, each once, and on disk until they are taken. */
export interface Delivery {
  send(command: KeptInput['command'], input: NewInput): Promise<SentInput>;
  sent(): readonly SentInput[];
  dismiss(inputId: string): void;
  flushed(): Promise<void>;
  /** A daemon is there: goes on with what is kept, and with what other processes left behind. */
  flush(): void;
  hear(event: WireEvent): void;
  hearQueue(queue: readonly QueuedInput[]): void;
  close(): void;
}

export function createDelivery({ sessionId, logId, outbox, submit, onDelivered, notice }: Deps): Delivery {
  const closing = new AbortController();
  const queue: KeptInput[] = [];
  /** Who waits for the first answer about an input. */
  const waiting = new Map<string, (input: SentInput) => void>();
  /** Inputs that another process left behind. It, or a third one, may settle them first: then it is told there. */
  const adopted = new Set<string>();
  let sent: readonly SentInput[] = [];
  let pumping: Promise<void> | undefined;
  let wanted = false;

  function track(input: SentInput): void {
    const excess = sent.length + 1 - limits.sentInputsMax;
    const settled = sent.filter(({ state }) => state !== 'kept').slice(0, Math.max(0, excess));
    sent = [...sent.filter((other) => !settled.includes(other) && other.inputId !== input.inputId), input];
  }

  /** An input that was removed from the queue meanwhile is not tracked any more. */
  function change(kept: KeptInput, fields: Partial<SentInput>): SentInput {
    const changed = { ...(sent.find(({ inputId }) => inputId === kept.inputId) ?? toSent(kept)), ...fields };
    sent = sent.map((input) => (input.inputId === kept.inputId ? changed : input));
    return changed;
  }

  /** Answers who waits. What is heard of later is told apart. */
  function tell(input: SentInput): void {
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
      // Sending does not need the disk.
      notice(`the message could not be kept on disk (${error.message}); it is lost if this program ends before a daemon has taken it`);
    }
  }

  /** True when the input is settled; false when it has to wait for a daemon. */
  async function deliver(kept: KeptInput): Promise<boolean> {
    const deadline = performance.now() + limits.startMs;
    for (let waitMs: number = limits.outboxRetryMinMs; ; waitMs = Math.min(2 * waitMs, limits.outboxRetryMaxMs)) {
      const answer = await tryOnce(kept);
      if (answer?.ok) {
        const isOurs = outbox.remove(kept.inputId) || !adopted.has(kept.inputId);
        const known = change(kept, { seq: answer.seq, runId: answer.payload.run_id });
        // The events may have told more than that already.
        const settled = known.state === 'kept' ? change(kept, { state: 'committed' }) : known;
        if (isOurs) tell(settled);
        return true;
      }
      if (answer && !answer.error.retryable) {
        giveBack(kept, answer.error);
        return true;
      }
      change(kept, answer ? { refusal: answer.error } : {});
      // Those behind the first one wait with it.
      for (const waits of queue) tell(change(waits, {}));
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

  function giveBack(kept: KeptInput, why: Refusal): void {
    const isOurs = outbox.markReturned(kept.inputId) || !adopted.has(kept.inputId);
    const returned = change(kept, { state: 'returned', refusal: why });
    if (isOurs) tell(returned);
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
    while (wanted && !closing.signal.aborted) {
      wanted = false;
      await pumpAll().catch((error: unknown) => notice(`a message could not be sent: ${String(error)}`));
    }
    pumping = undefined;
  }

  function pump(): void {
    wanted = true;
    pumping ??= pumpWhileWanted();
  }

  /** Takes over what processes that have ended left behind. */
  function adopt(): void {
    for (const { returned, ...kept } of outbox.leftBehind(sessionId)) {
      if (sent.some(({ inputId }) => inputId === kept.inputId) || kept.logId !== logId()) continue;
      adopted.add(kept.inputId);
      track(toSent(kept));
      if (returned) giveBack(kept, refusal('session_error', 'it was refused when it was sent before'));
      else if (Date.now() - kept.atMs > limits.outboxSendMaxMs)
        giveBack(kept, refusal('timeout', 'it was kept for too long to be sent unasked'));
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
      for (const kept of queue) tell(change(kept, {}));
    },
  };
}

function toSent({ inputId, command, payload, atMs }: KeptInput): SentInput {
  return { inputId, command, text: payload.text, atMs, state: 'kept' };
}
