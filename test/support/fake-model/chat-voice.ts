import { newId } from './failures.js';
import type { Stop, Usage } from './reply.js';
import { sse, type Fragments, type Said, type Voice, type VoiceDeps } from './voice.js';

const finishReasons: Record<Stop, string> = {
  stop: 'stop',
  length: 'length',
  tool_use: 'tool_calls',
  refusal: 'stop',
  content_filter: 'content_filter',
};

function usageOf({ input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage): object {
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** Speaks the chunks of the Chat Completions API. */
export function createChatVoice({ body, refuses }: VoiceDeps): Voice {
  const withUsage: boolean = body.stream_options?.include_usage === true;
  const head = {
    id: newId('chatcmpl-', 29),
    object: 'chat.completion.chunk',
    created: Math.floor(Date.now() / 1000),
    model: body.model as string,
    service_tier: 'default',
    system_fingerprint: newId('fp_', 10),
  };
  let calls = 0;

  function chunk(delta: object, isText = false, finish: string | null = null): Said {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return { sse: sse({ ...head, choices, ...(withUsage ? { usage: null } : {}) }), delta: isText };
  }
  const begin = ({ id, name }: Fragments, index: number): Said =>
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
  const fragment = (index: number, piece: string): Said => chunk({ tool_calls: [{ index, function: { arguments: piece } }] });

  return {
    *open() {
      yield chunk({ role: 'assistant', content: '', refusal: null });
    },
    *text(pieces) {
      for (const piece of pieces) yield chunk(refuses ? { refusal: piece } : { content: piece }, true);
    },
    *thinking(pieces) {
      for (const piece of pieces) yield chunk({ reasoning_content: piece }, true);
    },
    // The API has no form for it.
    *redacted() {},
    *call(call) {
      const index = calls++;
      yield begin(call, index);
      for (const piece of call.pieces) yield fragment(index, piece);
    },
    *interleave(several) {
      const first = calls;
      calls += several.length;
      for (const [i, call] of several.entries()) yield begin(call, first + i);
      const longest = Math.max(...several.map(({ pieces }) => pieces.length));
      for (let round = 0; round < longest; round++) {
        for (const [i, { pieces }] of several.entries()) {
          const piece = pieces[round];
          if (piece !== undefined) yield fragment(first + i, piece);
        }
      }
    },
    *ping() {
      yield { sse: ': keep-alive\n\n', delta: false };
    },
    *error({ type = 'server_error', message }) {
      yield { sse: sse({ error: { message, type, param: null, code: null } }), delta: false };
    },
    *close(stop, usage) {
      yield chunk({}, false, finishReasons[stop]);
      if (withUsage) yield { sse: sse({ ...head, choices: [], usage: usageOf(usage) }), delta: false };
      yield { sse: sse('[DONE]'), delta: false };
    },
  };
}
