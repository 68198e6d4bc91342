import type { ListedModel, ListedProvider } from '../../protocol/views.js';
import { printableLine } from '../../view/printable.js';
import { alignColumns } from '../terminal/columns.js';
import { exit } from '../exit.js';
import { orRefused } from '../refusals.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  json?: true;
}

export const models: Subcommand = {
  usage: 'models',
  summary: 'List the models that can be used, and what is missing for others.',
  options: { '--json': 'print the answer as JSON' },
  notes:
    'Providers are asked for their models; prices are in US dollars for a million tokens. A model that is not listed can be used\n' +
    'all the same, as PROVIDER/MODEL, if its provider is there. berth auth set PROVIDER adds a key.',
  examples: {
    'berth models': 'what there is; * is what a new session gets',
    "berth models --json | jq -r '.models[].model'": 'for programs',
  },
  async run({ json }: Args, cli) {
    const berth = await cli.connect();
    const found = orRefused(await berth.call('list_models'));
    if (json) {
      cli.printJson(found);
      return exit.ok;
    }
    for (const line of toModelTable(found.models, found.default)) cli.print(line);
    for (const provider of found.providers) {
      const problem = describeProblem(provider);
      if (problem !== undefined) cli.print(`\n${printableLine(problem)}`);
    }
    return exit.ok;
  },
};

function toModelTable(models: ListedModel[], chosen: string): string[] {
  const rows = models.map(({ model, context_window, max_output, price }) => [
    `${model === chosen ? '*' : ' '} ${printableLine(model)}`,
    toTokens(context_window),
    toTokens(max_output),
    price ? `${price.input} / ${price.output}` : '',
  ]);
  const listed = models.some(({ model }) => model === chosen) ? rows : [[`* ${printableLine(chosen)}`, '', '', ''], ...rows];
  return [
    ...alignColumns([['  MODEL', 'WINDOW', 'OUTPUT', '$ IN / OUT'], ...listed]).map((line) => line.trimEnd()),
    '* is what a new session gets',
  ];
}

function describeProblem({ provider, problem }: ListedProvider): string | undefined {
  if (problem === undefined) return undefined;
  return problem.startsWith('no key') ? problem : `${provider} could not be asked: ${problem.replace(`${provider}: `, '')}`;
}

function toTokens(tokens: number | null): string {
  if (tokens === null) return '';
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(2))}M`;
  return tokens >= 1_000 ? `${Math.round(tokens / 1_000)}k` : String(tokens);
}
