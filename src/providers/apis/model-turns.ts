import { supportedImage, type KnownModel } from '../settings.js';
import { textOf } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { ContentBlock } from '../../protocol/messages.js';
import type { ModelMessage, ModelRequest, Phase } from '../port.js';

export type Part = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string };
export type AssistantBlock =
  | { type: 'text'; text: string; phase?: Phase }
  | { type: 'thinking'; text: string; signature: string; redacted: boolean }
  | { type: 'call'; id: string; name: string; args: Record<string, unknown> };

export interface ToolAnswer {
  id: string;
  parts: Part[];
  isError: boolean;
}

/** The history in a shape for all three APIs: roles alternate, and tool results come before other user content. */
export type WireTurn = { role: 'assistant'; blocks: AssistantBlock[] } | { role: 'user'; answers: ToolAnswer[]; parts: Part[] };

/** Tool call ids that every API accepts: Chat Completions has the shortest limit. */
const idPattern = /^[a-zA-Z0-9_-]{1,40}$/;
/** Length of generated ids: every API accepts nine letters and digits, and Mistral accepts nothing else. */
const tuning = { madeIdChars: 9 } as const;

/** The signature to send back with a thinking block; undefined when the provider would refuse the block. */
export type ReadSignature = (signature: string) => string | undefined;

/**
 * Converts a history with answers of any models into turns: thinking is kept only if it is the requested model's own, signed and followed by
 * content; ids are made unique and alphanumeric, names are truncated, empty texts are dropped. Deterministic, so that prompt caches stay
 * valid.
 */
export function toTurns(
  { messages, model }: ModelRequest,
  { images }: Pick<KnownModel, 'images'>,
  readSignature: ReadSignature,
  keepsIds = true,
): WireTurn[] {
  const turns: WireTurn[] = [];
  const ids = createIds(keepsIds);

  function userTurn(): WireTurn & { role: 'user' } {
    const last = turns.at(-1);
    if (last?.role === 'user') return last;
    const turn: WireTurn & { role: 'user' } = { role: 'user', answers: [], parts: [] };
    turns.push(turn);
    return turn;
  }

  for (const message of messages) {
    if (message.role === 'assistant') {
      const read = message.model === model ? readSignature : () => undefined;
      const blocks = withoutLastThoughts(message.content.flatMap((block) => toAssistantBlocks(block, read, ids.give)));
      if (blocks.length > 0) turns.push({ role: 'assistant', blocks });
    } else if (message.role === 'tool_result') {
      userTurn().answers.push(toAnswer(message, ids.find(message.toolCallId ?? ''), images));
    } else {
      const parts = toParts(message.content, images);
      userTurn().parts.push(...(parts.length > 0 ? parts : [emptyMessage]));
    }
  }
  return turns;
}

/** Stands for a user message without content, which APIs refuse; leaving it out would put two answers in a row. */
const emptyMessage: Part = { type: 'text', text: '(an empty message)' };

/** Drops trailing thinking blocks of a truncated answer, which APIs refuse. */
function withoutLastThoughts(blocks: AssistantBlock[]): AssistantBlock[] {
  return blocks.slice(0, blocks.findLastIndex(({ type }) => type !== 'thinking') + 1);
}

function toAssistantBlocks(block: ContentBlock, readSignature: ReadSignature, giveId: (id: string) => string): AssistantBlock[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text, ...(isPhase(block.phase) ? { phase: block.phase } : {}) }];
    case 'thinking': {
      const signature = readSignature(block.thinking_signature ?? '') ?? '';
      if (signature === '') return [];
      return [{ type: 'thinking', text: block.thinking, signature, redacted: block.redacted === true }];
    }
    case 'tool_call':
      return [{ type: 'call', id: giveId(block.id), name: toToolName(block.name), args: block.arguments }];
    case 'image':
      return [];
  }
}

function isPhase(value: unknown): value is Phase {
  return value === 'commentary' || value === 'final_answer';
}

function toAnswer({ content, isError }: ModelMessage, id: string, images: boolean): ToolAnswer {
  const parts = toParts(content, images);
  return { id, parts: parts.length > 0 ? parts : [{ type: 'text', text: '(no output)' }], isError: isError ?? false };
}

function toParts(content: readonly ContentBlock[], images: boolean): Part[] {
  const parts: Part[] = [];
  for (const block of content) {
    const last = parts.at(-1);
    // Adjacent text blocks are joined.
    if (block.type === 'text' && last?.type === 'text') parts[parts.length - 1] = { type: 'text', text: last.text + block.text };
    else if (block.type === 'text') parts.push({ type: 'text', text: block.text });
    else if (block.type === 'image') parts.push(toImage(block, images));
  }
  return parts.filter((part) => part.type === 'image' || part.text.trim() !== '');
}

function toImage({ data, mime_type }: ContentBlock & { type: 'image' }, images: boolean): Part {
  const mimeType = supportedImage(mime_type);
  if (images && mimeType !== undefined && data !== '') return { type: 'image', data, mimeType };
  return { type: 'text', text: `[an image of type ${mime_type} was here; it cannot be shown to this model]` };
}

function toToolName(name: string): string {
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, limits.apiToolNameCharsMax);
  return plain === '' ? 'unnamed' : plain;
}

/** Maps tool call ids to ids that are unique in the request. A result gets the id of the newest call with its original id. */
function createIds(keepsIds: boolean): { give(id: string): string; find(id: string): string } {
  const wireIds = new Map<string, string>();
  const taken = new Set<string>();
  let count = 0;

  function unused(): string {
    for (;;) {
      const id = `b${String(++count).padStart(tuning.madeIdChars - 1, '0')}`;
      if (!taken.has(id)) return id;
    }
  }

  return {
    give(id) {
      const wire = keepsIds && idPattern.test(id) && !taken.has(id) ? id : unused();
      taken.add(wire);
      wireIds.set(id, wire);
      return wire;
    },
    find: (id) => wireIds.get(id) ?? id,
  };
}

/** The text of parts, where an API takes text only. */
export function textOfParts(parts: readonly Part[]): string {
  return textOf(parts.filter((part) => part.type === 'text'));
}
