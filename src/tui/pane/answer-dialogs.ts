import type { UiAnswer } from '../../protocol/requests/request-answers.js';
import type { UiRequest } from '../../protocol/requests/requests.js';
import { currentParams } from '../../protocol/requests/old-requests.js';
import { readAnswer, type RequestCard } from '../../view/questions.js';
import type { AnswerPlace } from '../app/begun-answers.js';
import type { TuiContext } from '../app/context.js';
import { createEditorPrompt } from '../overlays/editor-prompt.js';
import type { Overlay } from '../overlays/overlay.js';
import { createPicker } from '../overlays/picker.js';
import { createTextPrompt, type TextPromptOptions } from '../overlays/text-prompt.js';

/** Overlays in which a question is answered: one at a time, which closes when the question is resolved elsewhere. */
export interface AnswerDialogs {
  askReason(request: UiRequest, card: RequestCard, title: string): void;
  askText(request: UiRequest, card: RequestCard): void;
  askChoice(request: UiRequest, card: RequestCard, isMulti: boolean): void;
  /** Opens an overlay of a question, which calls `closed` when a person closes it. */
  open(request: UiRequest, overlay: Overlay): void;
  close(): void;
  closed(): void;
  resolved(requestId: string): void;
  openFor(): string | undefined;
}

interface Deps {
  context: TuiContext;
  respond(request: UiRequest, answer: UiAnswer, onFailed?: () => void): void;
  putAway(text: string): void;
}

export function createAnswerDialogs({ context, respond, putAway }: Deps): AnswerDialogs {
  let dialog: { requestId: string; overlay: Overlay } | undefined;

  function open({ request_id: requestId }: UiRequest, overlay: Overlay): void {
    dialog = { requestId, overlay };
    context.open(overlay);
  }

  function closed(): void {
    dialog = undefined;
  }

  function askReason(request: UiRequest, card: RequestCard, title: string): void {
    askLine(request, 'reason', {
      title,
      message: subjectOf(card),
      onSubmit(reason) {
        if (reason.trim() === '') {
          context.notice('say why, or close this with Esc', 'alarm');
          return;
        }
        close();
        respondWith(request, 'reason', reason, { value: 'deny', reason });
      },
    });
  }

  function askText(request: UiRequest, card: RequestCard): void {
    const params = currentParams(request);
    const isLong = params.kind === 'question' && params.method === 'editor' && !card.isSecret;
    const options: TextPromptOptions = {
      title: card.title,
      message: card.parts.map((part) => ('text' in part ? part.text : '')).join('\n'),
      initial: card.preset,
      isSecret: card.isSecret,
      onSubmit(text) {
        const read = readAnswer(request, text);
        if (!read.ok) {
          context.notice(`type ${read.hint}`, 'alarm');
          return;
        }
        close();
        respondWith(request, 'text', card.isSecret ? '' : text, read.result);
      },
    };
    askLine(request, 'text', options, isLong);
  }

  /** A text that was begun and closed with Esc is there again. */
  function askLine(request: UiRequest, place: AnswerPlace, options: TextPromptOptions, isLong = false): void {
    const { request_id: requestId } = request;
    const keeping = options.isSecret
      ? {}
      : {
          initial: context.begunAnswers.textOf(requestId, place) ?? options.initial ?? '',
          escape: 'Esc close, and keep the text for later',
          onClosed(text: string) {
            closed();
            context.begunAnswers.keep(requestId, place, text === options.initial ? '' : text);
          },
        };
    const whole = { onClosed: closed, ...options, ...keeping };
    const overlay = isLong ? createEditorPrompt(whole) : createTextPrompt(whole);
    open(request, overlay);
  }

  function close(): void {
    if (dialog) context.closeOverlay(dialog.overlay);
    dialog = undefined;
  }

  /** The text comes back when nobody takes the answer. */
  function respondWith(request: UiRequest, place: AnswerPlace, text: string, answer: UiAnswer): void {
    context.begunAnswers.keep(request.request_id, place, '');
    respond(request, answer, () => context.begunAnswers.keep(request.request_id, place, text));
  }

  function resolved(requestId: string): void {
    if (dialog?.requestId === requestId) {
      const { overlay } = dialog;
      close();
      // What was being written is kept as if Esc had been pressed.
      overlay.onClosed?.();
    }
    for (const text of context.begunAnswers.take(requestId)) {
      putAway(text);
      context.notice('what you had begun to answer is kept: Up brings it back');
    }
  }

  function askChoice(request: UiRequest, card: RequestCard, isMulti: boolean): void {
    const items = card.choices.map(({ key, label }) => ({ id: key, label }));
    const answerOf = (keys: readonly string[]): void => {
      const values = card.choices.filter(({ key }) => keys.includes(key)).map(({ answer }) => answer);
      close();
      if (isMulti)
        respond(
          request,
          values.filter((value) => typeof value === 'string'),
        );
      else if (values[0] !== undefined) respond(request, values[0]);
    };
    const overlay = createPicker({
      title: card.title,
      items: () => items,
      wraps: true,
      onPick: ({ id }) => answerOf([id]),
      onClosed: closed,
      ...(isMulti ? { multi: { onPick: (picked) => answerOf(picked.map(({ id }) => id)) } } : {}),
    });
    open(request, overlay);
  }

  return { askReason, askText, askChoice, open, close, closed, resolved, openFor: () => dialog?.requestId };
}

/** What an answer is about, as a text. */
function subjectOf({ title, parts }: RequestCard): string {
  const subject = parts.flatMap((part) => (part.kind === 'command' || part.kind === 'call' ? [part.text] : []));
  return [title, ...subject].join('\n');
}
