import type { ReplyPayload } from '../../protocol/commands/commands.js';
import { printableLine } from '../../view/printable.js';
import { attempt, watchingText } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import type { PaneParts } from '../pane/session-pane.js';
import { createPicker, type PickerItem, type PickerOptions } from '../overlays/picker.js';

type Node = ReplyPayload<'get_tree'>['nodes'][number];

const roles: Record<Node['role'], string> = { user: '❯ ', assistant: '', tool_result: '│ ', compaction: '═ ' };

/** All messages of a session with their branches: Enter goes on from one in this session, Ctrl-B in a new one. */
export function openTree(parts: PaneParts): void {
  const { context, attached } = parts;
  attempt(context, 'the tree could not be read', async () => {
    const { nodes, leaf_id, has_more } = accepted(await context.berth.call('get_tree', { session_id: attached.sessionId }));
    const items = toItems(nodes, leaf_id);
    if (has_more) context.notice('older messages are not in the list');
    context.open(
      createPicker({
        title: 'Messages',
        items: () => items,
        startAt: leaf_id ?? undefined,
        empty: 'no messages yet',
        onPick({ id }) {
          context.closeOverlay();
          if (id === leaf_id) {
            parts.reader.follow();
            return;
          }
          if (context.isObserver) {
            context.notice(watchingText, 'alarm');
            return;
          }
          attempt(context, 'the session stays where it is', async () => {
            accepted(await context.berth.call('set_leaf', { session_id: attached.sessionId, leaf_id: id }));
            context.notice('the session goes on from that message; /tree leads back');
          });
        },
        keys: (context.isObserver
          ? []
          : [
              {
                key: 'ctrl+b',
                label: 'new session from it',
                run({ id }) {
                  context.closeOverlay();
                  attempt(context, 'no branch was made', async () => {
                    const { session_id } = accepted(
                      await context.berth.call('branch_session', { session_id: attached.sessionId, leaf_id: id }),
                    );
                    context.goTo(session_id);
                  });
                },
              },
            ]) satisfies PickerOptions['keys'],
      }),
    );
  });
}

/** In depth-first order, oldest first; only branches are indented. */
function toItems(nodes: readonly Node[], leafId: string | null): PickerItem[] {
  const known = new Set(nodes.map(({ id }) => id));
  const children = new Map<string | null, Node[]>();
  for (const node of nodes) {
    const parent = node.parent_id !== null && known.has(node.parent_id) ? node.parent_id : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(node);
    else children.set(parent, [node]);
  }
  const items: PickerItem[] = [];
  const waiting = (children.get(null) ?? []).toReversed().map((node) => ({ node, depth: 0 }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, depth } = next;
    const text = printableLine(node.snippet) || (node.role === 'assistant' ? '(calls tools)' : '(no text)');
    items.push({
      id: node.id,
      label: `${'  '.repeat(depth)}${roles[node.role]}${text}`,
      ...(node.id === leafId ? { detail: 'here', tone: 'accent' as const } : node.role === 'user' ? { tone: 'user' as const } : {}),
    });
    const below = children.get(node.id) ?? [];
    for (const child of below.toReversed()) waiting.push({ node: child, depth: depth + (below.length > 1 ? 1 : 0) });
  }
  return items;
}
