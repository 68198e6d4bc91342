import type { ServedEngine } from '../../engine/engine.js';
import type { MessageAddress } from '../../engine/live/live-messages.js';
import type { ContentBlock } from '../../protocol/messages.js';
import type { DeltaLine, LiveLines } from './live-lines.js';
import type { LogLine } from './log-line.js';

export interface EndedText {
  blocks: number;
  lineFrom(block: number, from: number): DeltaLine | undefined;
}

/** The texts of messages that have just ended, for readers in the middle of them: read and encoded once for all of them. */
export function createEndedTexts(engine: Pick<ServedEngine, 'store' | 'live'>, liveLines: LiveLines) {
  let newest: { messageId: string; text: EndedText } | undefined;

  function read(line: LogLine, messageId: string): EndedText {
    const address: MessageAddress = { sessionId: line.sessionId, runId: line.runId ?? '', turnId: line.turnId ?? '', messageId };
    const content: ContentBlock[] = engine.store.entries.contentOf(messageId) ?? [];
    let made: { block: number; from: number; line: DeltaLine | undefined } | undefined;
    return {
      blocks: content.length,
      lineFrom(block, from) {
        if (made?.block === block && made.from === from) return made.line;
        const wanted = content[block];
        const next = wanted && liveLines.ofEnded(address, block, wanted, from);
        made = { block, from, line: next };
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
    /** Called when readers have been served: a long text is not kept for nobody. */
    forget(): void {
      newest = undefined;
    },
  };
}
