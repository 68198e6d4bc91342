import type { MessageAddress, OpenBlock, OpenMessage } from '../../engine/live/live-messages.js';
import type { Signal } from '../../engine/live/live-signals.js';
import type { OpenTool } from '../../engine/live/live-tools.js';
import { wholeUnits } from '../../protocol/content.js';
import { encodeLive } from '../../protocol/encode.js';
import type { EventPayload, LiveEvent } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import type { ContentBlock } from '../../protocol/messages.js';

export interface DeltaLine {
  bytes: Buffer;
  /** The offset after this delta. */
  end: number;
}

interface CachedLine extends DeltaLine {
  from: number;
}

/** Encodes deltas of streaming text. The last line of each block is cached for all subscribers at the same offset. */
export function createLiveLines(now: () => number) {
  const ofBlocks = new WeakMap<OpenBlock, CachedLine>();
  const ofTools = new WeakMap<OpenTool, CachedLine>();
  const ofSignals = new WeakMap<Signal, Buffer>();
  let lineCount = 0;

  function encode(event: LiveEvent, atMs: number): Buffer {
    return Buffer.from(`${encodeLive(event, ++lineCount, new Date(atMs).toISOString())}\n`);
  }

  function encodeUpdate(address: MessageAddress, index: number, block: DeltaBlock, offset: number, delta: string): Buffer {
    return encode({ type: 'message_update', payload: toUpdate(address, index, block, offset, delta) }, now());
  }

  return {
    /** The next delta of a block from offset `from` on; undefined when there is none. */
    ofMessage(message: OpenMessage, index: number, from: number): DeltaLine | undefined {
      const block = message.blocks[index];
      if (!block) return undefined;
      const length = block.text.length();
      if (from >= length) return undefined;
      const cached = ofBlocks.get(block);
      if (cached?.from === from && (cached.end === length || cached.end - from >= limits.deltaUnitsMax - 1)) return cached;
      const delta = block.text.slice(from, limits.deltaUnitsMax);
      const line = { from, end: from + delta.length, bytes: encodeUpdate(message, index, block, from, delta) };
      ofBlocks.set(block, line);
      return line;
    },
    /** The next delta of a message that has ended, for a subscriber in the middle of it. */
    ofEnded(address: MessageAddress, index: number, block: ContentBlock, from: number): DeltaLine | undefined {
      const deltaBlock = toDeltaBlock(block);
      // The raw JSON of a call's arguments is gone after streaming, and offsets with it: all of the arguments are sent, or nothing.
      if (from >= deltaBlock.text.length || (deltaBlock.kind === 'tool_call' && from > 0)) return undefined;
      const delta = deltaBlock.text.slice(from, wholeUnits(deltaBlock.text, from + limits.deltaUnitsMax));
      return { bytes: encodeUpdate(address, index, deltaBlock, from, delta), end: from + delta.length };
    },
    /** The next delta of a tool's output from offset `from` on. */
    ofTool(tool: OpenTool, from: number): DeltaLine | undefined {
      const end = tool.offset + tool.tail.length;
      if (from >= end) return undefined;
      const cached = ofTools.get(tool);
      if (cached?.from === from && cached.end === end) return cached;
      const start = Math.max(from, tool.offset);
      const payload = {
        session_id: tool.sessionId,
        run_id: tool.runId,
        turn_id: tool.turnId,
        tool_call_id: tool.toolCallId,
        tool_name: tool.toolName,
        offset: start,
        delta: tool.tail.slice(start - tool.offset),
        ...(start > from ? { skipped: start - from } : {}),
      };
      const line = { from, end, bytes: encode({ type: 'tool_execution_update', payload }, now()) };
      ofTools.set(tool, line);
      return line;
    },
    ofSignal(signal: Signal): Buffer {
      const cached = ofSignals.get(signal) ?? encode(signal.event, signal.atMs);
      ofSignals.set(signal, cached);
      return cached;
    },
  };
}
export type LiveLines = ReturnType<typeof createLiveLines>;

type DeltaBlock = Pick<OpenBlock, 'kind' | 'toolCallId' | 'toolName'>;

function toUpdate(
  address: MessageAddress,
  index: number,
  block: DeltaBlock,
  offset: number,
  delta: string,
): EventPayload<'message_update'> {
  const at = {
    session_id: address.sessionId,
    run_id: address.runId,
    turn_id: address.turnId,
    message_id: address.messageId,
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

function toDeltaBlock(block: ContentBlock): DeltaBlock & { text: string } {
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
