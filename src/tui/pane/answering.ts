import type { AttachedSession } from '../../client/attach.js';
import type { UiAnswer } from '../../protocol/requests/request-answers.js';
import type { UiRequest } from '../../protocol/requests/requests.js';
import { currentParams } from '../../protocol/requests/old-requests.js';
import { readAnswer, toCard, type Choice, type RequestCard } from '../../view/questions.js';
import { shortenPath } from '../dock/header.js';
import { layCard, wholeCard } from '../dock/question-card.js';
import { createQuestionGate, openQuestions } from '../dock/question-state.js';
import { createEditorPrompt } from '../overlays/editor-prompt.js';
import { createPicker } from '../overlays/picker.js';
import { createTextPrompt } from '../overlays/text-prompt.js';
import { createViewer } from '../overlays/viewer.js';
import type { Row } from '../rows/row.js';
import { attempt, type TuiContext } from '../app/context.js';
import { accepted } from '../app/refusals.js';

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
}

interface Deps {
  context: TuiContext;
  attached: AttachedSession;
  /** The keyboard goes back to the editor. */
  release(): void;
}

/** Shows questions in the dock and answers them. */
export function createAnswering({ context, attached, release }: Deps): Answering {
  const gate = createQuestionGate();
  const answered = new Set<string>();
  const chosen = new Set<number>();
  let preferred: string | undefined;
  /** The card on the screen shows all of its question. */
  let isWhole = true;
  /** An answer by a lone key, which typing on withdraws. */
  let held: { text: string; give(): void; timer: NodeJS.Timeout } | undefined;
  const cards = new WeakMap<UiRequest, RequestCard>();

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

  function respond({ request_id }: UiRequest, result: UiAnswer): void {
    answered.add(request_id);
    chosen.clear();
    release();
    context.invalidate();
    attempt(context, 'not answered', async () => {
      try {
        accepted(await context.berth.call('ui_response', { request_id, result }));
      } catch (error) {
        answered.delete(request_id);
        throw error;
      }
    });
  }

  function take(request: UiRequest, { answer, label }: Choice): void {
    if (answer !== undefined) return respond(request, answer);
    context.open(
      createTextPrompt({
        title: label,
        message: subjectOf(cardOf(request)),
        onSubmit(reason) {
          if (reason.trim() === '') {
            context.notice('say why, or close this with Esc', 'alarm');
            return;
          }
          context.closeOverlay();
          respond(request, { value: 'deny', reason });
        },
      }),
    );
  }

  function askText(request: UiRequest, card: RequestCard): void {
    const params = currentParams(request);
    const options = {
      title: card.title,
      message: card.parts.map((part) => ('text' in part ? part.text : '')).join('\n'),
      initial: card.preset,
      onSubmit(text: string) {
        const read = readAnswer(request, text);
        if (!read.ok) {
          context.notice(`type ${read.hint}`, 'alarm');
          return;
        }
        context.closeOverlay();
        respond(request, read.result);
      },
    };
    const isLong = params.kind === 'question' && params.method === 'editor' && !card.isSecret;
    context.open(isLong ? createEditorPrompt(options) : createTextPrompt({ ...options, isSecret: card.isSecret }));
  }

  function askChoice(request: UiRequest, card: RequestCard, isMulti: boolean): void {
    const items = card.choices.map(({ key, label }) => ({ id: key, label }));
    const answerOf = (keys: readonly string[]): void => {
      const values = card.choices.filter(({ key }) => keys.includes(key)).map(({ answer }) => answer);
      context.closeOverlay();
      if (isMulti)
        respond(
          request,
          values.filter((value) => typeof value === 'string'),
        );
      else if (values[0] !== undefined) respond(request, values[0]);
    };
    context.open(
      createPicker({
        title: card.title,
        items: () => items,
        onPick: ({ id }) => answerOf([id]),
        ...(isMulti ? { multi: { onPick: (picked) => answerOf(picked.map(({ id }) => id)) } } : {}),
      }),
    );
  }

  function hintFor(card: RequestCard, isFocused: boolean, isEditorEmpty: boolean): string {
    if (context.isObserver) return 'you are only watching: berth answer answers it';
    const needsText = card.choices.length === 0;
    if (needsText) return 'Ctrl-O answers';
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
    context.open(createViewer({ title: 'Question', rows: (columns) => wholeCard(card, columns), keys, close: context.closeOverlay }));
  }

  function answerFromViewer(request: UiRequest, choice: Choice): void {
    context.closeOverlay();
    if (current()?.request_id === request.request_id) take(request, choice);
    else context.notice('that question is not open any more', 'alarm');
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
      const mayAnswer = isEditorEmpty && isAlone && gate.isSettled(request.request_id, nowMs);
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
      if (card.choices.length === 0) askText(request, card);
      else if (card.choices.length > 9 || isMultiple(request)) askChoice(request, card, isMultiple(request));
      else return true;
      return false;
    },
    viewAll,
    next() {
      const all = open();
      const at = all.findIndex((request) => request === current());
      preferred = all[(at + 1) % Math.max(1, all.length)]?.request_id;
      context.invalidate();
    },
  };
}

function isMultiple(request: UiRequest): boolean {
  const params = currentParams(request);
  return params.kind === 'question' && params.method === 'select' && params.multi === true;
}

/** What an answer is about, as a text. */
function subjectOf({ title, parts }: RequestCard): string {
  const subject = parts.flatMap((part) => (part.kind === 'command' || part.kind === 'call' ? [part.text] : []));
  return [title, ...subject].join('\n');
}
