import type { CommandInput } from '../../protocol/commands/commands.js';
import { printableLine } from '../../view/printable.js';
import { attempt } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import type { PaneParts } from '../pane/session-pane.js';
import { createPicker, type PickerItem } from '../overlays/picker.js';

type Thinking = NonNullable<CommandInput<'set_model'>['thinking']>;
export const thinkingLevels: readonly Thinking[] = ['off', 'low', 'medium', 'high'];

function setModel({ context, attached }: PaneParts, model: string): void {
  attempt(context, 'the model stays', async () => {
    accepted(await context.berth.call('set_model', { session_id: attached.sessionId, model }));
  });
}

/** The models there are; a name is taken at once. */
export function openModels(parts: PaneParts, name: string): void {
  const { context } = parts;
  if (name !== '') return setModel(parts, name);
  let items: readonly PickerItem[] = [];
  let empty = 'asking the providers…';
  attempt(context, 'models could not be listed', async () => {
    const { models, providers } = accepted(await context.berth.call('list_models', {}));
    items = models.map(({ model, title, context_window }) => ({
      id: model,
      label: printableLine(model),
      detail: `${printableLine(title)}${context_window === null ? '' : ` · ${Math.round(context_window / 1_000)}k`}`,
      ...(model === parts.view().state.model ? { tone: 'accent' as const } : {}),
    }));
    empty = 'no model matches';
    for (const { provider, problem } of providers)
      if (problem !== undefined) context.notice(`${provider}: ${printableLine(problem)}`, 'alarm');
    context.invalidate();
  });
  context.open(
    createPicker({
      title: 'Model',
      items: () => items,
      get empty() {
        return empty;
      },
      onPick({ id }) {
        context.closeOverlay();
        setModel(parts, id);
      },
    }),
  );
}

export function setThinking(typed: string, parts: PaneParts): boolean {
  const { context, attached } = parts;
  const thinking = thinkingLevels.find((level) => level === typed);
  if (thinking === undefined) context.notice(`thinking is one of ${thinkingLevels.join(', ')}`, 'alarm');
  else
    attempt(context, 'not changed', async () => {
      accepted(await context.berth.call('update_session', { session_id: attached.sessionId, thinking }));
      context.notice(`thinking: ${thinking}`);
    });
  return thinking !== undefined;
}
