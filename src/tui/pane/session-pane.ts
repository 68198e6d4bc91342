import type { AttachedSession, Heard } from '../../client/attach.js';
import type { QueuedInput, WireEvent } from '../../protocol/events.js';
import { limits } from '../../protocol/limits.js';
import type { Message } from '../../protocol/messages.js';
import { noticesOf, resolvedNotice } from '../../view/notices.js';
import { printableLine } from '../../view/printable.js';
import type { SentInput } from '../../view/sent-inputs.js';
import type { SessionView } from '../../view/session-view.js';
import { createAbsenceTeller } from '../commands/absence.js';
import { createSlashCommands } from '../commands/slash-commands.js';
import { createTranscriptSearch } from '../commands/transcript-search.js';
import type { Connection } from '../dock/header.js';
import type { CommandEntry } from '../editor/completion/targets.js';
import { createEditor, type Editor } from '../editor/editor.js';
import type { TerminalInput } from '../kit/terminal-input.js';
import type { Overlay } from '../overlays/overlay.js';
import type { Frame } from '../screen/frame.js';
import { createFolds, type Folds } from '../transcript/folds.js';
import { createReader, type Reader } from '../transcript/reader.js';
import type { Focus } from '../keys/actions.js';
import { createAnswering, type Answering } from './answering.js';
import { attempt, type TuiContext } from '../app/context.js';
import { accepted } from '../app/refusals.js';
import { createDraftKeeper, type DraftKeeper } from './draft-keeper.js';
import { createFrozenView, type FrozenView } from './frozen-view.js';
import { hintsFor } from '../keys/hints.js';
import type { KeyMap } from '../keys/key-map.js';
import { isKnownEvent } from './known-events.js';
import { createNeighbours } from './neighbours.js';
import { outlivedBy, topicOf } from './notice-topics.js';
import type { BoardNotice } from '../app/notice-board.js';
import { createPaneActions } from './pane-actions.js';
import { createPaneInput } from './pane-input.js';
import { createQueueFocus } from './queue-focus.js';
import { layScreen, type Laid } from './session-screen.js';
import { createSubmitter } from './submitting.js';

export interface PaintFacts {
  columns: number;
  rows: number;
  overlay: Overlay | undefined;
  notices: readonly BoardNotice[];
  nowMs: number;
  tick: number | undefined;
}

/** One session on the screen: what is shown of it, and what keys do to it. */
export interface SessionPane {
  readonly attached: AttachedSession;
  hear(heard: Heard): void;
  settle(sent: SentInput): void;
  frame(facts: PaintFacts): Frame;
  painted(nowMs: number): void;
  onInput(input: TerminalInput, nowMs: number): void;
  isWorking(): boolean;
  /** Other sessions may have changed. */
  lookAround(): void;
  /** Resolves when the draft is stored, or cannot be. */
  leaving(): Promise<void>;
  close(): void;
}

/** The parts of a pane that actions and commands work on. */
export interface PaneParts {
  readonly context: TuiContext;
  readonly attached: AttachedSession;
  readonly keyMap: KeyMap;
  readonly editor: Editor;
  readonly reader: Reader;
  readonly folds: Folds;
  readonly answering: Answering;
  readonly drafts: DraftKeeper;
  view(): SessionView;
  focus(): Focus;
  setFocus(focus: Focus): void;
  frozen(): FrozenView | undefined;
  freeze(): void;
  /** Shows an earlier view, and plays events on it that are known already. */
  replay(start: SessionView, events: readonly WireEvent[]): void;
  live(): void;
  /** Puts a text into the editor in front of what is there. */
  giveBack(text: string): void;
  submit(how: 'steer' | 'follow_up'): void;
  /** Opens the text of a waiting message in the editor; sending it changes the message. */
  edit(input: QueuedInput): void;
  /** Leaves a waiting message that is being edited as it is; false when none is. */
  leaveEdit(): boolean;
  commands(): readonly CommandEntry[];
  runCommand(text: string): void;
  /** Runs an action of the inventory by its name. */
  act(name: string): void;
  search(words: string): void;
}

interface Deps {
  context: TuiContext;
  attached: AttachedSession;
  keyMap: KeyMap;
}

export function createSessionPane({ context, attached, keyMap }: Deps): SessionPane {
  const { berth } = context;
  let focus: Focus = 'editor';
  let connection: Connection = 'here';
  let laid: Laid | undefined;
  let frozen: FrozenView | undefined;
  let runSinceMs: number | undefined;

  const commands = createSlashCommands(() => parts);
  const editor = createEditor(() => commands.entries());
  const folds = createFolds(context.memory.folds());
  const reader = createReader({
    attached,
    isObserver: context.isObserver,
    folds,
    readPage,
    invalidate: context.invalidate,
    onProblem: (text) => context.notice(text, 'alarm'),
  });
  const answering = createAnswering({
    context,
    attached,
    release: () => {
      if (focus === 'question') setFocus('editor');
    },
    putAway: editor.putAway,
  });
  const drafts = createDraftKeeper({ context, sessionId: attached.sessionId, editor });
  const neighbours = createNeighbours(context, attached.sessionId);
  const parts: PaneParts = {
    context,
    attached,
    keyMap,
    editor,
    reader,
    folds,
    answering,
    drafts,
    view,
    focus: () => focus,
    setFocus,
    frozen: () => frozen,
    freeze,
    replay,
    live,
    giveBack,
    submit,
    edit: (input) => submitter.edit(input),
    leaveEdit() {
      const isEditing = submitter.isEditing();
      if (isEditing) submitter.leaveEdit();
      return isEditing;
    },
    commands: () => commands.entries(),
    runCommand: (text) => void commands.run(text),
    act: (name) => void actions.run(name, performance.now()),
    search: (words) => search.search(words),
  };
  const search = createTranscriptSearch(parts);
  const absence = createAbsenceTeller(parts);
  const queue = createQueueFocus({ context, attached, edit: parts.edit, release: () => setFocus('editor') });
  const submitter = createSubmitter(parts, commands);
  const actions = createPaneActions({ parts, queue, search, absence });
  const input = createPaneInput({ parts, actions, laid: () => laid });

  editor.onChange((what) => {
    if (what !== 'text') return;
    submitter.changed();
    drafts.changed();
    submitter.completePaths();
  });
  drafts.load();
  submitter.loadHistory();
  neighbours.look();
  absence.check();

  async function readPage(range: { before: string } | { after: string }): Promise<{ messages: Message[]; hasMore: boolean }> {
    const request = { session_id: attached.sessionId, limit: limits.viewPageRowsDefault, ...range };
    const { messages, has_more: hasMore } = accepted(await berth.call('get_messages', request));
    return { messages, hasMore };
  }

  function view(): SessionView {
    return frozen?.view() ?? attached.view();
  }

  function setFocus(next: Focus): void {
    if (focus === 'transcript' && next !== 'transcript') reader.choose(undefined);
    focus = next;
    context.invalidate();
  }

  function freeze(): void {
    frozen = createFrozenView(attached.view(), context.invalidate);
    context.invalidate();
  }

  function replay(start: SessionView, events: readonly WireEvent[]): void {
    frozen?.stop();
    frozen = createFrozenView(start, context.invalidate);
    for (const event of events) frozen.keep(event);
    frozen.play();
  }

  function live(): void {
    context.withdraw('absence');
    frozen?.stop();
    frozen = undefined;
    reader.follow();
    context.invalidate();
  }

  function submit(how: 'steer' | 'follow_up'): void {
    if (connection === 'gone') attempt(context, 'the daemon was not started', () => berth.start());
    submitter.submit(how);
  }

  function placeholderText(): string {
    if (context.isObserver) return 'you are only watching; ? tells what can be done';
    if (answering.wantsText()) return 'Ctrl-O answers the question; a text here steers the run';
    return attached.view().state.run ? 'steer the run, or Tab to follow up' : 'ask for something, or ? for help';
  }

  function giveBack(text: string): void {
    const now = editor.text();
    if (now.trim() === text.trim()) return;
    editor.setText(now.trim() === '' ? text : `${text}\n\n${now}`);
  }

  function hearEvent(event: WireEvent): void {
    if (!isKnownEvent(event.type)) return reader.addEvent(event);
    if (frozen && !frozen.keep(event)) live();
    if (event.type === 'agent_start') runSinceMs = Date.now();
    if (event.type === 'agent_end') runSinceMs = undefined;
    for (const topic of outlivedBy(event)) context.withdraw(topic);
    if (event.type === 'client_update') neighbours.look();
    if (event.type === 'ui_resolved') {
      const isOwn = event.payload.by.includes(berth.hello().client_id);
      const notice = resolvedNotice(event.payload, isOwn);
      if (!isOwn && !context.isObserver) context.notice(`the question was ${notice.text}`, notice.level);
      answering.resolved(event.payload.request_id);
    }
    if (event.type === 'ui_set_editor_text' && !context.isObserver) {
      if (editor.isEmpty()) editor.setText(event.payload.params.text);
      else context.notice('the agent offers a text for the editor: clear the editor and it comes with the next offer');
    }
    if (event.type === 'draft_update' && event.payload.draft_id !== drafts.ownId()) {
      if (event.payload.chars === 0) context.withdraw('draft');
      else if (editor.isEmpty() && !context.isObserver)
        context.notice(`${printableLine(event.payload.by)} writes a draft here; /draft takes it`, 'info', { topic: 'draft' });
    }
    for (const { about, level, text } of noticesOf(event)) {
      const topic = topicOf(event);
      if (about !== 'queue' && about !== 'run') context.notice(`${about}: ${text}`, level, topic && { topic });
    }
    submitter.checkEdited();
    if (event.type === 'queue_update' && event.payload.op === 'dropped') submitter.takeBack();
    if (focus === 'queue' && attached.view().state.inputs.length === 0) setFocus('editor');
  }

  function hear(heard: Heard): void {
    if (heard.kind === 'event') return hearEvent(heard.event);
    if (heard.kind === 'reset') {
      frozen?.stop();
      frozen = undefined;
      const asked = answering.dialogFor();
      if (asked !== undefined && answering.open().every(({ request_id }) => request_id !== asked)) answering.resolved(asked);
      submitter.checkEdited();
      return;
    }
    connection = heard.kind === 'back' ? 'here' : heard.kind;
    if (heard.kind === 'back') {
      context.notice('the daemon is back', 'info', { topic: 'connection' });
      void drafts.flush();
      neighbours.look();
    } else neighbours.forget();
    if (heard.kind === 'gone') {
      const why = heard.why === undefined ? '' : `: ${heard.why}`;
      const remedy = context.isObserver ? 'this screen goes on when one does' : 'what you send is kept, and Enter starts it';
      context.notice(`no daemon runs${why}; ${remedy}`, 'alarm', { topic: 'connection' });
    }
    if (heard.kind === 'lost' && heard.why !== undefined) context.notice(`${heard.why}; still trying`, 'alarm', { topic: 'connection' });
  }

  return {
    attached,
    hear,
    settle: (sent) => submitter.settle(sent),
    frame({ columns, rows, overlay, notices, nowMs, tick }) {
      laid = layScreen(
        {
          attached,
          view: view(),
          reader,
          editor,
          answering,
          focus,
          overlay,
          connection,
          others: neighbours.names(),
          ownName: context.clientName,
          isObserver: context.isObserver,
          host: berth.transport.host,
          home: context.env.HOME,
          notices,
          hints: hintsFor(parts, overlay !== undefined),
          askedElsewhere: neighbours.asking(),
          chosenInput: focus === 'queue' ? queue.chosen()?.input_id : undefined,
          runSinceMs,
          nowMs,
          tick,
          ruler: frozen
            ? frozenText(frozen)
            : submitter.isEditing()
              ? 'editing a waiting message: Enter changes it, Esc leaves it as it was'
              : '',
          placeholder: placeholderText(),
        },
        columns,
        rows,
      );
      return laid.frame;
    },
    painted: (nowMs) => answering.painted(nowMs),
    onInput: input.onInput,
    isWorking: () => view().state.run !== null || view().state.compaction !== null,
    lookAround: neighbours.look,
    leaving() {
      context.memory.setSeen(attached.sessionId, attached.view().seq, Date.now());
      return drafts.flush();
    },
    close() {
      frozen?.stop();
      neighbours.close();
      attached.close();
    },
  };
}

function frozenText(frozen: FrozenView): string {
  const ahead = frozen.behind() === 0 ? '' : `, live is ${frozen.behind()} events ahead`;
  return `frozen${ahead}: → steps, f plays on, Space goes live`;
}
