import type { ContentBlock } from '../../protocol/messages.js';
import type { Database } from '../sqlite.js';

export interface PartialPiece {
  messageId: string;
  block: number;
  offset: number;
  kind: 'text' | 'thinking' | 'tool_call';
  text: string;
}

/** Checkpoints of streaming messages, append-only pieces of text. Callers own the transaction. */
export function createPartialRows(db: Database) {
  const append = db.prepare('INSERT OR REPLACE INTO partial (message_id, block, "offset", kind, text) VALUES (?, ?, ?, ?, ?)');
  const pieces = db.prepare<[string], { block: number; kind: PartialPiece['kind']; text: string }>(
    'SELECT block, kind, text FROM partial WHERE message_id = ? ORDER BY block, "offset"',
  );
  const drop = db.prepare('DELETE FROM partial WHERE message_id = ?');
  return {
    read: {
      /** The saved text and thinking of a message, without incomplete tool calls. */
      content(messageId: string): ContentBlock[] {
        const blocks = new Map<number, { kind: PartialPiece['kind']; text: string }>();
        for (const { block, kind, text } of pieces.iterate(messageId)) {
          blocks.set(block, { kind, text: (blocks.get(block)?.text ?? '') + text });
        }
        return [...blocks.values()].flatMap(({ kind, text }): ContentBlock[] => {
          if (kind === 'tool_call' || text === '') return [];
          return kind === 'text' ? [{ type: 'text', text }] : [{ type: 'thinking', thinking: text }];
        });
      },
    },
    write: {
      append({ messageId, block, offset, kind, text }: PartialPiece): void {
        append.run(messageId, block, offset, kind, text);
      },
      drop(messageId: string): void {
        drop.run(messageId);
      },
    },
  };
}
export type PartialRows = ReturnType<typeof createPartialRows>;
