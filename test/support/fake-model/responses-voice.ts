import { newId } from './failures.js';
import type { Stop, Usage } from './reply.js';
import { sse, type Fragments, type Said, type Voice, type VoiceDeps } from './voice.js';

type Item = Record<string, unknown> & { id: string; type: string };

function usageOf({ input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 }: Usage): object {
  const all = input + cacheRead + cacheWrite;
  return {
    input_tokens: all,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: all + output,
  };
}

/** Speaks the event stream of the Responses API. */
export function createResponsesVoice({ body, issued, refuses }: VoiceDeps): Voice {
  const model: string = body.model;
  const stored: boolean = body.store !== false;
  const encrypts: boolean = body.include?.includes('reasoning.encrypted_content') ?? false;
  const response = {
    id: newId('resp_', 48),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    model,
    output: [] as Item[],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    store: stored,
    temperature: body.temperature ?? 1,
    text: body.text ?? { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    usage: null,
    metadata: body.metadata ?? {},
  };
  const output: Item[] = [];
  const textPart = refuses
    ? { event: 'refusal', part: (text: string) => ({ type: 'refusal', refusal: text }), done: (text: string) => ({ refusal: text }) }
    : {
        event: 'output_text',
        part: (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
        done: (text: string) => ({ text, logprobs: [] }),
      };
  let sequence = 0;
  let open: Item | undefined;
  let said = '';
  let given: string | undefined;

  function say(type: string, data: object, delta = false): Said {
    return { sse: sse({ type, sequence_number: sequence++, ...data }, type), delta };
  }
  const at = (): object => ({ item_id: open!.id, output_index: output.length });
  const inPart = (): object => ({ ...at(), content_index: 0 });
  const inSummary = (): object => ({ ...at(), summary_index: 0 });

  function* openItem(item: Item): Iterable<Said> {
    yield* closeItem('completed');
    open = item;
    said = '';
    given = undefined;
    yield say('response.output_item.added', { output_index: output.length, item });
  }
  function* finishItem(item: Item): Iterable<Said> {
    yield say('response.output_item.done', { output_index: output.length, item });
    output.push(item);
    open = undefined;
  }
  function* closeItem(status: 'completed' | 'incomplete'): Iterable<Said> {
    if (!open) return;
    if (open.type === 'message') {
      yield say(`response.${textPart.event}.done`, { ...inPart(), ...textPart.done(said) });
      yield say('response.content_part.done', { ...inPart(), part: textPart.part(said) });
      yield* finishItem({ ...open, status, content: [textPart.part(said)] });
    } else if (open.type === 'function_call') {
      if (status === 'completed') yield say('response.function_call_arguments.done', { ...at(), name: open.name, arguments: said });
      yield* finishItem({ ...open, status, arguments: said });
    } else {
      const part = { type: 'summary_text', text: said };
      if (said !== '') {
        yield say('response.reasoning_summary_text.done', { ...inSummary(), text: said });
        yield say('response.reasoning_summary_part.done', { ...inSummary(), part });
      }
      const content = issued.encrypt(model, { id: open.id, stored }, given);
      const summary = said === '' ? [] : [part];
      yield* finishItem({ ...open, summary, ...(encrypts ? { encrypted_content: content } : {}) });
    }
  }
  function openReasoning(): Iterable<Said> {
    // What an item begins with is not yet what it ends with, and only the latter is good for anything.
    const unfinished = encrypts ? { encrypted_content: newId('gAAAAAB', 80) } : {};
    return openItem({ id: newId('rs_', 48), type: 'reasoning', summary: [], ...unfinished });
  }
  function* call({ id, name, pieces }: Fragments): Iterable<Said> {
    yield* openItem({ id: newId('fc_', 48), type: 'function_call', status: 'in_progress', call_id: id, name, arguments: '' });
    for (const delta of pieces) {
      said += delta;
      yield say('response.function_call_arguments.delta', { ...at(), delta });
    }
  }
  function end(stop: Stop, usage: Usage): Said {
    const whole = { ...response, output, usage: usageOf(usage) };
    if (stop !== 'length' && stop !== 'content_filter') return say('response.completed', { response: { ...whole, status: 'completed' } });
    const details = { reason: stop === 'length' ? 'max_output_tokens' : 'content_filter' };
    return say('response.incomplete', { response: { ...whole, status: 'incomplete', incomplete_details: details } });
  }

  return {
    *open() {
      yield say('response.created', { response });
      yield say('response.in_progress', { response });
    },
    *text(pieces) {
      if (open?.type !== 'message') {
        yield* openItem({ id: newId('msg_', 48), type: 'message', status: 'in_progress', role: 'assistant', content: [] });
        yield say('response.content_part.added', { ...inPart(), part: textPart.part('') });
      }
      for (const delta of pieces) {
        said += delta;
        yield say(`response.${textPart.event}.delta`, { ...inPart(), delta, ...(refuses ? {} : { logprobs: [] }) }, true);
      }
    },
    *thinking(pieces, signature) {
      if (open?.type !== 'reasoning') yield* openReasoning();
      for (const delta of pieces) {
        if (said === '') yield say('response.reasoning_summary_part.added', { ...inSummary(), part: { type: 'summary_text', text: '' } });
        said += delta;
        yield say('response.reasoning_summary_text.delta', { ...inSummary(), delta }, true);
      }
      given = signature;
      if (signature !== undefined) yield* closeItem('completed');
    },
    *redacted(data) {
      yield* openReasoning();
      given = data;
      yield* closeItem('completed');
    },
    call,
    *interleave(calls) {
      for (const one of calls) yield* call(one);
    },
    *ping() {
      yield { sse: ': keep-alive\n\n', delta: false };
    },
    *error({ type = 'server_error', message, form = 'flat' }) {
      if (form === 'flat') yield say('error', { code: type, message, param: null });
      else if (form === 'nested') yield say('error', { error: { type, code: type, message, param: null } });
      else yield say('response.failed', { response: { ...response, output, status: 'failed', error: { code: type, message } } });
    },
    *close(stop, usage) {
      yield* closeItem(stop === 'length' || stop === 'content_filter' ? 'incomplete' : 'completed');
      yield end(stop, usage);
    },
  };
}
