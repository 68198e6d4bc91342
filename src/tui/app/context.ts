import type { Berth } from '../../client/connect.js';
import type { Overlay } from '../overlays/overlay.js';
import type { BegunAnswers } from './begun-answers.js';
import type { NoticeEnd, NoticeTopic } from './notice-board.js';
import type { ScreenMemory } from './screen-memory.js';

/** What the parts of the frontend may do to the whole. */
export interface TuiContext {
  readonly berth: Berth;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names this client to others. */
  readonly clientName: string;
  readonly isObserver: boolean;
  /** What is remembered from one screen to the next. */
  readonly memory: ScreenMemory;
  /** Shows a line above the editor until a key is pressed after it could be read, or until it is not true any more. */
  notice(text: string, level?: 'info' | 'alarm', until?: NoticeEnd): void;
  /** What was said about this is not true any more. */
  withdraw(topic: NoticeTopic): void;
  /** Something changed that may be on the screen. */
  invalidate(): void;
  open(overlay: Overlay): void;
  /** Closes the topmost overlay, or this one if it is still open. */
  closeOverlay(overlay?: Overlay): void;
  /** Texts of answers that were begun and not given, as long as the frontend is open. */
  readonly begunAnswers: BegunAnswers;
  /** Goes to another session; this one goes on. */
  goTo(sessionId: string): void;
  leave(): void;
  copy(text: string): void;
  /** Gives the terminal to another program until it ends. */
  lend<T>(use: () => T): T;
}

/** What an observer is told who wants to change something. */
export const watchingText = 'you are only watching: berth attach without --observe sends, answers and changes';

/** Runs something that may fail, and says so when it does. */
export function attempt(context: Pick<TuiContext, 'notice'>, what: string, act: () => Promise<void>): void {
  act().catch((error: unknown) => context.notice(`${what}: ${error instanceof Error ? error.message : String(error)}`, 'alarm'));
}
