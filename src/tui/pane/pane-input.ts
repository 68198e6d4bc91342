import { addImageFile, imagePathIn } from '../commands/images.js';
import type { EditorActionName } from '../editor/editor-actions.js';
import type { TerminalInput } from '../kit/terminal-input.js';
import type { Spot } from '../transcript/reader.js';
import type { PaneActions } from './pane-actions.js';
import type { PaneParts } from './session-pane.js';
import type { Laid } from './session-screen.js';

const layout = { wheelRows: 3 } as const;

interface Deps {
  parts: PaneParts;
  actions: PaneActions;
  laid(): Laid | undefined;
}

export interface PaneInput {
  onInput(input: TerminalInput, nowMs: number): void;
}

/** What keys, texts, pastes and the mouse do to a session. */
export function createPaneInput({ parts, actions, laid }: Deps): PaneInput {
  const { context, editor, reader, folds, answering, keyMap } = parts;
  let dragFrom: Spot | undefined;

  function onText(text: string, isAlone: boolean, nowMs: number): void {
    const withdrawn = answering.withdraw();
    if (withdrawn !== undefined) editor.type(withdrawn, nowMs);
    const focus = parts.focus();
    const isSearching = editor.search.state() !== undefined;
    const how = { isFocused: focus === 'question', isEditorEmpty: editor.isEmpty(), isAlone, nowMs };
    // Keys of the transcript and the queue are theirs.
    const mayAnswer = (focus === 'editor' && !isSearching) || focus === 'question';
    if (mayAnswer && answering.onText(text, how)) return;
    const action = keyMap.find(text === ' ' ? 'space' : text, focus);
    const mayAct = focus !== 'editor' || (editor.isEmpty() && isAlone && !isSearching);
    if (action !== undefined && mayAct && actions.run(action, nowMs)) return;
    if (focus !== 'editor') {
      // Whoever types a text means the editor; a lone letter may be a slip.
      if (isAlone) return context.notice(`${text} does nothing here; Esc goes back to the editor`);
      parts.setFocus('editor');
    }
    if (!editor.type(text, nowMs)) context.notice('too long: the text was not taken', 'alarm');
  }

  function onPaste(text: string): void {
    parts.setFocus('editor');
    const image = imagePathIn(text);
    if (image !== undefined) addImageFile(parts, image);
    else if (!editor.paste(text)) context.notice('too long: the text was not taken', 'alarm');
  }

  function onKey(key: string, nowMs: number): void {
    const focus = parts.focus();
    if (key === 'enter' ? answering.confirm() : answering.withdraw() !== undefined) return;
    if (focus === 'question' && answering.onKey(key)) return;
    if (focus === 'editor' && searchKeys(key)) return;
    if (focus === 'editor' && editor.completion.shown(1) && completionKeys[key]?.()) return;
    const action = keyMap.find(key, focus);
    if (action === undefined) return;
    if (!action.startsWith('edit.')) actions.run(action, nowMs);
    else if (focus === 'editor' && !actions.run(action, nowMs)) editor.act(action.slice('edit.'.length) as EditorActionName);
  }

  /** Keys of the search through the history. */
  function searchKeys(key: string): boolean {
    const { search } = editor;
    if (!search.state()) return false;
    const keys: Partial<Record<string, () => void>> = {
      'ctrl+r': search.older,
      up: search.older,
      'ctrl+s': search.newer,
      down: search.newer,
      enter: search.accept,
      tab: search.accept,
      right: search.accept,
      backspace: search.backspace,
      escape: search.cancel,
      'ctrl+c': search.cancel,
      'ctrl+g': search.cancel,
    };
    keys[key]?.();
    return keys[key] !== undefined;
  }

  const completionKeys: Partial<Record<string, () => boolean>> = {
    up: () => moveCompletion(-1),
    down: () => moveCompletion(1),
    tab: () => editor.completion.accept(),
    enter: () => editor.completion.target()?.kind === 'path' && !editor.completion.isWritten() && editor.completion.accept(),
    escape: () => editor.completion.dismiss(),
  };

  function moveCompletion(by: number): boolean {
    editor.completion.move(by);
    return true;
  }

  function onMouse({ action, row, column }: Extract<TerminalInput, { kind: 'mouse' }>): void {
    if (action === 'wheel_up' || action === 'wheel_down')
      return reader.scroll(action === 'wheel_up' ? -layout.wheelRows : layout.wheelRows);
    const screen = laid();
    if (!screen?.window) return;
    const spot = { row: row - screen.windowTop, column };
    const place = screen.window.places[spot.row];
    if (action === 'press') {
      reader.clearSelection();
      dragFrom = place ? spot : undefined;
      if (row >= screen.cardTop && row < screen.cardTop + screen.cardRows && parts.focus() !== 'question') parts.act('question');
    } else if (action === 'drag' && dragFrom) reader.select(dragFrom, spot);
    else if (action === 'release' && dragFrom) {
      const text = reader.selection();
      if (text !== '') context.copy(text);
      else if (place && folds.canFold(place.entry)) reader.toggleFold(place.entry);
      dragFrom = undefined;
    }
  }

  return {
    onInput(input, nowMs) {
      if (input.kind === 'text') onText(input.text, input.isAlone, nowMs);
      else if (input.kind === 'paste') onPaste(input.text);
      else if (input.kind === 'key') onKey(input.key, nowMs);
      else if (input.kind === 'mouse') {
        onMouse(input);
        return;
      }
      answering.keyPressed(nowMs);
    },
  };
}
