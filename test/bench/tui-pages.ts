import { setTimeout as delay } from 'node:timers/promises';
import { pathsIn } from '../support/daemon.js';
import type { Measurement } from './figures.js';
import { newPlace, startBenchDaemon } from './processes.js';
import { forgetPeakRss, peakRssMb, settledRssMb } from './process-stats.js';
import { messageText, seedHistory } from './seeded-history.js';
import { openBenchTerminal } from './tui-terminal.js';

const toStart = '\x1b<';
/** Messages of a page that is loaded while somebody scrolls. */
const pageMessages = 100;
/** As a held key repeats. */
const pressEveryMs = 30;
/** Left alone, V8 lets garbage stand rather than collect it: with little room what is really held is seen. */
const littleHeap = { NODE_OPTIONS: '--max-old-space-size=32' };

/** From the last message of a long session to its first, a page at a time. */
export const tuiPages: Measurement = {
  name: 'tui pages',
  async measure({ quick }) {
    const messages = quick ? 20_000 : 100_000;
    const root = newPlace();
    const session = seedHistory(pathsIn(root).stateDir, messages);
    await using daemon = await startBenchDaemon({ root });
    await using terminal = openBenchTerminal(daemon, ['attach', session], littleHeap);
    await terminal.next(messageText(messages - 1).slice(0, 20));
    const attachedMb = await settledRssMb(terminal.pid);
    forgetPeakRss(terminal.pid);
    const first = terminal.next('Message 0.');
    let isThere = false;
    void first.then(() => (isThere = true));
    const from = performance.now();
    let presses = 0;
    for (; !isThere && presses < (4 * messages) / pageMessages; presses++) {
      terminal.send(toStart);
      // A page that came above what is looked at may change nothing on the screen.
      await Promise.race([terminal.nextFrame(), delay(pressEveryMs)]);
    }
    await first;
    const tookMs = performance.now() - from;
    const count = messages.toLocaleString('en-US');
    return [
      {
        name: `terminal: RSS added by scrolling ${count} messages to the first`,
        unit: 'MB',
        value: peakRssMb(terminal.pid) - attachedMb,
        floor: null,
        must: 64,
        should: 32,
      },
      {
        name: `terminal: a page of 100 while scrolling ${count} messages`,
        unit: 'ms',
        value: (tookMs * pageMessages) / messages,
        floor: null,
        must: null,
        should: 50,
      },
    ];
  },
};
