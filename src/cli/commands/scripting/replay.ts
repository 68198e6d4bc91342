import { setTimeout as delay } from 'node:timers/promises';
import type { WireEvent } from '../../../protocol/events.js';
import { applyEvent, emptyView } from '../../../view/session-view.js';
import { createLineView, type LineView } from '../../attach/line-view.js';
import { sessionHeading } from '../../attach/session-heading.js';
import { watchSession } from '../../attach/watched-session.js';
import { exit } from '../../exit.js';
import { isReached, readPosition, type LogPosition } from '../../replay/log-position.js';
import { createPauses } from '../../replay/pauses.js';
import { readLog } from '../../replay/read-log.js';
import { readNumber, type Cli, type Subcommand } from '../../subcommand.js';
import { createLineWriter } from '../../terminal/line-writer.js';
import { isColoured, outputColumns, writeOut } from '../../terminal/standard-streams.js';
import { createStyle } from '../../terminal/style.js';

interface Args {
  session: string;
  since?: string;
  speed?: string;
  json?: true;
}

export const replay: Subcommand = {
  usage: 'replay <session>',
  summary: 'Play the log of a session again, as an attached view showed it.',
  options: {
    '--since <place>': 'begin there: a seq of the log, a time, an age, or last, the newest run (default: all that is there)',
    '--speed <n>': 'so many times as fast, with all pauses; 0 is without any (default: as it was, with pauses of at most 1 s)',
    '--json': 'print the events as JSON lines',
  },
  notes: [
    'A time is 14:00 of today or 2026-11-18T14:00, an age 90s, 10m, 2h or 1d. What is in the log was said as a whole: an answer appears when',
    'it had ended.',
  ].join('\n'),
  examples: {
    'berth replay . --since last': 'the newest run once more',
    'berth replay "fix the build" --since 2h --speed 20': 'two hours in six minutes',
    'berth replay . --speed 0 > session.txt': 'all of it, at once',
    'asciinema rec -c "berth replay . --since last" run.cast': 'a recording',
  },
  async run({ session, since, speed, json }: Args, cli) {
    const position = since === undefined ? undefined : readPosition(since, Date.now());
    const toPause = createPauses(speed === undefined ? undefined : readNumber('--speed', speed));
    const berth = await cli.connect();
    const sessionId = await cli.resolve(berth, session);
    const attached = await watchSession(berth, sessionId);
    attached.close();
    const { seq, state } = attached.view();
    const player = json ? createJsonPlayer(cli) : createTextPlayer(sessionId);
    const newestRun = state.run?.id ?? state.lastRun?.id;
    if (!json) player.heading(sessionHeading(state));
    // What came before is read, too: it says what the session was like.
    const events = readLog(berth, {
      sessionId,
      after: position?.kind === 'seq' ? position.seq : 0,
      upTo: seq,
      onPruned: () => (position === undefined ? player.note('[what came before this is not in the log any more]') : undefined),
    });
    await play(events, player, position, newestRun, toPause);
    player.end();
    return exit.ok;
  },
};

interface Player {
  heading(text: string): void;
  note(text: string): void;
  /** Takes an event in, and shows it. */
  take(event: WireEvent, isShown: boolean): void;
  end(): void;
}

async function play(
  events: AsyncIterable<WireEvent>,
  player: Player,
  position: LogPosition | undefined,
  newestRun: string | undefined,
  toPause: (event: WireEvent) => number,
): Promise<void> {
  let hasBegun = position === undefined;
  for await (const event of events) {
    hasBegun ||= position !== undefined && isReached(position, event, newestRun);
    const pauseMs = hasBegun ? toPause(event) : 0;
    if (pauseMs > 0) await delay(pauseMs);
    player.take(event, hasBegun);
  }
}

function createJsonPlayer(cli: Cli): Player {
  return {
    heading: () => undefined,
    note: cli.notice,
    take: (event, isShown) => (isShown ? cli.printJson(event) : undefined),
    end: () => undefined,
  };
}

function createTextPlayer(sessionId: string): Player {
  const page = createLineWriter(writeOut, () => outputColumns());
  const style = createStyle(isColoured());
  const lines: LineView = createLineView(page, style, () => false);
  let view = emptyView(sessionId);
  return {
    heading: (text) => page.line(style.bold(text)),
    note: lines.note,
    take(event, isShown) {
      view = applyEvent(view, event);
      if (isShown) lines.hear({ kind: 'event', event }, view);
    },
    end: page.endLine,
  };
}
