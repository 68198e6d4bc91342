import { attempt, watchingText } from '../app/context.js';
import { openExternalEditor } from '../commands/external-editor.js';
import { pasteImage } from '../commands/images.js';
import { openHelp, openPalette } from '../commands/palette.js';
import { goToAsking, openSessions } from '../commands/session-picker.js';
import type { AbsenceTeller } from '../commands/absence.js';
import type { TranscriptSearch } from '../commands/transcript-search.js';
import { allActions } from '../keys/actions.js';
import type { QueueFocus } from './queue-focus.js';
import { accepted } from '../app/refusals.js';
import type { PaneParts } from './session-pane.js';

/** A second press within this time counts as twice. */
const tuning = { twiceMs: 2_000 } as const;

/** What an observer cannot do. Its Enter may still be of a command that only looks. */
const changing = new Set(allActions.filter(({ name, changes }) => changes && name !== 'send').map(({ name }) => name));

export interface PaneActions {
  /** Runs an action; false when it has nothing to do here, so that its key may mean something else. */
  run(name: string, nowMs: number): boolean;
}

interface Deps {
  parts: PaneParts;
  queue: QueueFocus;
  search: TranscriptSearch;
  absence: AbsenceTeller;
}

/** What the actions of the inventory do in a session. */
export function createPaneActions({ parts, queue, search, absence }: Deps): PaneActions {
  const { context, attached, editor, reader, answering, setFocus } = parts;
  let escapedMs = -Infinity;
  let interruptedMs = -Infinity;

  function close(nowMs: number): boolean {
    if (editor.search.state()) editor.search.cancel();
    else if (parts.focus() !== 'editor') setFocus('editor');
    else if (parts.leaveEdit()) context.notice('the waiting message stays as it was');
    else if (parts.frozen()) parts.live();
    else if (search.isOpen()) search.close();
    else if (!reader.isFollowing() && context.isObserver) reader.follow();
    else if (context.isObserver) return true;
    else if (attached.view().state.run && nowMs - escapedMs <= tuning.twiceMs) abort();
    else if (attached.view().state.run) {
      escapedMs = nowMs;
      context.notice('Esc again within 2 s stops the run', 'info', { topic: 'stop', forMs: tuning.twiceMs });
      return true;
    } else if (!reader.isFollowing()) reader.follow();
    escapedMs = -Infinity;
    return true;
  }

  function abort(): void {
    escapedMs = -Infinity;
    attempt(context, 'not stopped', async () => {
      accepted(await context.berth.call('abort', { session_id: attached.sessionId }));
    });
  }

  function clear(nowMs: number): boolean {
    if (editor.search.state()) editor.search.cancel();
    else if (!editor.isEmpty()) editor.clear();
    else if (nowMs - interruptedMs <= tuning.twiceMs) context.leave();
    else {
      interruptedMs = nowMs;
      context.notice(`Ctrl-C again detaches${attached.view().state.run ? '; the run goes on' : ''}`, 'info', {
        topic: 'detach',
        forMs: tuning.twiceMs,
      });
      return true;
    }
    interruptedMs = -Infinity;
    return true;
  }

  function focusNext(): boolean {
    const ring = ['editor', 'transcript', ...(attached.view().state.inputs.length > 0 ? ['queue' as const] : [])] as const;
    const now = parts.focus();
    const next = ring[(ring.findIndex((one) => one === now) + 1) % ring.length] ?? 'editor';
    setFocus(next);
    if (next === 'transcript') reader.choose(-1);
    return true;
  }

  function onChosen(act: (entry: NonNullable<ReturnType<typeof reader.chosen>>) => void): boolean {
    const entry = reader.chosen();
    if (entry) act(entry);
    return true;
  }

  function done(act: () => void): () => boolean {
    return () => {
      act();
      return true;
    };
  }

  const runs: Partial<Record<string, (nowMs: number) => boolean>> = {
    send() {
      // Enter in the middle of a paste never comes as a key.
      if (editor.enter(Infinity) === 'submit') parts.submit('steer');
      return true;
    },
    followUp: done(() => parts.submit('follow_up')),
    close,
    clear,
    detach() {
      if (parts.focus() === 'editor' && !editor.isEmpty()) editor.act('deleteForward');
      else context.leave();
      return true;
    },
    palette: done(() => openPalette(parts)),
    help: done(() => openHelp(parts)),
    absence: done(() => absence.open()),
    pasteImage: done(() => pasteImage(parts)),
    playOn() {
      parts.frozen()?.play();
      return parts.frozen() !== undefined;
    },
    sessions: done(() => openSessions(parts)),
    nextAsking: done(() => goToAsking(parts)),
    focusNext,
    question() {
      if (parts.focus() === 'question') setFocus('editor');
      else if (!answering.current()) context.notice('no question is open');
      else if (answering.focus()) setFocus('question');
      return true;
    },
    freeze() {
      if (parts.frozen()) parts.live();
      else if (attached.view().state.run) parts.freeze();
      else return false;
      return true;
    },
    pageUp: done(() => reader.page(-1)),
    pageDown: done(() => reader.page(1)),
    promptUp: done(() => reader.toPrompt(-1)),
    promptDown: done(() => reader.toPrompt(1)),
    toStart: done(() => reader.toStart()),
    toEnd: done(() => reader.follow()),
    searchHistory: done(() => editor.search.open()),
    externalEditor: done(() => openExternalEditor(parts)),
    lineUp: done(() => reader.choose(-1)),
    lineDown: done(() => reader.choose(1)),
    fold: () => onChosen((entry) => reader.toggleFold(entry)),
    foldKind: () =>
      onChosen((entry) => {
        reader.toggleFold(entry, true);
        context.memory.setFolds(parts.folds.remembered());
      }),
    copyEntry: () => onChosen((entry) => context.copy(reader.entryText(entry))),
    search: done(() => search.open()),
    nextMatch: done(() => search.next(1)),
    previousMatch: done(() => search.next(-1)),
    firstEntry: done(() => reader.toStart()),
    lastEntry: done(() => reader.follow()),
    branchHere: () =>
      onChosen((entry) =>
        attempt(context, 'no branch was made', async () => {
          const leaf_id = entry.id.split('/')[0] ?? '';
          const { session_id } = accepted(await context.berth.call('branch_session', { session_id: attached.sessionId, leaf_id }));
          context.goTo(session_id);
        }),
      ),
    viewQuestion: done(() => answering.viewAll()),
    nextQuestion: done(() => answering.next()),
  };

  return {
    run(name, nowMs) {
      if (context.isObserver && changing.has(name)) {
        context.notice(watchingText, 'alarm');
        return true;
      }
      const frozen = parts.frozen();
      if (frozen && name === 'edit.right' && editor.isEmpty()) return frozen.step() || true;
      return runs[name]?.(nowMs) ?? (name.startsWith('queue') && queue.act(name));
    },
  };
}
