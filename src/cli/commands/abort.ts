import { setTimeout as delay } from 'node:timers/promises';
import type { EventStream } from '../../client/event-client.js';
import { limits } from '../../protocol/limits.js';
import { printable } from '../../view/printable.js';
import { exit } from '../exit.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  session?: string;
  keepQueue?: boolean;
  reason?: string;
  json?: true;
}

interface Stopped {
  run_id: string;
  session_id: string;
  /** False when the run did not stop within the timeout. */
  ended: boolean;
  dropped: string[];
}

export const abort: Subcommand = {
  usage: 'abort [session]',
  summary: 'Stop the run and bring its queued texts back.',
  options: {
    '--keep-queue': 'leave queued messages waiting',
    '--reason <text>': 'why, for whoever watches',
    '--json': 'print what happened as JSON',
  },
  examples: {
    'berth abort': 'stop the run of the newest session here',
    'berth abort . --keep-queue --reason lunch': 'what waits stays, and whoever watches is told why',
  },
  async run({ session, keepQueue = false, reason, json }: Args, cli) {
    const berth = await cli.connect({ autostart: false });
    const session_id = await cli.resolve(berth, session);
    const stream = await berth.subscribe({ sessionId: session_id, live: false });
    const why = reason === undefined ? {} : { reason };
    const { run_id } = orRefused(await berth.call('abort', { session_id, keep_queue: keepQueue, ...why }));
    const stopped: Stopped = { run_id, session_id, ended: false, dropped: [] };
    await Promise.race([untilEnded(stream, stopped), delay(limits.stopMs, undefined, { ref: false })]);
    stream.close();
    if (json) cli.printJson(stopped);
    else {
      cli.print(stopped.ended ? `stopped ${run_id}` : `${run_id} is being stopped`);
      if (stopped.dropped.length > 0) cli.print('These were waiting and are dropped:');
      for (const text of stopped.dropped) cli.print(`  ${printable(text).replaceAll('\n', '\n  ')}`);
    }
    return exit.ok;
  },
};

async function untilEnded(stream: EventStream, stopped: Stopped): Promise<void> {
  for await (const event of stream) {
    if (event.type === 'queue_update') stopped.dropped.push(...(event.payload.dropped?.map(({ text }) => text) ?? []));
    if (event.type !== 'agent_end' || event.payload.run_id !== stopped.run_id) continue;
    stopped.ended = true;
    return;
  }
}
