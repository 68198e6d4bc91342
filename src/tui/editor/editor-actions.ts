/** What a key does in the editor. The keys that send, close, search and leave are those of the app. */
export const editorActions = [
  { name: 'left', label: 'Left', keys: ['left', 'ctrl+b'] },
  { name: 'right', label: 'Right', keys: ['right', 'ctrl+f'] },
  { name: 'up', label: 'Up, or to the text before', keys: ['up'] },
  { name: 'down', label: 'Down, or to the text after', keys: ['down', 'ctrl+n'] },
  { name: 'wordLeft', label: 'To the beginning of the word', keys: ['alt+b', 'alt+left', 'ctrl+left'] },
  { name: 'wordRight', label: 'To the end of the word', keys: ['alt+f', 'alt+right', 'ctrl+right'] },
  { name: 'lineStart', label: 'To the beginning of the line', keys: ['home', 'ctrl+a'] },
  { name: 'lineEnd', label: 'To the end of the line', keys: ['end', 'ctrl+e'] },
  { name: 'textStart', label: 'To the beginning of the text', keys: ['ctrl+home'] },
  { name: 'textEnd', label: 'To the end of the text', keys: ['ctrl+end'] },
  { name: 'newline', label: 'New line', keys: ['shift+enter', 'ctrl+j'] },
  { name: 'deleteBackward', label: 'Delete the character before', keys: ['backspace', 'ctrl+h', 'shift+backspace'] },
  { name: 'deleteForward', label: 'Delete the character after', keys: ['delete', 'shift+delete'] },
  { name: 'deleteToSpace', label: 'Cut back to a space', keys: ['ctrl+w'] },
  { name: 'deleteWordBackward', label: 'Cut the word before', keys: ['alt+backspace', 'ctrl+backspace'] },
  { name: 'deleteWordForward', label: 'Cut the word after', keys: ['alt+d', 'alt+delete', 'ctrl+delete'] },
  { name: 'deleteToLineEnd', label: 'Cut to the end of the line', keys: ['ctrl+k'] },
  { name: 'deleteToLineStart', label: 'Cut to the beginning of the line', keys: ['ctrl+u'] },
  { name: 'yank', label: 'Insert what was cut', keys: ['ctrl+y'] },
  { name: 'yankPop', label: 'Insert what was cut before that instead', keys: ['alt+y'] },
  { name: 'transpose', label: 'Swap the characters around the cursor', keys: ['ctrl+t'] },
  { name: 'undo', label: 'Undo', keys: ['ctrl+_', 'ctrl+-', 'ctrl+shift+-'] },
  { name: 'redo', label: 'Redo', keys: ['alt+_', 'alt+shift+-', 'ctrl+alt+-'] },
  { name: 'expandPlaceholder', label: 'Put a pasted text in place of its placeholder', keys: ['ctrl+x'] },
] as const satisfies readonly { name: string; label: string; keys: readonly string[] }[];

export type EditorActionName = (typeof editorActions)[number]['name'];
