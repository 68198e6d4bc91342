import { printableLine } from '../../view/printable.js';
import { sessionTitleText } from './names.js';
import type { SessionView } from '../../view/session-view.js';

export type Attention = 'working' | 'asks' | 'idle';

function attentionOf({ state: { run, requests } }: SessionView): Attention {
  if (requests.length > 0) return 'asks';
  return run ? 'working' : 'idle';
}

const marks: Record<Attention, string> = { working: '●', asks: '?', idle: '○' };
/** OSC 9;4: an indeterminate progress, a paused one, none. */
const progress: Record<Attention, string> = { working: '\x1b]9;4;3;0\x07', asks: '\x1b]9;4;4;100\x07', idle: '\x1b]9;4;0;0\x07' };

export interface AttentionSigns {
  /** Tells the terminal in its title and its progress what the session does: written only when that changes. */
  show(view: SessionView): void;
  /** The person looks at the terminal, or does not. */
  setFocused(focused: boolean): void;
  isFocused(): boolean;
}

/** The title, the progress and, while nobody looks, a notification when a run ends or asks. */
export function createAttentionSigns(write: (text: string) => void): AttentionSigns {
  let written = '';
  let before: Attention | undefined;
  let focused = true;
  return {
    show(view) {
      const now = attentionOf(view);
      // A tool may have set a title.
      const name = view.title === '' ? sessionTitleText(view) : printableLine(view.title);
      const sequence = `\x1b]0;${marks[now]} ${name} · berth\x07${progress[now]}`;
      if (sequence !== written) write(sequence);
      written = sequence;
      if (!focused && before !== undefined && before !== now && now !== 'working') write(notification(now, name));
      before = now;
    },
    setFocused: (value) => void (focused = value),
    isFocused: () => focused,
  };
}

function notification(now: Attention, name: string): string {
  const text = printableLine(`${name} ${now === 'asks' ? 'asks you something' : 'has ended its run'}`).replaceAll(';', ',');
  return `\x1b]9;${text}\x07\x1b]777;notify;berth;${text}\x07\x07`;
}
