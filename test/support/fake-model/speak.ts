import { setTimeout as delay } from 'node:timers/promises';
import { createAnthropicVoice } from './anthropic-voice.js';
import { createChatVoice } from './chat-voice.js';
import { newId } from './failures.js';
import type { Issued } from './issued.js';
import type { Outlet } from './outlet.js';
import { splitEvenly, splitWords, type Answer, type Api, type Step, type ToolCall } from './reply.js';
import { createResponsesVoice } from './responses-voice.js';
import type { Json } from './shape.js';
import type { Fragments, Said, Voice } from './voice.js';

const voices = { anthropic: createAnthropicVoice, 'openai-responses': createResponsesVoice, 'openai-chat': createChatVoice };
const callIdPrefix = { anthropic: 'toolu_01', 'openai-responses': 'call_', 'openai-chat': 'call_' };
/** How many fragments arguments come in, when it is not said. */
const argumentPieces = 3;

export interface Question {
  api: Api;
  body: Json;
  tokens: number;
  issued: Issued;
  /** Resolves when waiting is over for everyone. */
  over: Promise<unknown>;
}

/** At four characters a token. */
export function toTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

function fragmentsOf(api: Api, { name, args = {}, id, pieces = argumentPieces }: ToolCall): Fragments {
  const json = typeof args === 'string' ? args : JSON.stringify(args);
  return { id: id ?? newId(callIdPrefix[api], api === 'anthropic' ? 22 : 24), name, pieces: splitEvenly(json, pieces) };
}

/** Says an answer, step by step, until it is over or the peer leaves: whether the peer stayed. */
export async function speak(answer: Answer, { api, body, tokens, issued, over }: Question, outlet: Outlet): Promise<boolean> {
  const said = { characters: 0, thought: 0, calls: 0 };
  const input = { input: tokens, output: 0 };
  const voice: Voice = voices[api]({ body, issued, usage: answer.usage ?? input, refuses: answer.stop === 'refusal' });
  let isOpen = false;
  let closes = true;

  function* open(): Iterable<Said> {
    if (!isOpen) yield* voice.open();
    isOpen = true;
  }
  function* sayCalls(calls: ToolCall[], interleaved: boolean): Iterable<Said> {
    const all = calls.map((call) => fragmentsOf(api, call));
    said.calls += all.length;
    said.characters += all.reduce((sum, { name, pieces }) => sum + name.length + pieces.join('').length, 0);
    if (interleaved) yield* voice.interleave(all);
    else for (const one of all) yield* voice.call(one);
  }
  function* sayStep(step: Step): Iterable<Said> {
    yield* open();
    if ('text' in step) {
      said.characters += step.text.length;
      yield* voice.text(step.pieces === undefined ? splitWords(step.text) : splitEvenly(step.text, step.pieces));
    } else if ('thinking' in step) {
      said.thought += step.thinking.length;
      const pieces = step.pieces === undefined ? splitWords(step.thinking) : splitEvenly(step.thinking, step.pieces);
      yield* voice.thinking(pieces, step.signature);
    } else if ('redacted' in step) {
      yield* voice.redacted(step.redacted);
    } else if ('call' in step) {
      yield* sayCalls([{ ...step, name: step.call }], false);
    } else if ('calls' in step) {
      yield* sayCalls(step.calls, step.interleaved === true);
    } else if ('ping' in step) {
      yield* voice.ping();
    } else if ('error' in step) {
      closes = false;
      yield* voice.error(step.error);
    }
  }

  for (const step of answer.steps) {
    if (outlet.isGone()) return false;
    if ('gate' in step) {
      await outlet.flush();
      const isLate = Promise.race([outlet.gone, over]).then(() => true);
      if (await Promise.race([step.gate.then(() => false), isLate])) return false;
    } else if ('stall' in step) {
      await outlet.flush();
      await Promise.race([outlet.gone, over]);
      return false;
    } else if ('cut' in step) {
      for (const event of open()) outlet.say(event);
      await outlet.cut();
      return true;
    } else if ('end' in step) {
      closes = false;
      break;
    } else if ('raw' in step) {
      isOpen = true;
      await outlet.raw(step.raw);
    } else {
      const everyMs = 'everyMs' in step ? step.everyMs : undefined;
      for (const event of sayStep(step)) {
        if (everyMs !== undefined && event.delta) {
          await outlet.flush();
          await delay(everyMs);
        }
        if (outlet.say(event) || everyMs !== undefined) await outlet.flush();
        if (outlet.isGone()) return false;
      }
      await outlet.flush();
    }
  }
  if (closes) {
    const output = toTokens(said.characters + said.thought);
    const usage = answer.usage ?? { ...input, output, ...(said.thought > 0 ? { reasoning: toTokens(said.thought) } : {}) };
    const stop = answer.stop ?? (said.calls > 0 ? 'tool_use' : 'stop');
    for (const event of open()) outlet.say(event);
    for (const event of voice.close(stop, usage)) outlet.say(event);
  }
  return outlet.end();
}
