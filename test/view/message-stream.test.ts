import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../src/protocol/messages.js';
import { createMessageStream } from '../../src/view/message-stream.js';

test('every character of a message is handed out once, however its pieces overlap', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), fc.array(fc.tuple(fc.nat(40), fc.nat(40))), (text, cuts) => {
      let said = '';
      const stream = createMessageStream((_id, _kind, piece) => (said += piece));
      for (const [a, b] of cuts) {
        // A piece never begins beyond what was sent before it.
        const from = Math.min(a, said.length);
        stream.update({
          session_id: 's',
          run_id: 'r',
          turn_id: '1',
          message_id: 'm',
          block: 0,
          offset: from,
          delta: text.slice(from, from + b),
        });
      }
      stream.catchUp({ id: 'm', role: 'assistant', blocks: [{ kind: 'text', text: text.slice(0, said.length), toolName: undefined }] });
      expect(stream.finish({ id: 'm', content: [{ type: 'text', text }] } as Message)).toBe(0);
      expect(said).toBe(text);
    }),
  );
});

test('what was said and then lost is counted', () => {
  const stream = createMessageStream(() => undefined);
  stream.update({ session_id: 's', run_id: 'r', turn_id: '1', message_id: 'm', block: 0, offset: 0, delta: 'hello world' });
  expect(stream.isOpen('m')).toBe(true);
  expect(stream.finish({ id: 'm', content: [{ type: 'text', text: 'hello' }] } as Message)).toBe(6);
  expect(stream.isOpen('m')).toBe(false);
});
