import type { Scope } from '../core/scope.js';
import { wholeUnits } from '../protocol/content.js';
import { encodeLive } from '../protocol/encode.js';
import type { EventPayload } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { ContentBlock } from '../protocol/messages.js';
import type { PartialPiece } from '../store/partial-rows.js';
import { createGrowingText, type GrowingText } from './growing-text.js';

export type BlockKind = 'text' | 'thinking' | 'tool_call';

interface OpenBlock {
  kind: BlockKind;
  text: GrowingText;
  signature: string | undefined;
  redacted: boolean;
  phase: string | undefined;
  toolCallId: string | undefined;
  toolName: string | undefined;
  savedTo: number;
  /** The last delta line that was made, for everyone who is at the same offset. */
  line: { from: number; end: number; bytes: Buffer } | undefined;
}

export interface MessageAddress {
  sessionId: string;
  runId: string;
  turnId: string;
  messageId: string;
}

/** A message that is being said. Its text is here and nowhere else until it ends; subscribers keep offsets into it. */
export interface OpenMessage extends MessageAddress {
  blocks: OpenBlock[];
  /** Which block of the provider's stands at each place. */
  order: number[];
  /** Text units said so far, over all blocks. */
  units: number;
}

export interface DeltaLine {
  bytes: Buffer;
  end: number;
}

/** What open messages have said so far. One encoding of a delta serves every reader at the same offset. */
export function createLiveMessages({ wake, now }: { wake(sessionId: string): void; now(): number }) {
  const open = new Map<string, OpenMessage>();
  const ended = new Map<string, OpenMessage>();
  const bySession = new Map<string, OpenMessage[]>();
  const none: OpenMessage[] = [];
  let lineCount = 0;

  /** The place of a provider's block among those that have said anything: the same as in the ended message's content. */
  function blockAt(message: OpenMessage, providerBlock: number, kind: BlockKind): OpenBlock {
    let index = message.order.indexOf(providerBlock);
    if (index === -1) index = message.order.push(providerBlock) - 1;
    return (message.blocks[index] ??= {
      kind,
      text: createGrowingText(),
      signature: undefined,
      redacted: false,
      phase: undefined,
      toolCallId: undefined,
      toolName: undefined,
      savedTo: 0,
      line: undefined,
    });
  }

  function deltaPayload(
    message: MessageAddress,
    index: number,
    block: Pick<OpenBlock, 'kind' | 'toolCallId' | 'toolName'>,
    offset: number,
    delta: string,
  ): EventPayload<'message_update'> {
    const at = {
      session_id: message.sessionId,
      run_id: message.runId,
      turn_id: message.turnId,
      message_id: message.messageId,
      block: index,
      offset,
    };
    switch (block.kind) {
      case 'text':
        return { ...at, delta };
      case 'thinking':
        return { ...at, thinking_delta: delta };
      case 'tool_call': {
        const introduced = offset === 0 ? { tool_call_id: block.toolCallId ?? '', tool_name: block.toolName ?? '' } : {};
        return { ...at, tool_call_delta: delta, ...introduced };
      }
    }
  }

  function encode(payload: EventPayload<'message_update'>): Buffer {
    const line = encodeLive({ type: 'message_update', payload }, ++lineCount, new Date(now()).toISOString());
    return Buffer.from(`${line}\n`);
  }

  return {
    begin(address: MessageAddress): OpenMessage {
      const message: OpenMessage = { ...address, blocks: [], order: [], units: 0 };
      open.set(address.messageId, message);
      bySession.set(address.sessionId, [...(bySession.get(address.sessionId) ?? none), message]);
      return message;
    },
    append(message: OpenMessage, providerBlock: number, kind: BlockKind, text: string): void {
      if (text === '') return;
      message.units += blockAt(message, providerBlock, kind).text.append(text);
      wake(message.sessionId);
    },
    introduceCall(message: OpenMessage, providerBlock: number, toolCallId: string, toolName: string): void {
      const block = blockAt(message, providerBlock, 'tool_call');
      block.toolCallId = toolCallId;
      block.toolName = toolName;
    },
    sign(message: OpenMessage, providerBlock: number, signature: string, redacted: boolean): void {
      const block = blockAt(message, providerBlock, 'thinking');
      block.signature = signature;
      block.redacted = redacted;
    },
    setPhase(message: OpenMessage, providerBlock: number, phase: string): void {
      blockAt(message, providerBlock, 'text').phase = phase;
    },
    end(message: OpenMessage): void {
      open.delete(message.messageId);
      ended.set(message.messageId, message);
      const rest = (bySession.get(message.sessionId) ?? none).filter((other) => other !== message);
      if (rest.length > 0) bySession.set(message.sessionId, rest);
      else bySession.delete(message.sessionId);
    },
    openIn: (scope: Scope): readonly OpenMessage[] => (scope.all ? [...open.values()] : (bySession.get(scope.sessionId) ?? none)),
    /** A message that has just ended, until its readers have been served once; who is slower reads the entry. */
    justEnded: (messageId: string): OpenMessage | undefined => ended.get(messageId),
    forgetEnded(sessionId: string): void {
      for (const [messageId, message] of ended) if (message.sessionId === sessionId) ended.delete(messageId);
    },
    find: (messageId: string): OpenMessage | undefined => open.get(messageId),
    /** The next line for a reader that has a block up to `from`; undefined when there is nothing new. */
    deltaFrom(message: OpenMessage, index: number, from: number): DeltaLine | undefined {
      const block = message.blocks[index];
      if (!block) return undefined;
      const length = block.text.length();
      if (from >= length) return undefined;
      const cached = block.line;
      if (cached?.from === from && (cached.end === length || cached.end - from >= limits.deltaUnitsMax - 1)) return cached;
      const delta = block.text.slice(from, limits.deltaUnitsMax);
      block.line = { from, end: from + delta.length, bytes: encode(deltaPayload(message, index, block, from, delta)) };
      return block.line;
    },
    /** The next line of a message that has ended, for a reader that was in the middle of it. */
    deltaOfEnded(address: MessageAddress, index: number, block: ContentBlock, from: number): DeltaLine | undefined {
      const { kind, text, toolCallId, toolName } = spokenText(block);
      // How a call's arguments were spelled is known only while they are being said: they come whole or not at all.
      if (from >= text.length || (kind === 'tool_call' && from > 0)) return undefined;
      const delta = text.slice(from, wholeUnits(text, from + limits.deltaUnitsMax));
      return { bytes: encode(deltaPayload(address, index, { kind, toolCallId, toolName }, from, delta)), end: from + delta.length };
    },
    /** What was said so far but for tool calls, which count only once they are whole. */
    content: (message: OpenMessage): ContentBlock[] => message.blocks.flatMap(toContent),
    contentOf(message: OpenMessage, index: number): ContentBlock[] {
      const block = message.blocks[index];
      return block ? toContent(block) : [];
    },
    /** The raw argument text of a tool call block. */
    argumentsOf: (message: OpenMessage, index: number): string => message.blocks[index]?.text.all() ?? '',
    hasOpen: (): boolean => open.size > 0,
    /** What has been said since the last checkpoint. `saved` must be called once it is committed. */
    unsaved(): { pieces: PartialPiece[]; saved(): void } {
      const pieces: PartialPiece[] = [];
      const marks: (() => void)[] = [];
      for (const message of open.values()) {
        for (const [index, block] of message.blocks.entries()) {
          const end = block.text.length();
          if (end <= block.savedTo) continue;
          const text = block.text.slice(block.savedTo, end - block.savedTo);
          pieces.push({ messageId: message.messageId, block: index, offset: block.savedTo, kind: block.kind, text });
          const savedTo = block.savedTo + text.length;
          marks.push(() => (block.savedTo = savedTo));
        }
      }
      return { pieces, saved: () => marks.forEach((mark) => mark()) };
    },
  };
}
export type LiveMessages = ReturnType<typeof createLiveMessages>;

function toContent(block: OpenBlock): ContentBlock[] {
  const text = block.text.all();
  if (block.kind === 'tool_call' || (text === '' && block.signature === undefined)) return [];
  if (block.kind === 'text') return [{ type: 'text', text, ...(block.phase === undefined ? {} : { phase: block.phase }) }];
  const signed = block.signature === undefined ? {} : { thinking_signature: block.signature };
  return [{ type: 'thinking', thinking: text, ...signed, ...(block.redacted ? { redacted: true } : {}) }];
}

function spokenText(block: ContentBlock): { kind: BlockKind; text: string; toolCallId: string | undefined; toolName: string | undefined } {
  const none = { toolCallId: undefined, toolName: undefined };
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: block.text, ...none };
    case 'thinking':
      return { kind: 'thinking', text: block.thinking, ...none };
    case 'tool_call':
      return { kind: 'tool_call', text: JSON.stringify(block.arguments), toolCallId: block.id, toolName: block.name };
    case 'image':
      return { kind: 'text', text: '', ...none };
  }
}
