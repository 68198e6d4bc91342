import type { Berth } from '../../client/connect.js';
import type { CommandInput } from '../../protocol/commands/commands.js';
import type { QueuedInput } from '../../protocol/events.js';
import { printableLine } from '../../view/printable.js';
import { inputKindText } from '../../view/queue-text.js';
import { matchIds, shortId, shortIds } from '../../view/short-ids.js';
import { describePause } from '../advice.js';
import { alignColumns, clipColumns } from '../terminal/columns.js';
import { exit, Refused, WrongUsage } from '../exit.js';
import { orRefused } from '../refusals.js';
import { readStdin } from '../terminal/stdin.js';
import { readCount, type Subcommand, type Cli } from '../subcommand.js';

interface Args {
  session?: string;
  action?: string;
  words?: string[];
  json?: true;
}

interface Target {
  berth: Berth;
  cli: Cli;
  sessionId: string;
  words: string[];
  print(done: object, line: string): void;
}

const layout = { textColumnsMax: 100 } as const;

const actions: Record<string, (target: Target) => Promise<void>> = {
  edit: async (target) => {
    const [typed, ...words] = target.words;
    const text = words.length === 0 || (words.length === 1 && words[0] === '-') ? await readStdin(target.cli.notice) : words.join(' ');
    if (text.trim() === '') throw new WrongUsage('the new text is missing');
    await update(target, typed, { text }, 'changed');
  },
  hold: (target) => update(target, requireWords(target.words, 1), { hold: true }, 'held until it is released'),
  release: (target) => update(target, requireWords(target.words, 1), { hold: false }, 'released'),
  move: async (target) => {
    const typed = requireWords(target.words, 2);
    const wanted = readCount('the place', target.words[1] ?? '', 1);
    const { inputs } = orRefused(await target.berth.call('get_queue', { session_id: target.sessionId }));
    const number = Math.max(1, Math.min(wanted, inputs.length));
    await update(target, typed, { position: number - 1 }, `moved to ${number}`);
  },
  async rm({ berth, sessionId, words, print }) {
    const { input_id } = await findInput(berth, sessionId, requireWords(words, 1));
    print(orRefused(await berth.call('remove_queued', { session_id: sessionId, input_id })), `removed ${shortId(input_id)}`);
  },
  async clear({ berth, sessionId, words, print }) {
    requireWords(words, 0);
    const done = orRefused(await berth.call('clear_queue', { session_id: sessionId }));
    print(done, done.count === 0 ? 'nothing was waiting' : `removed ${done.count}`);
  },
  async resume({ berth, sessionId, words, print }) {
    requireWords(words, 0);
    const done = orRefused(await berth.call('resume_queue', { session_id: sessionId }));
    print(
      done,
      done.run_id === ''
        ? 'nothing waits in the queue, so there is nothing to send'
        : `${done.run_id} takes what waits; watch it with berth attach ${shortId(sessionId)}`,
    );
  },
};

export const queue: Subcommand = {
  usage: 'queue [session] [action] [words...]',
  summary: 'Show what waits for a session, or change it.',
  options: { '--json': 'print the answer as JSON' },
  notes: [
    'Actions (INPUT is the number of the list or a prefix of the id):',
    '  edit INPUT TEXT    another text; from standard input without TEXT',
    '  rm INPUT           take it out',
    '  hold INPUT         keep it from being taken',
    '  release INPUT      let it be taken again',
    '  move INPUT PLACE   to another place, counted from 1; one past the end is the last',
    '  clear              take all out',
    '  resume             unpause, and start a run with the first',
  ].join('\n'),
  examples: {
    'berth queue': 'what waits for the newest session here',
    'berth queue . edit 1 "and run the tests"': 'another text for the first',
    'berth queue . resume': 'send what waits after a pause',
  },
  async run({ session, action, words = [], json }: Args, cli) {
    const act = action === undefined ? list : Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (!act) throw new WrongUsage(`there is no queue action ${action ?? ''}; there are ${Object.keys(actions).join(', ')}`);
    const berth = await cli.connect();
    const sessionId = await cli.resolve(berth, session);
    await act({ berth, cli, sessionId, words, print: (done, line) => (json ? cli.printJson(done) : cli.print(line)) });
    return exit.ok;

    async function list(): Promise<void> {
      const { inputs, paused, session_id } = orRefused(await berth.call('get_queue', { session_id: sessionId }));
      if (json) {
        cli.printJson({ session_id, paused, inputs });
        return;
      }
      for (const line of toInputTable(inputs)) cli.print(line);
      if (inputs.length === 0) cli.print('Nothing waits.');
      else if (paused) cli.print(`The queue is ${describePause(inputs.length, shortId(sessionId))}.`);
    }
  },
};

function toInputTable(inputs: QueuedInput[]): string[] {
  const ids = shortIds(inputs.map(({ input_id }) => input_id));
  return alignColumns(
    inputs.map(({ input_id, kind, hold, text }, at) => [
      String(at + 1),
      ids.get(input_id) ?? '',
      inputKindText(kind),
      hold ? 'held' : '',
      clipColumns(printableLine(text), layout.textColumnsMax),
    ]),
  );
}

/** Checks the number of arguments of a queue action, and returns the first. */
function requireWords(words: string[], count: number): string {
  if (words.length !== count)
    throw new WrongUsage(
      count === 0
        ? 'this action takes no arguments; see berth queue --help'
        : `this action takes ${count === 1 ? 'an INPUT' : 'an INPUT and a PLACE'}; see berth queue --help`,
    );
  return words[0] ?? '';
}

async function findInput(berth: Berth, session_id: string, typed: string | undefined): Promise<QueuedInput> {
  if (typed === undefined) throw new WrongUsage('an INPUT is missing; see berth queue --help');
  const { inputs } = orRefused(await berth.call('get_queue', { session_id }));
  const numbered = /^[1-9]\d{0,3}$/.test(typed) ? inputs[Number(typed) - 1] : undefined;
  const ids = numbered
    ? [numbered.input_id]
    : matchIds(
        inputs.map(({ input_id }) => input_id),
        typed,
      );
  if (ids.length > 1) throw new Refused(`${typed} could be ${ids.length} messages; type more of the id`);
  const found = inputs.find(({ input_id }) => input_id === ids[0]);
  if (!found) throw new Refused(`there is no queued message ${typed}; berth queue lists them`);
  return found;
}

async function update(
  { berth, sessionId, print }: Target,
  typed: string | undefined,
  change: Pick<CommandInput<'update_queued'>, 'text' | 'hold' | 'position'>,
  how: string,
): Promise<void> {
  const { input_id, revision } = await findInput(berth, sessionId, typed);
  const done = orRefused(await berth.call('update_queued', { session_id: sessionId, input_id, revision, ...change }));
  print(done, `${shortId(input_id)} is ${how}`);
}
