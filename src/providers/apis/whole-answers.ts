type Json = Record<string, unknown>;

/** Converts the JSON answer of a server that does not stream into server-sent events; undefined for another document. */
export function toAnswerEvents(document: unknown): string | undefined {
  if (!isRecord(document)) return undefined;
  const events = fromChat(document) ?? fromResponse(document) ?? fromMessage(document);
  return events
    ?.map((event) => `${typeof event.type === 'string' ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('');
}

/** One chunk with the whole message, which the reader of Chat Completions accepts. */
function fromChat(document: Json): Json[] | undefined {
  const [choice] = Array.isArray(document.choices) ? (document.choices as unknown[]) : [];
  if (!isRecord(choice) || !isRecord(choice.message)) return undefined;
  const finish = choice.finish_reason ?? (Array.isArray(choice.message.tool_calls) ? 'tool_calls' : 'stop');
  return [{ ...document, object: 'chat.completion.chunk', choices: [{ ...choice, finish_reason: finish }] }];
}

function fromResponse(document: Json): Json[] | undefined {
  if (!Array.isArray(document.output) && document.object !== 'response') return undefined;
  const output = Array.isArray(document.output) ? (document.output as unknown[]) : [];
  return [
    ...output.filter(isRecord).map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: document },
  ];
}

function fromMessage(document: Json): Json[] | undefined {
  if (document.type !== 'message' || !Array.isArray(document.content)) return undefined;
  const { content, stop_reason, stop_sequence, usage } = document;
  return [
    { type: 'message_start', message: { ...document, content: [] } },
    ...(content as unknown[])
      .filter(isRecord)
      .flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block },
        ...(block.type === 'thinking' && typeof block.signature === 'string'
          ? [{ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature: block.signature } }]
          : []),
        { type: 'content_block_stop', index },
      ]),
    { type: 'message_delta', delta: { stop_reason: stop_reason ?? 'end_turn', stop_sequence: stop_sequence ?? null }, usage: usage ?? {} },
    { type: 'message_stop' },
  ];
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
