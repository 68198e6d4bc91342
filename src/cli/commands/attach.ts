import { viewSession } from '../attach/attached-view.js';
import { canOpenTui, openTuiSession } from '../attach/open-tui.js';
import { toObserver } from '../attach/watched-session.js';
import { readCount, type Subcommand } from '../subcommand.js';

interface Args {
  session?: string;
  plain?: true;
  observe?: true;
  since?: string;
  json?: true;
}

export const attach: Subcommand = {
  usage: 'attach [session]',
  summary: 'Watch a session and talk to it. Ctrl-C leaves; the run goes on.',
  options: {
    '--plain': 'line by line instead of the full screen; what pipes and TERM=dumb get anyway',
    '--observe': 'only look: nothing is sent, answered or changed from here',
    '--since <seq>': 'begin with what came after this place in the log; 0 is everything that is still there',
    '--json': 'print one event a line as JSON, and first what is running and asked',
  },
  notes: [
    'Lines typed or piped in are sent; /help lists what else they can be. Piped in, it stays until what was sent has run; if a question',
    'is open when the input has ended, it says so and leaves with exit code 1, and berth answer answers. A piped line answers a question',
    'that was open when it was read, and none that comes after it: then it is a message like the others.',
    'A line answers the question that was open when its first character was typed. If that one was answered meanwhile, or one came',
    'where there was none, the line is not sent and you are told; the up arrow brings it back.',
  ].join('\n'),
  examples: {
    'berth attach': 'the newest session of this directory',
    'berth attach "fix the build" --observe': 'look over its shoulder',
    'berth attach . --plain --since 0': 'all that is still in the log, and then what comes',
    'berth attach . --json | jq -r .type': 'for programs',
  },
  async run({ session, plain, observe, since, json }: Args, cli) {
    const from = since === undefined ? undefined : readCount('--since', since, 0);
    const connected = await cli.connect(observe ? { role: 'observer' } : { uiCapabilities: ['select', 'confirm', 'input', 'editor'] });
    const sessionId = await cli.resolve(connected, session);
    const isObserver = observe === true;
    const berth = isObserver ? toObserver(connected) : connected;
    if (!plain && !json && from === undefined && canOpenTui()) return openTuiSession(berth, sessionId, { isObserver });
    return viewSession(berth, sessionId, { since: from, json, isObserver });
  },
};
