import type { Message } from '../../protocol/messages.js';
import { messageParts, type MessagePart } from '../message-text.js';
import { describeToolMessage, type ToolView } from '../tools/tool-view.js';

/** A part of a message for readers; a call with what became of it. */
export type ExportedPart = Exclude<MessagePart, { kind: 'tool_call' | 'tool_result' }> | { kind: 'tool'; tool: ToolView };

/** A message that is not a tool result, and what it holds in display order. */
export interface ExportedTurn {
  message: Message;
  heading: string;
  parts: ExportedPart[];
}

const headings = { user: 'You', assistant: 'Agent', tool_result: 'Tool', compaction: 'Summary' } as const;

/** Puts calls and their results together: keeps a message until the next one that is no result. */
export function createTurns(): { add(message: Message): ExportedTurn[]; end(): ExportedTurn[] } {
  let open: { message: Message; results: Message[] } | undefined;

  function flush(): ExportedTurn[] {
    const turn = open && toTurn(open.message, open.results);
    open = undefined;
    return turn ? [turn] : [];
  }

  return {
    add(message) {
      if (message.role === 'tool_result' && open) {
        open.results.push(message);
        return [];
      }
      const before = flush();
      open = { message, results: [] };
      return before;
    },
    end: flush,
  };
}

function toTurn(message: Message, results: readonly Message[]): ExportedTurn {
  const own = message.role === 'tool_result' ? [message] : [];
  const unclaimed = new Set([...own, ...results]);
  const parts = messageParts(message).flatMap((part): ExportedPart[] => {
    if (part.kind === 'tool_result') return [];
    if (part.kind !== 'tool_call') return [part];
    const result = [...unclaimed].find(({ tool_call_id }) => tool_call_id === part.callId);
    if (result) unclaimed.delete(result);
    return [{ kind: 'tool', tool: describeToolMessage(part, result, undefined) }];
  });
  // A result whose call is not there is not lost.
  for (const result of unclaimed) {
    const name = result.tool_name ?? 'tool';
    parts.push({ kind: 'tool', tool: describeToolMessage({ name, headline: messageName(result) }, result, undefined) });
  }
  return { message, heading: headings[message.role], parts };
}

function messageName(result: Message): string {
  const [part] = messageParts(result);
  return part?.kind === 'tool_result' ? part.name : 'tool';
}

/** What became of a call in a few sanitized words; empty when it went well. */
export function toolEnding({ state, reason = '', took = '' }: ToolView): string {
  const word = { ok: '', failed: 'failed', skipped: 'skipped', interrupted: 'no result', waiting: '', asking: '', running: '' }[state];
  return [[word, reason].filter((text) => text !== '').join(': '), took].filter((text) => text !== '').join(', ');
}
