import type { Message } from '../../protocol/messages.js';
import { printable, printableLine } from '../../view/printable.js';
import { attempt } from '../app/context.js';
import type { PaneParts } from '../pane/session-pane.js';
import { createPicker, type PickerItem } from '../overlays/picker.js';
import { createViewer } from '../overlays/viewer.js';
import { row, span, type Row } from '../rows/row.js';
import { renderDiff } from '../text/diff.js';

/** The changes that file tools made in these messages, oldest first. Commands that were run may have changed more. */
export function changesIn(messages: readonly Message[]): { path: string; diff: string }[] {
  const paths = new Map<string, string>();
  const changes: { path: string; diff: string }[] = [];
  for (const { content, tool_call_id, details } of messages) {
    for (const block of content) if (block.type === 'tool_call') paths.set(block.id, pathOf(block.arguments));
    if (details?.diff !== undefined && details.diff !== '') changes.push({ path: paths.get(tool_call_id ?? '') ?? '', diff: details.diff });
  }
  return changes;
}

function pathOf(args: Record<string, unknown>): string {
  return typeof args.path === 'string' ? args.path : '';
}

/** Shows what the tools of this session changed since a prompt that is chosen. */
export function showChanges(parts: PaneParts): void {
  const { context, attached } = parts;
  attempt(context, 'changes could not be read', async () => {
    let more = attached.view().hasMore;
    while (more) {
      const { added, hasMore, full } = await attached.loadOlder();
      if (full) context.notice('changes before the oldest loaded message are left out', 'alarm');
      more = hasMore && !full && added > 0;
    }
    const { messages } = attached.view();
    const prompts = messages.flatMap((message, at) => (message.role === 'user' ? [{ at, text: message.text }] : []));
    const items = prompts
      .map(({ at, text }): PickerItem => {
        const count = changesIn(messages.slice(at)).length;
        return { id: String(at), label: printableLine(text), detail: `${count} ${count === 1 ? 'change' : 'changes'} since` };
      })
      .reverse();
    if (items.length === 0) {
      context.notice('nothing was said here yet');
      return;
    }
    context.open(
      createPicker({
        title: 'Changes since',
        items: () => items,
        onPick({ id }) {
          context.closeOverlay();
          showChangesIn(parts, messages.slice(Number(id)));
        },
      }),
    );
  });
}

/** Shows the changes of these messages. */
export function showChangesIn({ context }: Pick<PaneParts, 'context'>, messages: readonly Message[]): void {
  const changes = changesIn(messages);
  if (changes.length === 0) return context.notice('no file tool changed anything since then; commands may have');
  const rows = (columns: number): Row[] =>
    changes.flatMap(({ path, diff }) => [row(span(printableLine(path), { bold: true })), ...renderDiff(printable(diff), columns), row()]);
  context.open(createViewer({ title: 'Changes', rows, close: context.closeOverlay }));
}
