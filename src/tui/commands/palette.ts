import { allActions, type Focus } from '../keys/actions.js';
import type { PaneParts } from '../pane/session-pane.js';
import { createPicker, type PickerItem } from '../overlays/picker.js';
import { helpTexts } from './help-texts.js';

/** Everything that can be done, by commands and by keys, filtered by typing. What is chosen is done. */
export function openPalette(parts: PaneParts): void {
  open(parts, 'What can be done', [...commandItems(parts), ...actionItems(parts)]);
}

/** The same with what else there is to know: enough without the documentation. */
export function openHelp(parts: PaneParts): void {
  const texts = helpTexts(parts.context.isObserver).flatMap(({ group, entries }) =>
    entries.map(([label, detail], at): PickerItem => ({ id: `text ${group} ${at}`, label, detail, group })),
  );
  open(parts, 'Help', [...actionItems(parts), ...commandItems(parts), ...texts]);
}

/** Where keys count, in the order of the help. */
const places: readonly Exclude<Focus, 'overlay'>[] = ['editor', 'always', 'question', 'transcript', 'queue'];

function actionItems({ context, keyMap }: PaneParts): PickerItem[] {
  const [focusKey = '', questionKey = ''] = ['focusNext', 'question'].map((name) => keyMap.keysOf(name)[0]);
  const groups: Record<(typeof places)[number], string> = {
    editor: 'In the editor',
    always: 'Everywhere',
    question: `At a question that has the keyboard (${questionKey} gives it)`,
    transcript: `In the transcript (${focusKey} goes there)`,
    queue: `In the queue, when a message waits (${focusKey} goes there)`,
  };
  const isEdit = (name: string): boolean => name.startsWith('edit.');
  const possible = allActions.filter(({ changes }) => !changes || !context.isObserver);
  const toItem = ({ name, label, focus }: (typeof possible)[number], group: string): PickerItem => ({
    id: `action ${name}`,
    label: focus === 'always' || focus === 'editor' ? label : `${label} (${focus})`,
    detail: keyMap.keysOf(name).join(', '),
    keywords: name,
    group,
  });
  return [
    ...places.flatMap((place) =>
      possible.filter(({ name, focus }) => focus === place && !isEdit(name)).map((action) => toItem(action, groups[place])),
    ),
    ...possible.filter(({ name }) => isEdit(name)).map((action) => toItem(action, 'While writing')),
  ];
}

function commandItems(parts: PaneParts): PickerItem[] {
  return parts.commands().map(({ name, summary, argumentHint = '' }) => ({
    id: `command ${name}`,
    label: summary,
    detail: `/${name} ${argumentHint}`.trim(),
    keywords: name,
    group: 'Commands, typed into the editor',
  }));
}

function open(parts: PaneParts, title: string, items: readonly PickerItem[]): void {
  const { context } = parts;
  context.open(
    createPicker({
      title,
      items: () => items,
      wraps: true,
      empty: 'nothing here has these letters',
      onPick({ id }) {
        const [kind, name = ''] = id.split(' ');
        if (kind === 'text') return;
        context.closeOverlay();
        const entry = parts.commands().find((one) => one.name === name);
        if (kind === 'action') parts.act(name);
        else if (entry?.argumentHint !== undefined && !entry.argumentHint.startsWith('[')) parts.editor.setText(`/${name} `);
        else parts.runCommand(`/${name}`);
      },
    }),
  );
}
