import { newId } from './failures.js';
import type { Stop, Usage } from './reply.js';
import { sse, type Fragments, type Said, type Voice, type VoiceDeps } from './voice.js';

const stopReasons: Record<Stop, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_use: 'tool_use',
  refusal: 'refusal',
  content_filter: 'refusal',
};

function say(type: string, data: object = {}, delta = false): Said {
  return { sse: sse({ type, ...data }, type), delta };
}

function usageOf({ input, output, cacheRead = 0, cacheWrite = 0, reasoning }: Usage): object {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    output_tokens_details: reasoning === undefined ? null : { thinking_tokens: reasoning },
    server_tool_use: null,
  };
}

/** Speaks the event stream of the Messages API. */
export function createAnthropicVoice({ body, issued, usage }: VoiceDeps): Voice {
  const model: string = body.model;
  let index = -1;
  let open: 'text' | 'thinking' | 'tool_use' | undefined;
  let thought = '';

  function* closeBlock(signature?: string): Iterable<Said> {
    if (open === undefined) return;
    if (open === 'thinking') yield blockDelta({ type: 'signature_delta', signature: issued.sign(model, thought, signature) });
    open = undefined;
    yield say('content_block_stop', { index });
  }
  function* openBlock(kind: typeof open, block: object): Iterable<Said> {
    yield* closeBlock();
    open = kind;
    thought = '';
    yield say('content_block_start', { index: ++index, content_block: block });
  }
  function blockDelta(delta: object, isText = false): Said {
    return say('content_block_delta', { index, delta }, isText);
  }
  function* call({ id, name, pieces }: Fragments): Iterable<Said> {
    yield* openBlock('tool_use', { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } });
    for (const piece of ['', ...pieces]) yield blockDelta({ type: 'input_json_delta', partial_json: piece });
  }

  return {
    *open() {
      const message = { id: newId('msg_01'), type: 'message', role: 'assistant', model, content: [], container: null, diagnostics: null };
      const cacheCreation = { ephemeral_5m_input_tokens: usage.cacheWrite ?? 0, ephemeral_1h_input_tokens: 0 };
      const more = { cache_creation: cacheCreation, service_tier: 'standard', inference_geo: null, speed: null };
      const stop = { stop_reason: null, stop_sequence: null, stop_details: null };
      yield say('message_start', { message: { ...message, ...stop, usage: { ...usageOf({ ...usage, output: 1 }), ...more } } });
    },
    *text(pieces) {
      if (open !== 'text') yield* openBlock('text', { type: 'text', text: '', citations: null });
      for (const text of pieces) yield blockDelta({ type: 'text_delta', text }, true);
    },
    *thinking(pieces, signature) {
      if (open !== 'thinking') yield* openBlock('thinking', { type: 'thinking', thinking: '', signature: '' });
      for (const thinking of pieces) {
        thought += thinking;
        yield blockDelta({ type: 'thinking_delta', thinking }, true);
      }
      if (signature !== undefined) yield* closeBlock(signature);
    },
    *redacted(data) {
      yield* openBlock(undefined, { type: 'redacted_thinking', data });
      issued.redact(model, data);
      yield say('content_block_stop', { index });
    },
    call,
    *interleave(calls) {
      for (const one of calls) yield* call(one);
    },
    *ping() {
      yield say('ping');
    },
    *error({ type = 'overloaded_error', message }) {
      yield say('error', { error: { type, message }, request_id: newId('req_01') });
    },
    *close(stop, total) {
      yield* closeBlock();
      const reason = stopReasons[stop];
      const details = reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null;
      const delta = { stop_reason: reason, stop_sequence: null, stop_details: details, container: null };
      yield say('message_delta', { delta, usage: usageOf(total) });
      yield say('message_stop');
    },
  };
}
