import type { Berth } from '../../client/connect.js';
import type { Overlay } from '../overlays/overlay.js';
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
  /** Shows a line above the editor until the next one, or for some seconds. */
  notice(text: string, level?: 'info' | 'alarm'): void;
  /** Something changed that may be on the screen. */
  invalidate(): void;
  open(overlay: Overlay): void;
  closeOverlay(): void;
  /** Goes to another session; this one goes on. */
  goTo(sessionId: string): void;
  leave(): void;
  copy(text: string): void;
  /** Gives the terminal to another program until it ends. */
  lend<T>(use: () => T): T;
}

/** Runs something that may fail, and says so when it does. */
export function attempt(context: Pick<TuiContext, 'notice'>, what: string, act: () => Promise<void>): void {
  act().catch((error: unknown) => context.notice(`${what}: ${error instanceof Error ? error.message : String(error)}`, 'alarm'));
}
