import { supportedImage, type KnownModel } from '../settings.js';
import { textOf } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { ContentBlock } from '../../protocol/messages.js';
import type { ModelMessage, ModelRequest, Phase } from '../port.js';

export type Part = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string };
export type SaidBlock =
  | { type: 'text'; text: string; phase?: Phase }
  | { type: 'thinking'; text: string; signature: string; redacted: boolean }
  | { type: 'call'; id: string; name: string; args: Record<string, unknown> };

export interface ToolAnswer {
  id: string;
  parts: Part[];
  isError: boolean;
}

/** The history in the shape that all three APIs can be told: sides take turns, and what answers calls comes before other words. */
export type WireTurn = { role: 'assistant'; blocks: SaidBlock[] } | { role: 'user'; answers: ToolAnswer[]; parts: Part[] };

/** Of all the APIs that there are, Chat Completions has the shortest. */
const idPattern = /^[a-zA-Z0-9_-]{1,40}$/;
/** No API refuses nine letters and digits, and one takes nothing else. */
const tuning = { madeIdChars: 9 } as const;

/** What goes back of a thought's signature; undefined when the thought is of no use to the provider. */
export type ReadSignature = (signature: string) => string | undefined;

/**
 * Makes turns of a history that any models may have said: thinking is kept only where the model that is asked thought it, signed it
 * and went on to say something, ids are made unique and of plain letters, names are cut to what an API accepts, empty texts are left
 * out. The same history always gives the same turns, so that what a provider keeps of a prompt stays good.
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
      const blocks = withoutLastThoughts(message.content.flatMap((block) => toSaid(block, read, ids.give)));
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

/** Nothing may be said by leaving nothing: the provider would find two answers in a row, or none to give. */
const emptyMessage: Part = { type: 'text', text: '(an empty message)' };

/** Thoughts that led to nothing, because the answer was cut, are refused. */
function withoutLastThoughts(blocks: SaidBlock[]): SaidBlock[] {
  return blocks.slice(0, blocks.findLastIndex(({ type }) => type !== 'thinking') + 1);
}

function toSaid(block: ContentBlock, readSignature: ReadSignature, giveId: (id: string) => string): SaidBlock[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text, ...(isPhase(block.phase) ? { phase: block.phase } : {}) }];
    case 'thinking': {
      const signature = readSignature(block.thinking_signature ?? '') ?? '';
      if (signature === '') return [];
      return [{ type: 'thinking', text: block.thinking, signature, redacted: block.redacted === true }];
    }
    case 'tool_call':
      return [{ type: 'call', id: giveId(block.id), name: plainName(block.name), args: block.arguments }];
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
    // The texts of a message are one text.
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

function plainName(name: string): string {
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, limits.apiToolNameCharsMax);
  return plain === '' ? 'unnamed' : plain;
}

/** Ids of calls, each unique in the request. A result finds the id that its call, the newest of that name, was given. */
function createIds(keeps: boolean): { give(id: string): string; find(id: string): string } {
  const given = new Map<string, string>();
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
      const wire = keeps && idPattern.test(id) && !taken.has(id) ? id : unused();
      taken.add(wire);
      given.set(id, wire);
      return wire;
    },
    find: (id) => given.get(id) ?? id,
  };
}

/** The words of parts, for APIs that take nothing else at a place. */
export function textOfParts(parts: readonly Part[]): string {
  return textOf(parts.filter((part) => part.type === 'text'));
}
