import { startWithModels } from '../e2e/providers.js';
import type { TestDaemon } from './daemon.js';
import type { Step } from './fake-model/reply.js';
import { createFakeModel } from './fake-model/server.js';

/** A daemon whose model stops in the middle of an answer until the test lets it go on, however slow the machine is. */
export interface HeldModelDaemon extends TestDaemon {
  /** Says what the next answer is. It stops before each of these words; each call of what is returned lets it go on. */
  answerNext(text: string, ...stopsBefore: string[]): () => void;
  /** The same for an answer that says something, stops, and calls a tool. */
  callNext(text: string, tool: string, args: object): () => void;
}

/** `await using` fails when the model was asked something that a real one would refuse. */
export async function startWithHeldModel(config: Record<string, unknown> = {}): Promise<HeldModelDaemon> {
  const fake = await createFakeModel();
  const daemon = await startWithModels(fake, { config: { model: 'local/llama', ...config } });
  return {
    ...daemon,
    answerNext(text, ...stopsBefore) {
      const goOn: (() => void)[] = [];
      const steps: Step[] = [];
      let said = 0;
      for (const word of stopsBefore) {
        const at = text.indexOf(word, said);
        if (at === -1) throw new Error(`the answer has no ${word} after its first ${said} characters`);
        steps.push({ text: text.slice(said, at) }, { gate: new Promise<void>((resolve) => goOn.push(resolve)) });
        said = at;
      }
      fake.script([...steps, { text: text.slice(said) }]);
      return () => goOn.shift()?.();
    },
    callNext(text, call, args) {
      let goOn = (): void => undefined;
      const gate = new Promise<void>((resolve) => (goOn = resolve));
      fake.script([{ text }, { gate }, { call, args }]);
      return goOn;
    },
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await fake[Symbol.asyncDispose]();
      if (fake.refusals.length > 0) throw new Error(`the model was asked what it would refuse: ${fake.refusals.join('; ')}`);
    },
  };
}
