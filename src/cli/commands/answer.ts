import type { UiAnswer } from '../../protocol/requests/request-answers.js';
import type { UiRequest } from '../../protocol/requests/requests.js';
import { clipLine } from '../../view/clip-text.js';
import { describeAnswer, hintOf, isSecret, readAnswer } from '../../view/questions.js';
import { isShownId, matchIds, shortId, shortIds } from '../../view/short-ids.js';
import { exit, Refused, WrongUsage } from '../exit.js';
import { orRefused } from '../refusals.js';
import { requestLines } from '../attach/request-lines.js';
import { isColoured } from '../terminal/standard-streams.js';
import { readStdin } from '../terminal/stdin.js';
import { createStyle } from '../terminal/style.js';
import type { Subcommand, Cli } from '../subcommand.js';

interface Args {
  request?: string;
  value?: string[];
  show?: true;
  cancel?: true;
  reason?: string;
  json?: true;
}

/** Lines of a command or diff in the list, per question; and of an unknown id in an error. */
const layout = { listedLinesMax: 20, nameCharsMax: 60 } as const;

export const answer: Subcommand = {
  usage: 'answer [request] [value...]',
  summary: 'Answer a question that waits for a person; with nothing, list them.',
  options: {
    '--show': 'print all of the question and answer nothing',
    '--cancel': 'give no answer',
    '--reason <text>': 'why an approval is denied',
    '--json': 'print questions or the answer as JSON',
  },
  notes: [
    'REQUEST is an id as the list shows it. A value of - is read from standard input.',
    'An approval takes a letter, or a word: a (once), s (session), w (always, in this workspace), i (internet: once, with the network),',
    'd (deny), r and a reason. A denial stops the run; one with a reason is told to the model, and the run goes on.',
  ].join('\n'),
  examples: {
    'berth answer': 'what is asked, by whom, and what would be done',
    'berth answer 06f2k9w3ma --show': 'all of a long change or command',
    'berth answer 06f2k9w3ma a': 'allow it this time',
    'berth answer 06f2k9w3ma deny --reason "not in this directory"': 'and the run goes on',
  },
  async run({ request: named, value: words = [], show, cancel, reason, json }: Args, cli) {
    const berth = await cli.connect();
    const { requests } = orRefused(await berth.call('list_ui_requests'));
    if (named === undefined) return list(cli, requests, json);
    const request = find(requests, named);
    if (show) {
      if (words.length > 0 || cancel) throw new WrongUsage('--show only shows; answer without it');
      if (json) cli.printJson(request);
      else for (const line of requestLines(request, { style: createStyle(isColoured()) })) cli.print(line);
      return exit.ok;
    }
    const typed = words.length === 1 && words[0] === '-' ? (await readStdin(cli.notice)).replace(/\n$/, '') : words.join(' ');
    if (!cancel && words.length === 0) throw new WrongUsage(`an answer is missing: ${hintOf(request)}`);
    const result = cancel ? undefined : toResult(request, typed, reason);
    const { request_id } = request;
    const done = orRefused(await berth.call('ui_response', cancel ? { request_id, cancelled: true } : { request_id, result }));
    if (json) cli.printJson(done);
    else {
      const [title = ''] = requestLines(request);
      cli.print(
        `${title} ${cancel ? 'cancelled' : isSecret(request) ? 'answered' : `answered: ${describeAnswer(result)}`} (session ${shortId(request.session_id)})`,
      );
    }
    return exit.ok;
  },
};

function list(cli: Cli, requests: UiRequest[], json: true | undefined): typeof exit.ok {
  if (json) for (const request of requests) cli.printJson(request);
  else if (requests.length === 0) cli.print('No questions are open.');
  else {
    const style = createStyle(isColoured());
    const ids = shortIds(requests.map(({ request_id }) => request_id));
    for (const request of requests) {
      const id = ids.get(request.request_id) ?? '';
      const [title = '', ...more] = requestLines(request, { style, linesMax: layout.listedLinesMax, rest: `berth answer ${id} --show` });
      cli.print(style.bold(`${id}  ${title}`));
      for (const line of more) cli.print(`  ${line}`);
      cli.print(`  session ${shortId(request.session_id)}; berth answer ${id} with ${hintOf(request)}`);
    }
  }
  return exit.ok;
}

function toResult(request: UiRequest, typed: string, reason: string | undefined): UiAnswer {
  const read = readAnswer(request, typed);
  if (!read.ok) throw new Refused(`that is no answer to this question; it takes ${read.hint}`);
  const { result } = read;
  if (reason === undefined) return result;
  if (request.params.kind !== 'approval' || result !== 'deny') throw new WrongUsage('--reason goes with deny');
  if (reason.trim() === '') return result;
  return { value: 'deny', reason };
}

/** Finds a request by id, never by position: positions change while people read, and an approval must not go to another question. */
function find(requests: UiRequest[], named: string): UiRequest {
  const all = requests.map(({ request_id }) => request_id);
  const ids = isShownId(named) ? matchIds(all, named) : [];
  if (ids.length > 1) throw new Refused(`${named} could be ${ids.length} questions; type more of the id`);
  const found = requests.find(({ request_id }) => request_id === ids[0]);
  if (!found)
    throw new Refused(`there is no open question ${clipLine(named, layout.nameCharsMax)}; berth answer lists them with their ids`);
  return found;
}
