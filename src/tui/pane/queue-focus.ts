import type { AttachedSession } from '../../client/attach.js';
import type { QueuedInput } from '../../protocol/events.js';
import { attempt, type TuiContext } from '../app/context.js';
import { accepted } from '../app/refusals.js';

/** The queue while it has the keyboard: a waiting message is chosen, edited, moved, held or removed. */
export interface QueueFocus {
  chosen(): QueuedInput | undefined;
  act(name: string): boolean;
}

interface Deps {
  context: TuiContext;
  attached: AttachedSession;
  /** Opens the text of a waiting message in the editor; sending it changes the message. */
  edit(input: QueuedInput): void;
  release(): void;
}

export function createQueueFocus({ context, attached, edit, release }: Deps): QueueFocus {
  const { berth } = context;
  const { sessionId: session_id } = attached;
  let chosenId: string | undefined;

  function inputs(): readonly QueuedInput[] {
    return attached.view().state.inputs;
  }

  function chosen(): QueuedInput | undefined {
    return inputs().find(({ input_id }) => input_id === chosenId) ?? inputs()[0];
  }

  function choose(by: number): void {
    const at = inputs().findIndex((input) => input === chosen());
    chosenId = inputs()[Math.max(0, Math.min(inputs().length - 1, at + by))]?.input_id;
    context.invalidate();
  }

  function change(input: QueuedInput, fields: { hold?: boolean; position?: number }): void {
    const { input_id, revision } = input;
    attempt(context, 'not changed', async () => {
      accepted(await berth.call('update_queued', { session_id, input_id, revision, ...fields }));
    });
  }

  function move(input: QueuedInput, by: number): void {
    const position = inputs().indexOf(input) + by;
    if (position >= 0 && position < inputs().length) change(input, { position });
  }

  const acts: Partial<Record<string, (input: QueuedInput) => void>> = {
    queueUp: () => choose(-1),
    queueDown: () => choose(1),
    queueEdit: edit,
    queueHold: (input) => change(input, { hold: !input.hold }),
    queueEarlier: (input) => move(input, -1),
    queueLater: (input) => move(input, 1),
    queueRemove(input) {
      attempt(context, 'not removed', async () => {
        accepted(await berth.call('remove_queued', { session_id, input_id: input.input_id }));
      });
    },
  };

  return {
    chosen,
    act(name) {
      const input = chosen();
      if (!input) {
        release();
        return false;
      }
      const act = acts[name];
      act?.(input);
      return act !== undefined;
    },
  };
}
