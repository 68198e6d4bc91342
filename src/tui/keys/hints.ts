import { actions, type Action } from './actions.js';
import type { PaneParts } from '../pane/session-pane.js';

/** What the keys do here and now, most useful first. */
export function hintsFor({ context, keyMap, editor, focus, view, answering }: PaneParts, hasOverlay: boolean): string[] {
  // The dock with the question is not on the screen.
  if (hasOverlay) return answering.current() && answering.dialogFor() === undefined ? ['a question waits: Esc closes this'] : [];
  const here = focus();
  const { run } = view().state;
  const isWanted = ({ name, changes }: Action): boolean => {
    if (context.isObserver && changes) return false;
    if (name === 'send' || name === 'followUp') return !editor.isEmpty() && (name === 'send' || run !== null);
    if (name === 'help') return editor.isEmpty();
    return name !== 'question' || answering.current() !== undefined;
  };
  const wanted = (actions as readonly Action[]).filter(
    (action) => action.hint !== undefined && (action.focus === here || action.focus === 'always') && isWanted(action),
  );
  // A question that is open waits for a person, and that is nearest.
  const nearness = ({ name, focus: place }: Action): number => (name === 'question' ? 0 : place === here ? 1 : 2);
  const near = wanted.toSorted((a, b) => nearness(a) - nearness(b));
  const stop = run && !run.aborting && !context.isObserver ? ['Esc Esc stop'] : [];
  const hints = near.map(({ name, hint = '' }) => `${keyMap.keysOf(name)[0] ?? ''} ${name === 'send' && run ? 'steer' : hint}`);
  return here === 'editor' ? [...stop, ...hints] : [...hints, 'Esc back'];
}
