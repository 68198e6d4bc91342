import { previousBorder } from './borders.js';
import { createCompletion, type Completion } from './completion/completion.js';
import type { CommandEntry } from './completion/targets.js';
import { createDocument } from './document.js';
import { createEditCommands } from './edit-commands.js';
import type { EditorActionName } from './editor-actions.js';
import { createHistorySearch, type HistorySearch } from './history-search.js';
import { createHistory, draftPlace } from './history.js';
import { inputImagesMax, jsonBytes, normalizeText } from './input-size.js';
import { createKillRing } from './kill-ring.js';
import { createPasteBurst, isLongPaste } from './paste-burst.js';
import { createRecall } from './recall.js';
import type { Line, Position } from './text-buffer.js';
import { createTokens, type Image, type ImageToken, type Tokens } from './tokens.js';

/** What a frame shows of the editor. */
export interface DrawnText {
  readonly lines: readonly Line[];
  readonly cursor: Position;
  readonly isEmpty: boolean;
  readonly tokens: Pick<Tokens, 'labelOf' | 'widthOf'>;
}

/** The message editor: a text with a cursor, undo, history and completion. It does no I/O, and times come in as arguments. */
export interface Editor {
  /** The text with its placeholders expanded; images are labels in it. */
  text(): string;
  /** The text with its placeholders as labels. */
  shownText(): string;
  isEmpty(): boolean;
  /** Replaces the text. Labels of images that the editor still knows become these images again. */
  setText(text: string): void;
  /** Empties the editor; Up, the search and undo bring the text back. */
  clear(): void;
  /** Adds a text to the history, as if it had been cleared. */
  putAway(text: string): void;
  /** Takes the text out and adds it to the history. The images are in the order of the text. */
  take(): { text: string; tokens: ImageToken[] };
  /** Types a text; false, and nothing has changed, when the text would be too large to send. */
  type(text: string, nowMs: number): boolean;
  /** Inserts a text; a long one as a placeholder. False as for `type`. */
  paste(text: string): boolean;
  addImage(image: Image): boolean;
  /** Inserts a text that is shown as a label. */
  addText(label: string, text: string): boolean;
  /** Enter was pressed: the text is to be sent, or a line end was inserted or a match of the search accepted. */
  enter(nowMs: number): 'submit' | 'newline';
  act(name: EditorActionName): void;
  /** Calls back after a change of the text, or of anything else that is shown. Returns what ends that. */
  onChange(listener: (what: 'text' | 'cursor') => void): () => void;
  /** What is stored as a draft. */
  snapshot(): { text: string };
  /** Texts of before, newest first. */
  loadHistory(texts: readonly string[]): void;
  drawn(): DrawnText;
  /** The columns that rows are wrapped to. */
  setColumns(columns: number): void;
  readonly completion: Completion;
  readonly search: HistorySearch;
}

const layout = { columns: 80 } as const;

export function createEditor(commands: () => readonly CommandEntry[] = () => []): Editor {
  const listeners = new Set<(what: 'text' | 'cursor') => void>();
  const kills = createKillRing();
  const tokens: Tokens = createTokens(function* () {
    yield document.text();
    yield* document.undoTexts();
    yield* kills.texts();
    yield* history.texts();
  });
  const document = createDocument(tokens, draftPlace);
  const history = createHistory(tokens.bytesOf);
  const recall = createRecall(document, history);
  const burst = createPasteBurst(document, tokens);
  const edits = createEditCommands({ document, tokens, kills, recall, columns: () => columns });
  const search = createHistorySearch({
    history,
    show: tokens.show,
    shorten: (query) => query.slice(0, previousBorder(query, query.length)),
    recall: (entry) => recall.to(entry),
  });
  const completion = createCompletion({ document, commands, isHidden: () => search.state() !== undefined });
  let columns: number = layout.columns;
  let depth = 0;

  /** Runs a change and tells of it once, however many it is made of. */
  function change<T>(run: () => T): T {
    const before = document.revision();
    depth++;
    let result: T;
    try {
      result = run();
    } finally {
      depth--;
    }
    if (depth === 0) {
      completion.refresh();
      const what = document.revision() === before ? 'cursor' : 'text';
      for (const listener of [...listeners]) listener(what);
    }
    return result;
  }

  /** A change that is no typing. */
  function interrupt<T>(run: () => T): T {
    return change(() => {
      burst.end();
      edits.interrupt();
      document.seal();
      const result = run();
      document.seal();
      return result;
    });
  }

  function type(text: string, nowMs: number): boolean {
    return change(() => {
      const typed = normalizeText(text);
      if (search.state()) {
        search.type(typed);
        return true;
      }
      edits.interrupt();
      const isAbsorbed = burst.absorb(typed, nowMs);
      if (isAbsorbed !== undefined) return isAbsorbed;
      if (!document.insert(typed, { kind: 'type', atMs: nowMs })) return false;
      burst.typed(typed);
      return true;
    });
  }

  function enter(nowMs: number): 'submit' | 'newline' {
    if (search.state()) {
      interrupt(() => search.accept());
      return 'newline';
    }
    if (burst.holdsEnter(nowMs)) {
      type('\n', nowMs);
      return 'newline';
    }
    const { line, unit } = document.cursor();
    const text = document.lineText(line);
    if (unit !== text.length || !text.endsWith('\\')) return 'submit';
    interrupt(() => document.edit({ line, unit: unit - 1 }, { line, unit }, '\n'));
    return 'newline';
  }

  function act(name: EditorActionName): void {
    change(() => {
      burst.end();
      if (search.state() && searched(name)) return;
      edits.run(name);
    });
  }

  /** What an action means to an open search; other actions take the match first. */
  function searched(name: EditorActionName): boolean {
    if (name === 'deleteBackward') search.backspace();
    else if (name === 'up') search.older();
    else if (name === 'down') search.newer();
    else if (name === 'undo') search.cancel();
    else {
      search.accept();
      return false;
    }
    return true;
  }

  /** Inserts a placeholder, which is made only when there is room for what it stands for. */
  function insertToken(bytes: number, make: () => string | undefined): boolean {
    const character = document.hasRoom(bytes) ? make() : undefined;
    return character !== undefined && document.insert(character);
  }

  return {
    text: () => tokens.expand(document.text()),
    shownText: () => tokens.show(document.text()),
    isEmpty: document.isEmpty,
    setText: (text) => interrupt(() => document.replaceAll(tokens.linkImages(normalizeText(text)))),
    clear() {
      interrupt(() => {
        search.cancel();
        if (document.isEmpty()) return;
        history.settle(document.place());
        history.add(document.text());
        document.replaceAll('', { place: draftPlace });
      });
    },
    putAway: (text) => change(() => history.add(normalizeText(text))),
    take: () =>
      interrupt(() => {
        search.cancel();
        const text = document.text();
        const taken = { text: tokens.expand(text), tokens: tokens.imagesIn(text) };
        history.settle(document.place());
        history.add(text);
        document.reset(draftPlace);
        return taken;
      }),
    type,
    paste: (text) =>
      interrupt(() => {
        burst.stop();
        const pasted = normalizeText(text);
        if (search.state()) {
          search.type(pasted);
          return true;
        }
        return isLongPaste(pasted) ? insertToken(jsonBytes(pasted), () => tokens.addPaste(pasted)) : document.insert(pasted);
      }),
    addImage: (image) =>
      interrupt(
        () => tokens.imagesIn(document.text()).length < inputImagesMax && insertToken(image.data.length, () => tokens.addImage(image)),
      ),
    addText: (label, text) =>
      interrupt(() => {
        const added = normalizeText(text);
        return insertToken(jsonBytes(added), () => tokens.addText(label, added));
      }),
    enter,
    act,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    snapshot: () => ({ text: tokens.expand(document.text()) }),
    loadHistory: (texts) => change(() => history.load(texts.map(normalizeText))),
    drawn() {
      const match = search.drawn();
      return { tokens, isEmpty: document.isEmpty() && !match, lines: document.lines(), cursor: document.cursor(), ...match };
    },
    setColumns(next) {
      columns = Math.max(1, next);
    },
    completion: {
      ...completion,
      move: (by) => change(() => completion.move(by)),
      accept: () => interrupt(() => completion.accept()),
      dismiss: () => change(() => completion.dismiss()),
      givePaths: (query, files) => change(() => completion.givePaths(query, files)),
      giveArguments: (query, items) => change(() => completion.giveArguments(query, items)),
    },
    search: {
      state: search.state,
      open: () => change(() => search.open()),
      type: (text) => change(() => search.type(text)),
      backspace: () => change(() => search.backspace()),
      older: () => change(() => search.older()),
      newer: () => change(() => search.newer()),
      accept: () => interrupt(() => search.accept()),
      cancel: () => change(() => search.cancel()),
    },
  };
}
