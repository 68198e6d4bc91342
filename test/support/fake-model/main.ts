import { createFakeModel } from './server.js';
import type { Reply } from './reply.js';

const letters = 'abcdefghijklmnopqrstuvwxyz'.repeat(8);

/** `fake-<deltas>x<characters>[-d<milliseconds>]` says how a model answers. */
function answerOf(model: string): Reply {
  const [, deltas, characters, everyMs] = /^fake-(\d+)x(\d+)(?:-d(\d+))?$/.exec(model) ?? [];
  if (deltas === undefined) return [{ text: 'ok' }];
  const words = Array.from({ length: Number(deltas) }, (_, i) =>
    `${i} ${letters}`.padEnd(Number(characters), '.').slice(0, Number(characters)),
  );
  return [{ text: words.join(''), pieces: words.length, ...(everyMs === undefined ? {} : { everyMs: Number(everyMs) }) }];
}

let newest: unknown;
let stamps: number[] = [];
const model = await createFakeModel({
  pages: { '/__stamps': () => ({ stamps }) },
  onDeltas(count, asked) {
    // An answer that is not the newest one has nobody who measures it.
    if (asked !== newest) return;
    const now = Number(process.hrtime.bigint());
    for (let i = 0; i < count; i++) stamps.push(now);
  },
});
model.answerWith((asked) => {
  newest = asked;
  stamps = [];
  model.forget();
  return answerOf(String(asked.body.model));
});
process.once('SIGTERM', () => void model[Symbol.asyncDispose]());
process.stdout.write(`${JSON.stringify({ port: Number(new URL(model.url).port), pid: process.pid })}\n`);
