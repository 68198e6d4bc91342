import type { AttachedSession } from '../../client/attach.js';
import type { UiAnswer } from '../../protocol/requests/request-answers.js';
import type { UiRequest } from '../../protocol/requests/requests.js';
import { currentParams } from '../../protocol/requests/old-requests.js';
import { toCard, type Choice, type RequestCard } from '../../view/questions.js';
import { shortenPath } from '../dock/header.js';
import { layCard, wholeCard } from '../dock/question-card.js';
import { createQuestionGate, openQuestions } from '../dock/question-state.js';
import { createViewer } from '../overlays/viewer.js';
import type { Row } from '../rows/row.js';
import { attempt, type TuiContext } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import { createAnswerDialogs } from './answer-dialogs.js';

/** How long a lone key waits for another one that makes it a word. */
const tuning = { holdMs: 300 } as const;

export interface Answering {
  /** Takes back an answer that waits for nothing to follow it, and says which key it was. */
  withdraw(): string | undefined;
  /** Gives that answer now. False when there is none. */
  confirm(): boolean;
  /** The question that is shown is answered with a text. */
  wantsText(): boolean;
  /** The question that is shown. */
  current(): UiRequest | undefined;
  open(): readonly UiRequest[];
  rows(columns: number, rowsMax: number, isFocused: boolean, isEditorEmpty: boolean): Row[];
  painted(nowMs: number): void;
  keyPressed(nowMs: number): void;
  /** A typed character; true when it answered. Only a key that was pressed alone, and not while typing, can answer without the focus. */
  onText(text: string, how: { isFocused: boolean; isEditorEmpty: boolean; isAlone: boolean; nowMs: number }): boolean;
  /** A key of a focused card other than a character. */
  onKey(key: string): boolean;
  /** The keyboard comes to the card on purpose: questions for texts open at once. True when the card keeps the focus. */
  focus(): boolean;
  viewAll(): void;
  next(): void;
  /** A question was answered or withdrawn, here or elsewhere: its dialog closes. */
  resolved(requestId: string): void;
  /** The question whose dialog has the keyboard. */
  dialogFor(): string | undefined;
}

interface Deps {
  context: TuiContext;
  attached: AttachedSession;
  /** The keyboard goes back to the editor. */
  release(): void;
  /** Puts a text that nobody got where Up finds it. */
  putAway(text: string): void;
}

/** Shows questions in the dock and answers them. */
export function createAnswering({ context, attached, release, putAway }: Deps): Answering {
  const gate = createQuestionGate();
  const answered = new Set<string>();
  const chosen = new Set<number>();
  let preferred: string | undefined;
  /** The question that a person gave the keyboard to: no other one gets it in its place. */
  let focused: string | undefined;
  /** The card on the screen shows all of its question. */
  let isWhole = true;
  /** An answer by a lone key, which typing on withdraws. */
  let held: { text: string; give(): void; timer: NodeJS.Timeout } | undefined;
  const cards = new WeakMap<UiRequest, RequestCard>();
  const dialogs = createAnswerDialogs({ context, respond, putAway });

  function open(): UiRequest[] {
    return openQuestions(attached.view().state.requests, answered);
  }

  function current(): UiRequest | undefined {
    const all = open();
    return all.find(({ request_id }) => request_id === preferred) ?? all[0];
  }

  function cardOf(request: UiRequest): RequestCard {
    const known = cards.get(request);
    if (known) return known;
    const { parts, choices, ...rest } = toCard(request);
    const { HOME: home = '' } = context.env;
    const shortened = parts.map((part) => (part.kind === 'asker' ? { ...part, workspace: shortenPath(part.workspace, home) } : part));
    const labelled = choices.map((choice) => ({
      ...choice,
      label: home === '' ? choice.label : choice.label.replaceAll(` ${home}/`, ' ~/'),
    }));
    const card = { ...rest, parts: shortened, choices: labelled };
    cards.set(request, card);
    return card;
  }

  function respond({ request_id }: UiRequest, result: UiAnswer, onFailed?: () => void): void {
    answered.add(request_id);
    chosen.clear();
    release();
    context.invalidate();
    attempt(context, 'not answered', async () => {
      try {
        accepted(await context.berth.call('ui_response', { request_id, result }));
      } catch (error) {
        answered.delete(request_id);
        onFailed?.();
        throw error;
      }
    });
  }

  function take(request: UiRequest, { answer, label }: Choice): void {
    if (answer === undefined) dialogs.askReason(request, cardOf(request), label);
    else respond(request, answer);
  }

  function hintFor(card: RequestCard, isFocused: boolean, isEditorEmpty: boolean): string {
    if (context.isObserver) return 'you are only watching: berth answer answers it';
    // What cannot be undone is not one key away.
    if (card.choices.length === 0 || (card.isDangerous && !isFocused)) return 'Ctrl-O answers';
    if (isFocused) return 'press a key to answer · v all of it · Esc back to the editor';
    return isEditorEmpty ? 'press a key to answer · Ctrl-O looks closer' : 'you are typing: Ctrl-O answers';
  }

  function choose(request: UiRequest, card: RequestCard, key: string): boolean {
    const choice = card.choices.find((one) => one.key === key);
    if (!choice) return false;
    if (isMultiple(request)) {
      const at = card.choices.indexOf(choice);
      if (!chosen.delete(at)) chosen.add(at);
      context.invalidate();
      return true;
    }
    // Nobody allows what is not on the screen.
    if (!isWhole && choice.answer !== undefined && choice.answer !== 'deny') viewAll();
    else take(request, choice);
    return true;
  }

  function viewAll(): void {
    const request = current();
    if (!request) return;
    const card = cardOf(request);
    const keys = isMultiple(request)
      ? []
      : card.choices.map((choice) => ({ key: choice.key, label: '', run: () => answerFromViewer(request, choice) }));
    const overlay = createViewer({
      title: 'Question',
      rows: (columns) => wholeCard(card, columns),
      keys: context.isObserver ? [] : keys,
      close: dialogs.close,
      onClosed: dialogs.closed,
    });
    dialogs.open(request, overlay);
  }

  function answerFromViewer(request: UiRequest, choice: Choice): void {
    dialogs.close();
    take(request, choice);
  }

  function withdraw(): string | undefined {
    const { text } = held ?? {};
    clearTimeout(held?.timer);
    held = undefined;
    return text;
  }

  function confirm(): boolean {
    const pending = held;
    withdraw();
    pending?.give();
    return pending !== undefined;
  }

  /** A sentence may begin with the key of an answer: it counts once nothing follows. */
  function hold(text: string, give: () => void): void {
    held = { text, give, timer: setTimeout(confirm, tuning.holdMs) };
  }

  function wantsText(): boolean {
    const request = current();
    return request !== undefined && cardOf(request).choices.length === 0;
  }

  return {
    wantsText,
    withdraw,
    confirm,
    current,
    open,
    rows(columns, rowsMax, isFocused, isEditorEmpty) {
      const request = current();
      if (!request) return [];
      const card = cardOf(request);
      const hint = hintFor(card, isFocused, isEditorEmpty);
      const laid = layCard({ card, waiting: open().length - 1, isFocused, hint, chosen }, columns, rowsMax);
      isWhole = laid.isWhole;
      return laid.rows;
    },
    painted: (nowMs) => gate.painted(current()?.request_id, nowMs),
    keyPressed: gate.keyPressed,
    onText(text, { isFocused, isEditorEmpty, isAlone, nowMs }) {
      const request = current();
      if (!request || context.isObserver) return false;
      if (isFocused) return choose(request, cardOf(request), text);
      const mayAnswer = isEditorEmpty && isAlone && !cardOf(request).isDangerous && gate.isSettled(request.request_id, nowMs);
      if (!mayAnswer || !cardOf(request).choices.some(({ key }) => key === text)) return false;
      hold(text, () => {
        if (current()?.request_id === request.request_id) choose(request, cardOf(request), text);
      });
      return true;
    },
    onKey(key) {
      const request = current();
      if (!request || key !== 'enter') return false;
      const card = cardOf(request);
      if (!isMultiple(request) || chosen.size === 0) return false;
      respond(
        request,
        [...chosen].sort((a, b) => a - b).flatMap((at) => (typeof card.choices[at]?.answer === 'string' ? [card.choices[at].answer] : [])),
      );
      return true;
    },
    focus() {
      const request = current();
      if (!request || context.isObserver) return false;
      const card = cardOf(request);
      if (card.choices.length === 0) dialogs.askText(request, card);
      else if (card.choices.length > 9 || isMultiple(request)) dialogs.askChoice(request, card, isMultiple(request));
      else {
        focused = request.request_id;
        return true;
      }
      return false;
    },
    viewAll,
    resolved(requestId) {
      dialogs.resolved(requestId);
      if (focused === requestId) release();
    },
    dialogFor: dialogs.openFor,
    next() {
      const all = open();
      const at = all.findIndex((request) => request === current());
      preferred = all[(at + 1) % Math.max(1, all.length)]?.request_id;
      if (focused !== undefined) focused = preferred;
      context.invalidate();
    },
  };
}

function isMultiple(request: UiRequest): boolean {
  const params = currentParams(request);
  return params.kind === 'question' && params.method === 'select' && params.multi === true;
}
