import { allActions } from '../keys/actions.js';
import type { PaneParts } from '../pane/session-pane.js';
import { createPicker, type PickerItem } from '../overlays/picker.js';

/** Everything that can be done, by keys and by commands, filtered by typing. What is chosen is done. */
export function openPalette(parts: PaneParts): void {
  const { context, keyMap } = parts;
  const byKey = allActions.map(({ name, label, focus }): PickerItem => {
    const keys = keyMap.keysOf(name).join(', ');
    const where = focus === 'always' || focus === 'editor' ? '' : ` (${focus})`;
    return { id: `action ${name}`, label: `${label}${where}`, detail: keys, keywords: name };
  });
  const commands = parts.commands().map(({ name, summary, argumentHint = '' }): PickerItem => ({
    id: `command ${name}`,
    label: summary,
    detail: `/${name} ${argumentHint}`.trim(),
    keywords: name,
  }));
  context.open(
    createPicker({
      title: 'What can be done',
      items: () => [...commands, ...byKey],
      onPick({ id }) {
        context.closeOverlay();
        const [kind, name = ''] = id.split(' ');
        const entry = parts.commands().find((one) => one.name === name);
        if (kind === 'action') parts.act(name);
        else if (entry?.argumentHint !== undefined && !entry.argumentHint.startsWith('[')) parts.editor.setText(`/${name} `);
        else parts.runCommand(`/${name}`);
      },
    }),
  );
}
