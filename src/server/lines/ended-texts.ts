import type { ServedEngine } from '../../engine/engine.js';
import type { MessageAddress } from '../../engine/live/live-messages.js';
import type { ContentBlock } from '../../protocol/messages.js';
import type { DeltaLine, LiveLines } from './live-lines.js';
import type { LogLine } from './log-line.js';

export interface EndedText {
  blocks: number;
  lineFrom(block: number, from: number): DeltaLine | undefined;
}

/** Cache of the text of a message that has just ended, for subscribers in the middle of it: read and encoded once. */
export function createEndedTexts(engine: Pick<ServedEngine, 'store' | 'live'>, liveLines: LiveLines) {
  let newest: { messageId: string; text: EndedText } | undefined;

  function read(line: LogLine, messageId: string): EndedText {
    const address: MessageAddress = { sessionId: line.sessionId, runId: line.runId ?? '', turnId: line.turnId ?? '', messageId };
    const content: ContentBlock[] = engine.store.entries.contentOf(messageId) ?? [];
    let cached: { block: number; from: number; line: DeltaLine | undefined } | undefined;
    return {
      blocks: content.length,
      lineFrom(block, from) {
        if (cached?.block === block && cached.from === from) return cached.line;
        const wanted = content[block];
        const next = wanted && liveLines.ofEnded(address, block, wanted, from);
        cached = { block, from, line: next };
        return next;
      },
    };
  }

  return {
    open(line: LogLine): EndedText {
      const messageId = line.messageId ?? '';
      const message = engine.live.justEnded(messageId);
      if (message) return { blocks: message.blocks.length, lineFrom: (block, from) => liveLines.ofMessage(message, block, from) };
      if (newest?.messageId !== messageId) newest = { messageId, text: read(line, messageId) };
      return newest.text;
    },
    /** Drops the cache. To be called when subscribers were pumped. */
    forget(): void {
      newest = undefined;
    },
  };
}
