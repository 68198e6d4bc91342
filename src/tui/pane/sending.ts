import type { AttachedSession } from '../../client/attach.js';
import type { NewInput } from '../../client/delivery.js';
import { describeRefusal } from '../../view/refusal-text.js';
import { resumeActionFor } from '../../view/run-outcome.js';
import type { SentInput } from '../../view/sent-inputs.js';
import { createPicker } from '../overlays/picker.js';
import { attempt, type TuiContext } from '../app/context.js';
import { accepted } from '../app/refusals.js';

export interface Sender {
  /** Sends a text: as a prompt, or while a run is in progress as a steer or follow-up. `forRun` is the run that it was written for. */
  send(how: 'steer' | 'follow_up', input: Pick<NewInput, 'text' | 'content'>, forRun: string | undefined): void;
  /** An input was committed or came back later than its sending. */
  settle(input: SentInput): void;
}

interface Deps {
  context: TuiContext;
  attached: AttachedSession;
  /** Puts a text that was not taken back into the editor. */
  giveBack(text: string): void;
}

/** Sends what a person wrote, and gives back what nobody took. */
export function createSender({ context, attached, giveBack }: Deps): Sender {
  const { berth } = context;
  const { sessionId: session_id } = attached;

  async function submit(how: 'steer' | 'follow_up', input: Pick<NewInput, 'text' | 'content'>): Promise<void> {
    const { run } = attached.view().state;
    const sent = run
      ? await attached.send(how, { ...input, if_idle: 'reject' })
      : await attached.send('prompt', { ...input, if_busy: how });
    await report(sent, how);
  }

  async function report({ state, refusal, command, inputId, text }: SentInput, how: 'steer' | 'follow_up'): Promise<void> {
    context.invalidate();
    if (state === 'kept')
      context.notice('the daemon is away: your text is kept here and goes out by itself', 'alarm', { topic: 'connection' });
    if (state !== 'returned') return;
    attached.dismiss(inputId);
    // The run has ended at the same moment.
    if (refusal?.message === 'no_active_run' && command !== 'prompt' && !wasCutOff()) return submit(how, { text });
    giveBack(text);
    if (refusal?.message === 'no_active_run') {
      askWhat(how, { text });
      return;
    }
    if (refusal) context.notice(`not sent: ${describeRefusal(refusal)}`, 'alarm');
  }

  function wasCutOff(): boolean {
    const { run, lastRun } = attached.view().state;
    return !run && (lastRun?.outcome === 'interrupted' || lastRun?.outcome === 'failed');
  }

  /** The run that a text was written for has died: a new prompt would leave it behind. */
  function askWhat(how: 'steer' | 'follow_up', input: Pick<NewInput, 'text' | 'content'>): void {
    const { lastRun } = attached.view().state;
    const action = resumeActionFor(lastRun?.outcome ?? 'interrupted');
    context.open(
      createPicker({
        title: `The run that you wrote this for ${lastRun?.outcome === 'failed' ? 'has failed' : 'was interrupted'}`,
        items: () => [
          { id: 'keep', label: 'Keep the text in the editor' },
          {
            id: 'resume',
            label: action === 'retry' ? 'Try that run again, and send the text to it' : 'Let that run go on, and send the text to it',
          },
          { id: 'prompt', label: 'Leave that run behind, and send the text as a new prompt' },
        ],
        onPick({ id }) {
          context.closeOverlay();
          if (id === 'keep') {
            giveBack(input.text);
            return;
          }
          attempt(context, 'not sent', async () => {
            try {
              if (id === 'resume' && lastRun) {
                accepted(await berth.call('resume_run', { session_id, run_id: lastRun.id, action }));
                await report(await attached.send(how, { ...input, if_idle: 'prompt' }), how);
              } else await report(await attached.send('prompt', { ...input, if_busy: how }), how);
            } catch (error) {
              giveBack(input.text);
              throw error;
            }
          });
        },
        onClosed: () => giveBack(input.text),
      }),
    );
  }

  return {
    send(how, input, forRun) {
      if (forRun !== undefined && wasCutOff() && attached.view().state.lastRun?.id === forRun) {
        askWhat(how, input);
        return;
      }
      submit(how, input).catch((error: unknown) => {
        giveBack(input.text);
        context.notice(`not sent: ${error instanceof Error ? error.message : String(error)}`, 'alarm');
      });
    },
    settle(input) {
      attempt(context, 'not sent', () => report(input, input.command === 'follow_up' ? 'follow_up' : 'steer'));
    },
  };
}
