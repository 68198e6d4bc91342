import { z } from 'zod';
import { toolText, type Tool } from '../../src/tools/port.js';
import { zodParameters } from '../../src/tools/zod-parameters.js';

export interface Gate {
  readonly tool: Tool;
  /** The keys of the calls that have begun, in order. */
  begun(): string[];
  /** Resolves when so many calls have begun. */
  arrive(count: number): Promise<void>;
  /** Lets a call finish. */
  open(key: string): void;
}

interface GateOptions {
  readOnly?: boolean;
  resumable?: boolean;
  /** Calls must be approved. */
  approval?: boolean;
  /** Does not end when it is told to stop. */
  deaf?: boolean;
}

/** A tool whose calls, told apart by `key`, run until the test opens them. */
export function createGate(name = 'gate', options: GateOptions = {}): Gate {
  const calls: { key: string; open(): void }[] = [];
  let waiting: (() => void)[] = [];
  const tool: Tool<{ key: string }> = {
    name,
    description: name,
    parameters: zodParameters(z.object({ key: z.string() })),
    readOnly: options.readOnly ?? false,
    resumable: options.resumable ?? false,
    title: ({ key }) => `${name} ${key}`,
    ...(options.approval ? { approval: ({ key }: { key: string }) => ({ title: 'May I?', message: key }) } : {}),
    run: ({ key }, { signal, output }) =>
      new Promise((resolve) => {
        output(`${key} begins`);
        const finish = (): void => {
          signal.removeEventListener('abort', finish);
          resolve(toolText(`${name} ${key}`));
        };
        if (!options.deaf) signal.addEventListener('abort', finish);
        calls.push({ key, open: finish });
        const ready = waiting;
        waiting = [];
        for (const wake of ready) wake();
      }),
  };
  return {
    tool: tool,
    begun: () => calls.map(({ key }) => key),
    async arrive(count) {
      while (calls.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    open: (key) => calls.find((call) => call.key === key)?.open(),
  };
}
