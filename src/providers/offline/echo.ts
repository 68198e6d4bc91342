import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import { toolText, touchesNothing, type Tool, type ToolContext } from '../../tools/port.js';
import { offlineToolFacts } from './offline-tools.js';
import { zodParameters } from '../../tools/zod-parameters.js';

const parameters = z.object({
  text: z.string().min(1),
  seconds: z.number().min(0).max(limits.echoSecondsMax).optional().describe('how long to take over it'),
  confirm: z.boolean().optional().describe('ask a person first'),
});

export interface EchoDeps {
  /** Sleeps; resolves early on abort; leaves neither timer nor listener behind. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A monotonic clock in milliseconds. */
  now?: () => number;
}

/** Echoes a text, its words spread over some seconds. An aborted echo is an error result. */
export function createEchoTool({ sleep = sleepFor, now = () => performance.now() }: EchoDeps = {}): Tool<z.infer<typeof parameters>> {
  async function sayWords(words: string[], totalMs: number, context: ToolContext): Promise<void> {
    const msPerWord = totalMs / words.length;
    const startMs = now();
    let said = 0;
    while (said < words.length && !context.signal.aborted) {
      const due = Math.max(said, Math.floor((now() - startMs) / msPerWord)) + 1;
      context.output(words.slice(said, due).join(''));
      said = Math.min(due, words.length);
      await sleep(Math.max(0, Math.ceil(startMs + said * msPerWord - now())), context.signal);
    }
  }

  return {
    ...offlineToolFacts.echo,
    parameters: zodParameters(parameters),
    prepare: touchesNothing,
    title: ({ text, seconds }) => `Echo ${shortenText(text)}${seconds ? ` over ${seconds} s` : ''}`,
    approval: ({ text, confirm }) => (confirm ? { title: 'Echo this text?', message: text } : undefined),
    async run({ text, seconds = 0 }, context) {
      if (seconds > 0) await sayWords(text.match(/\s*\S+|\s+$/gu) ?? [], seconds * 1000, context);
      else if (!context.signal.aborted) context.output(text);
      return context.signal.aborted ? toolText('stopped', true) : toolText(text);
    },
  };
}

function shortenText(text: string): string {
  const line = text.slice(0, wholeUnits(text, limits.echoTitleCharsMax)).replaceAll(/\s+/gu, ' ');
  return text.length > limits.echoTitleCharsMax ? `${line}…` : line;
}

async function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
