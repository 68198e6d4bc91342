import { marks } from '../rows/marks.js';

export interface HelpGroup {
  readonly group: string;
  /** What something is, and how it is written or looks. */
  readonly entries: readonly (readonly [label: string, detail: string])[];
}

/** What no key and no command says of itself. */
export function helpTexts(isObserver: boolean): readonly HelpGroup[] {
  return [
    ...(isObserver ? [] : [sending, holding, questions]),
    {
      group: 'The transcript',
      entries: [
        ['Fold or unfold a call or a thought', 'click it'],
        ['Select and copy the text, without bars and wraps', 'drag'],
        ['Select as the terminal does it', 'hold Shift'],
        ['Copying inside tmux', 'needs set -g set-clipboard on'],
        ['A call: waits, runs, is done', `${marks.waiting} ${marks.running} ${marks.ok}`],
        ['A call: failed, never ran, was interrupted', `${marks.failed} ${marks.skipped} ${marks.interrupted}`],
      ],
    },
    {
      group: 'Good to know',
      entries: [
        ['The daemon keeps the session: close the terminal whenever you like', 'berth attach comes back'],
        ['Other keys', 'keys in config.json, with the names that are found here'],
        ['A terminal that a killed program left in a mode', 'berth reset'],
        ['Line by line, for pipes and screen readers', 'berth attach --plain'],
        ['Without colours, without other signs than ASCII', 'NO_COLOR=1, LANG=C'],
      ],
    },
  ];
}

const sending: HelpGroup = {
  group: 'What became of what you sent',
  entries: [
    ['Kept on this computer while the daemon is away: it goes out once, by itself', marks.kept],
    ['The daemon has it, and it waits for its turn', marks.ok],
    ['Held until you release it', marks.held],
    ['Part of what the model is asked', `${marks.ok}${marks.ok}`],
  ],
};

const holding: HelpGroup = {
  group: 'What a message can hold',
  entries: [
    ['The path of a file, and its lines', '@path, @path#L10-L20'],
    ['Run a command of your own: its output goes with the message', '!command'],
    ['Run a command of your own, and show its output to you alone', '!!command'],
    ['A text that begins with /', '//text'],
    ['An image', 'paste its path, or the image'],
    ['What you have begun to write is kept by the daemon, and comes back wherever you attach', '/draft lists those of others'],
  ],
};

const questions: HelpGroup = {
  group: 'Questions',
  entries: [
    ['A lone key answers when the card has stood for 400 ms, and nothing is typed', 'the keys are on the card'],
    ['An answer that was begun and closed is there again', 'Esc keeps it'],
    ['What cannot be undone is red, and answered only when the card has the keyboard', 'Ctrl-O'],
  ],
};
