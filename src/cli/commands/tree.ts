import type { ReplyPayload } from '../../protocol/commands/commands.js';
import { printableLine } from '../../view/printable.js';
import { shortIds } from '../../view/short-ids.js';
import { clipColumns } from '../terminal/columns.js';
import { exit } from '../exit.js';
import { orRefused } from '../refusals.js';
import { outputColumns } from '../terminal/standard-streams.js';
import type { Subcommand } from '../subcommand.js';

interface Args {
  session?: string;
  json?: true;
}

type Tree = ReplyPayload<'get_tree'>;
type TreeNode = Tree['nodes'][number];

const roles = { user: '>', assistant: ' ', tool_result: '|', compaction: '=' } as const;

export const tree: Subcommand = {
  usage: 'tree [session]',
  summary: 'Show all messages of a session with their branches; * marks where it is.',
  options: { '--json': 'print the answer as JSON' },
  notes: 'In front of a text, > is a person and | a tool.',
  examples: {
    'berth tree': 'of the newest session here',
  },
  async run({ session, json }: Args, cli) {
    const berth = await cli.connect();
    const found = orRefused(await berth.call('get_tree', { session_id: await cli.resolve(berth, session) }));
    if (json) cli.printJson(found);
    else if (found.nodes.length === 0) cli.print('No messages yet.');
    else for (const line of toLines(found)) cli.print(line);
    return exit.ok;
  },
};

/** Renders the message tree; only branches are indented. */
function toLines({ nodes, leaf_id, has_more }: Tree): string[] {
  const ids = shortIds(nodes.map(({ id }) => id));
  const children = new Map<string | null, TreeNode[]>();
  for (const node of nodes) {
    const parent = node.parent_id !== null && ids.has(node.parent_id) ? node.parent_id : null;
    children.set(parent, [...(children.get(parent) ?? []), node]);
  }
  const lines = has_more ? ['… older messages are not shown'] : [];
  const roots = children.get(null) ?? [];
  const waiting = roots.toReversed().map((node) => ({ node, depth: roots.length > 1 ? 1 : 0 }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, depth } = next;
    const id = `${node.id === leaf_id ? '*' : ' '} ${ids.get(node.id) ?? ''}`;
    const text = `${roles[node.role]} ${printableLine(node.snippet) || (node.role === 'assistant' ? '(calls tools)' : '(no text)')}`;
    lines.push(clipColumns(`${id}  ${'  '.repeat(depth)}${text}`, outputColumns()).trimEnd());
    const below = children.get(node.id) ?? [];
    for (const child of below.toReversed()) waiting.push({ node: child, depth: depth + (below.length > 1 ? 1 : 0) });
  }
  return lines;
}
