import { editorActions } from '../editor/editor-actions.js';

/** Where the keyboard is. Keys of `always` count wherever nothing nearer has the same key. */
export type Focus = 'always' | 'editor' | 'transcript' | 'question' | 'queue' | 'overlay';

export interface Action {
  readonly name: string;
  /** For help, the palette and error messages. */
  readonly label: string;
  readonly keys: readonly string[];
  readonly focus: Focus;
  /** A short hint for the status line; without one it is only in the help. */
  readonly hint?: string;
  /** It changes something for others: an observer cannot do it. */
  readonly changes?: true;
}

/** Everything that a key can do. Key hints, help, the palette and the settings of keys are made from this table. */
export const actions = [
  { name: 'send', label: 'Send, or steer the run in progress', keys: ['enter'], focus: 'editor', hint: 'send', changes: true },
  {
    name: 'followUp',
    label: 'Send for when the run would end',
    keys: ['tab', 'alt+enter'],
    focus: 'editor',
    hint: 'follow up',
    changes: true,
  },
  { name: 'close', label: 'Close what is open; twice within 2 s: stop the run', keys: ['escape'], focus: 'always' },
  { name: 'clear', label: 'Clear the editor (Up brings it back); twice: detach', keys: ['ctrl+c'], focus: 'always' },
  { name: 'detach', label: 'Detach; the run goes on', keys: ['ctrl+d'], focus: 'always' },
  { name: 'suspend', label: 'Suspend to the shell', keys: ['ctrl+z'], focus: 'always' },
  { name: 'redraw', label: 'Redraw the screen', keys: ['ctrl+l'], focus: 'always' },
  { name: 'palette', label: 'Everything that can be done', keys: ['ctrl+p'], focus: 'always', hint: 'all' },
  { name: 'help', label: 'Help, on an empty editor', keys: ['?', 'f1'], focus: 'editor', hint: 'help' },
  { name: 'sessions', label: 'Choose a session', keys: ['ctrl+s'], focus: 'always', hint: 'sessions' },
  { name: 'nextAsking', label: 'Go to the session that has waited for you the longest', keys: ['alt+n'], focus: 'always' },
  { name: 'absence', label: 'What happened while you were away', keys: ['alt+a'], focus: 'always' },
  { name: 'focusNext', label: 'Move the keyboard: editor, transcript, queue', keys: ['shift+tab'], focus: 'always', hint: 'look around' },
  {
    name: 'question',
    label: 'Answer the question now, or go back to the editor',
    keys: ['ctrl+o'],
    focus: 'always',
    hint: 'answer',
    changes: true,
  },
  { name: 'freeze', label: 'Freeze the view, not the agent (on an empty editor)', keys: ['space'], focus: 'editor' },
  { name: 'playOn', label: 'Play a frozen view on, or stop that (on an empty editor)', keys: ['f'], focus: 'editor' },
  { name: 'pageUp', label: 'Page up', keys: ['pageUp'], focus: 'always' },
  { name: 'pageDown', label: 'Page down', keys: ['pageDown'], focus: 'always' },
  { name: 'promptUp', label: 'To the prompt before', keys: ['ctrl+up'], focus: 'always' },
  { name: 'promptDown', label: 'To the prompt after', keys: ['ctrl+down'], focus: 'always' },
  { name: 'toStart', label: 'To the first message', keys: ['alt+<'], focus: 'always' },
  { name: 'toEnd', label: 'To the end, and follow it', keys: ['alt+>'], focus: 'always' },
  { name: 'searchHistory', label: 'Search the prompts of before', keys: ['ctrl+r'], focus: 'editor' },
  { name: 'externalEditor', label: 'Write in $VISUAL or $EDITOR', keys: ['ctrl+g'], focus: 'editor' },
  { name: 'pasteImage', label: 'Paste an image from the clipboard', keys: ['ctrl+v'], focus: 'editor', changes: true },
  { name: 'lineUp', label: 'Up', keys: ['up', 'k'], focus: 'transcript', hint: 'up' },
  { name: 'lineDown', label: 'Down', keys: ['down', 'j'], focus: 'transcript', hint: 'down' },
  { name: 'fold', label: 'Fold or unfold', keys: ['enter', 'space'], focus: 'transcript', hint: 'fold' },
  {
    name: 'foldKind',
    label: 'Fold or unfold everything like it, and remember that',
    keys: ['z'],
    focus: 'transcript',
    hint: 'fold all like it',
  },
  { name: 'copyEntry', label: 'Copy', keys: ['y', 'c'], focus: 'transcript', hint: 'copy' },
  { name: 'search', label: 'Search', keys: ['/'], focus: 'transcript', hint: 'search' },
  { name: 'nextMatch', label: 'Next match', keys: ['n'], focus: 'transcript' },
  { name: 'previousMatch', label: 'Match before', keys: ['shift+n'], focus: 'transcript' },
  { name: 'firstEntry', label: 'To the first message', keys: ['g', 'home'], focus: 'transcript' },
  { name: 'lastEntry', label: 'To the end', keys: ['shift+g', 'end'], focus: 'transcript' },
  { name: 'branchHere', label: 'New session from this message', keys: ['b'], focus: 'transcript', hint: 'branch', changes: true },
  { name: 'queueUp', label: 'Message before', keys: ['up', 'k'], focus: 'queue' },
  { name: 'queueDown', label: 'Message after', keys: ['down', 'j'], focus: 'queue' },
  { name: 'queueEdit', label: 'Edit the message', keys: ['e', 'enter'], focus: 'queue', hint: 'edit', changes: true },
  { name: 'queueHold', label: 'Hold or release the message', keys: ['h', 'space'], focus: 'queue', hint: 'hold', changes: true },
  { name: 'queueEarlier', label: 'Move the message up', keys: ['shift+up', 'shift+k'], focus: 'queue', hint: 'move', changes: true },
  { name: 'queueLater', label: 'Move the message down', keys: ['shift+down', 'shift+j'], focus: 'queue', changes: true },
  { name: 'queueRemove', label: 'Remove the message', keys: ['d', 'delete', 'backspace'], focus: 'queue', hint: 'remove', changes: true },
  { name: 'viewQuestion', label: 'All of the question', keys: ['v'], focus: 'question', hint: 'view all' },
  { name: 'nextQuestion', label: 'The next question', keys: ['tab'], focus: 'question' },
] as const satisfies readonly Action[];

/** The actions of the editor, whose names begin with `edit.` in settings. */
const editActions: readonly Action[] = editorActions.map(({ name, label, keys }) => ({
  name: `edit.${name}`,
  label,
  keys,
  focus: 'editor',
}));

export const allActions: readonly Action[] = [...actions, ...editActions];
