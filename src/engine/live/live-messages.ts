import type { Scope } from '../../core/scope.js';
import type { ContentBlock } from '../../protocol/messages.js';
import type { PartialPiece } from '../../store/rows/partial-rows.js';
import { createGrowingText, type GrowingText } from './growing-text.js';

export type BlockKind = 'text' | 'thinking' | 'tool_call';

export interface OpenBlock {
  kind: BlockKind;
  text: GrowingText;
  signature: string | undefined;
  redacted: boolean;
  phase: string | undefined;
  toolCallId: string | undefined;
  toolName: string | undefined;
  savedTo: number;
}

export interface MessageAddress {
  sessionId: string;
  runId: string;
  turnId: string;
  messageId: string;
}

/** A streaming message. Until the message ends, its text is here and nowhere else; subscribers keep offsets into it. */
export interface OpenMessage extends MessageAddress {
  blocks: OpenBlock[];
  /** The provider's block number at each index of `blocks`. */
  order: number[];
  /** UTF-16 units received so far, over all blocks. */
  units: number;
}

/** The text of streaming messages so far. */
export function createLiveMessages({ wake }: { wake(sessionId: string): void }) {
  const open = new Map<string, OpenMessage>();
  const ended = new Map<string, OpenMessage>();
  const bySession = new Map<string, OpenMessage[]>();
  const none: OpenMessage[] = [];

  /** The block of a provider's block number. Empty blocks have no index, as in the content of the ended message. */
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
    });
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
    /** A message that has just ended, until subscribers were flushed once; a slower subscriber reads the entry. */
    justEnded: (messageId: string): OpenMessage | undefined => ended.get(messageId),
    forgetEnded(sessionId: string): void {
      for (const [messageId, message] of ended) if (message.sessionId === sessionId) ended.delete(messageId);
    },
    find: (messageId: string): OpenMessage | undefined => open.get(messageId),
    /** The content so far without tool calls, which are valid only once they are complete. */
    content: (message: OpenMessage): ContentBlock[] => message.blocks.flatMap(toContent),
    contentOf(message: OpenMessage, index: number): ContentBlock[] {
      const block = message.blocks[index];
      return block ? toContent(block) : [];
    },
    /** The raw argument text of a tool call block. */
    argumentsOf: (message: OpenMessage, index: number): string => message.blocks[index]?.text.all() ?? '',
    hasOpen: (): boolean => open.size > 0,
    /** The text since the last checkpoint. `saved` must be called once that text is committed. */
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
