import { formatAge } from '../../view/durations.js';
import { printableLine } from '../../view/printable.js';
import { attempt } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import { readWholeDraft } from '../pane/draft-keeper.js';
import type { PaneParts } from '../pane/session-pane.js';
import { createPicker } from '../overlays/picker.js';

/** The drafts of this session, also those of other clients: one is taken into the editor. */
export function openDrafts(parts: PaneParts): void {
  const { context, attached, editor } = parts;
  attempt(context, 'drafts could not be read', async () => {
    const { drafts } = accepted(await context.berth.call('list_drafts', { session_id: attached.sessionId }));
    const others = drafts.filter(({ draft_id }) => draft_id !== parts.drafts.ownId());
    context.open(
      createPicker({
        title: 'Drafts',
        items: () =>
          others.map(({ draft_id, by, text, updated_at, attached: isWriting }) => ({
            id: draft_id,
            label: printableLine(text),
            detail: `${printableLine(by)}${isWriting ? ', attached' : ''}, ${formatAge(Date.now() - Date.parse(updated_at))} ago`,
          })),
        empty: 'there is no other draft',
        onPick({ id }) {
          context.closeOverlay();
          const draft = others.find(({ draft_id }) => draft_id === id);
          if (!draft) return;
          attempt(context, 'the draft could not be read', async () => {
            const whole = await readWholeDraft(context, attached.sessionId, draft);
            if (!editor.isEmpty()) editor.clear();
            // Whoever writes on it goes on with their own copy.
            if (draft.attached) editor.setText(whole.text);
            else parts.drafts.take(whole);
          });
        },
      }),
    );
  });
}
