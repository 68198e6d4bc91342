import type { CommandInput, CommandType, ReplyPayload } from '../protocol/commands/commands.js';
import type { Refusal } from '../protocol/errors.js';
import { createAnswerWatch } from './answer-watch.js';
import { ConnectionLost } from './errors.js';
import { onLines } from './lines.js';
import type { Transport } from './transport.js';

/** The reply to a `prompt` with `wait:false` has no output. */
export type CallPayload<T extends CommandType> = T extends 'prompt'
  ? Pick<ReplyPayload<'prompt'>, 'run_id' | 'session_id' | 'input_id'> & Partial<ReplyPayload<'prompt'>>
  : ReplyPayload<T>;

/** The reply to a command. */
export type Reply<T extends CommandType> = { ok: true; type: string; seq: number; payload: CallPayload<T> } | { ok: false; error: Refusal };

export interface CommandClient {
  call<T extends CommandType>(type: T, payload?: CommandInput<T>): Promise<Reply<T>>;
  isOpen(): boolean;
  close(): void;
}

interface Settle {
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

/**
 * A command connection. Calls are pipelined; each gets one reply, or rejects when the connection is lost. `toStuck` is called while the
 * daemon is unresponsive, and returns an error to give up with.
 */
export async function openCommandClient(transport: Transport, toStuck: (silentMs: number) => Error | undefined): Promise<CommandClient> {
  const stream = await transport.open('commands');
  const waiting = new Map<string, Settle>();
  let count = 0;
  let open = true;
  const watch = createAnswerWatch({
    ping: () => void stream.write('{"v":"1","id":"alive","type":"ping","payload":{}}\n'),
    isWaiting: () => open && waiting.size > 0,
    onSilent(silentMs) {
      const stuck = toStuck(silentMs);
      if (stuck) end(stuck);
    },
  });

  function end(error: Error): void {
    open = false;
    watch.stop();
    stream.destroy();
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  onLines(
    stream,
    (value) => {
      const reply = value as { id?: string };
      watch.heard();
      const settle = waiting.get(reply.id ?? '');
      waiting.delete(reply.id ?? '');
      settle?.resolve(value);
    },
    () => end(new ConnectionLost('the connection to the daemon was lost before its reply')),
  );

  return {
    call<T extends CommandType>(type: T, payload?: CommandInput<T>) {
      return new Promise<Reply<T>>((resolve, reject) => {
        if (!open) return reject(new ConnectionLost('the connection to the daemon was lost'));
        const id = `c${++count}`;
        waiting.set(id, { resolve: (reply) => resolve(reply as Reply<T>), reject });
        watch.sent(type === 'hello');
        stream.write(`${JSON.stringify({ v: '1', id, type, payload: payload ?? {} })}\n`);
      });
    },
    isOpen: () => open,
    close() {
      end(new ConnectionLost('this client was closed'));
    },
  };
}
