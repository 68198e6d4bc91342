import { setTimeout as delay } from 'node:timers/promises';
import type { AttachedSession, Heard } from '../../client/attach.js';
import type { Berth } from '../../client/connect.js';
import { toAscii } from '../rows/ascii.js';
import { chooseLook } from '../rows/look.js';
import { copySequence } from '../screen/clipboard.js';
import { createFramePainter } from '../screen/frame.js';
import { modifyOtherKeys } from '../screen/terminal-modes.js';
import { openTerminal, type Terminal } from '../screen/terminal.js';
import type { TerminalInput } from '../kit/terminal-input.js';
import type { Overlay } from '../overlays/overlay.js';
import { createAttentionSigns } from './attention.js';
import { createBegunAnswers } from './begun-answers.js';
import type { TuiContext } from './context.js';
import { createFrameLoop } from './frame-loop.js';
import { createKeyMap, type KeySettings } from '../keys/key-map.js';
import { createNoticeBoard } from './notice-board.js';
import { createScreenMemory, type MemoryFile } from './screen-memory.js';
import { createSessionPane, type SessionPane } from '../pane/session-pane.js';
import { watchAround } from '../../client/watch-around.js';
import { noticesOf } from '../../view/notices.js';

export interface TuiOptions {
  berth: Berth;
  sessionId: string;
  /** How the daemon tells others of this client. */
  clientName: string;
  /** Only looks: sends and answers nothing. */
  isObserver?: boolean;
  keys?: KeySettings;
  memoryFile: MemoryFile;
  /** Said when the screen opens. */
  notices?: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  stdin: typeof process.stdin;
  stdout: typeof process.stdout;
}

export interface TuiEnd {
  /** The session that was open last, and what is to be said of it once the screen is gone. */
  attached: AttachedSession;
  /** The terminal went away: there is nobody to say it to. */
  isGone: boolean;
}

/** A draft has so long to be stored when the person leaves. */
const tuning = { spinnerMs: 250, leavingMs: 1_000, stoppedMs: 100 } as const;
const leaveSignals = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

/** Opens the terminal frontend on a session until the person leaves. What runs goes on. */
export async function openTui(options: TuiOptions): Promise<TuiEnd> {
  const { berth, env, stdin, stdout } = options;
  const keys = createKeyMap(options.keys);
  const { keyMap, problems: keyProblems } = keys;
  let look = chooseLook({ env, background: 'dark' });
  let overlays: Overlay[] = [];
  let spinner: NodeJS.Timeout | undefined;
  let watch: { close(): void } | undefined;
  let tick = 0;
  let hasKittyKeyboard = false;
  let isGone = false;
  let leave: () => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const left = new Promise<void>((resolve, reject) => {
    leave = resolve;
    fail = reject;
  });
  const board = createNoticeBoard(
    () => loop.invalidate(),
    () => performance.now(),
  );
  const signs = createAttentionSigns((text) => terminal.write(look.isAscii ? toAscii(text) : text));
  const loop = createFrameLoop(paint);
  const painter = createFramePainter((text) => terminal.write(text));

  const context: TuiContext = {
    berth,
    env,
    clientName: options.clientName,
    isObserver: options.isObserver ?? false,
    memory: createScreenMemory(options.memoryFile),
    notice: board.say,
    withdraw: board.withdraw,
    begunAnswers: createBegunAnswers(),
    invalidate: loop.invalidate,
    open(overlay) {
      overlays = [...overlays, overlay];
      loop.invalidate();
    },
    closeOverlay(overlay = overlays.at(-1)) {
      overlays = overlays.filter((one) => one !== overlay);
      loop.invalidate();
    },
    goTo(sessionId) {
      open(sessionId).then(switchTo, (error: unknown) => board.say(`not opened: ${String(error)}`, 'alarm'));
    },
    leave: () => leave(),
    copy(text) {
      const { sequence, note } = copySequence(text, env);
      terminal.write(sequence);
      board.say(note, sequence === '' ? 'alarm' : 'info');
    },
    lend(use) {
      terminal.suspend();
      try {
        return use();
      } finally {
        terminal.resume();
        painter.forget();
        loop.invalidate();
      }
    },
  };

  let pane = createSessionPane({ context, attached: await attach(options.sessionId), keyMap });
  const terminal: Terminal = openTerminal(
    { stdin, stdout },
    {
      onInput: guarded(onInput),
      onResize() {
        painter.forget();
        loop.invalidate();
      },
      onGone() {
        isGone = true;
        leave();
      },
    },
  );

  async function attach(sessionId: string): Promise<AttachedSession> {
    return berth.attach(sessionId, { onDelivered: (sent) => pane.settle(sent), onNotice: (text) => board.say(text, 'alarm') });
  }

  async function open(sessionId: string): Promise<SessionPane> {
    return createSessionPane({ context, attached: await attach(sessionId), keyMap });
  }

  function switchTo(next: SessionPane): void {
    const before = pane;
    pane = next;
    overlays = [];
    board.clear();
    void before.leaving().finally(() => before.close());
    listen(next);
    signs.show(next.attached.view());
    loop.invalidate();
  }

  function listen(listened: SessionPane): void {
    void (async () => {
      try {
        for await (const heard of listened.attached) if (listened === pane) hear(heard);
        if (listened === pane && listened.attached.view().state.deleted) leave();
      } catch (error) {
        if (listened === pane) fail(error);
      }
    })();
  }

  function hear(heard: Heard): void {
    pane.hear(heard);
    signs.show(pane.attached.view());
    loop.invalidate();
  }

  /** A fault of the frontend leaves the terminal as it was, and is told. */
  function guarded<T>(act: (value: T) => void): (value: T) => void {
    return (value) => {
      try {
        act(value);
      } catch (error) {
        fail(error);
      }
    };
  }

  function onInput(input: TerminalInput): void {
    if (input.kind === 'focus') {
      signs.setFocused(input.focused);
      loop.invalidate();
      return;
    }
    if (input.kind === 'kitty_keyboard') {
      hasKittyKeyboard = true;
      return;
    }
    if (input.kind === 'device') {
      if (!hasKittyKeyboard) terminal.write(modifyOtherKeys);
      return;
    }
    if (input.kind === 'background') {
      look = chooseLook({ env, background: input.brightness > 0.5 ? 'light' : 'dark' });
      return loop.invalidate();
    }
    if (input.kind === 'key' || input.kind === 'text') board.keyPressed(performance.now());
    const overlay = overlays.at(-1);
    if (overlay) toOverlay(overlay, input);
    else if (input.kind === 'key' && keyMap.find(input.key, 'always') === 'suspend') suspend();
    else if (input.kind === 'key' && keyMap.find(input.key, 'always') === 'redraw') painter.forget();
    else pane.onInput(input, performance.now());
    if (input.kind === 'mouse') loop.invalidate();
    else loop.hurry();
  }

  function toOverlay(overlay: Overlay, input: TerminalInput): void {
    if (input.kind === 'text') overlay.onText(input.text);
    else if (input.kind === 'paste') overlay.onPaste(input.text);
    else if (input.kind === 'mouse') {
      if (input.action === 'press') overlay.onClick?.(input.row - 1);
      if (input.action === 'wheel_up' || input.action === 'wheel_down') overlay.onWheel?.(input.action === 'wheel_up' ? -3 : 3);
    } else if (input.kind === 'key') {
      const action = keyMap.find(input.key, 'overlay');
      if (action === 'close' || action === 'clear') {
        context.closeOverlay();
        overlay.onClosed?.();
      } else if (action === 'suspend') suspend();
      else overlay.onKey(input.key);
    }
  }

  function suspend(): void {
    terminal.suspend();
    process.kill(0, 'SIGTSTP');
    // Without a shell around it nothing stops, and nobody would bring the screen back.
    setTimeout(() => {
      if (terminal.isSuspended()) onContinued();
    }, tuning.stoppedMs);
  }

  /** Also after a stop from outside: a shell that had the terminal meanwhile has changed it. */
  function onContinued(): void {
    terminal.resume();
    painter.forget();
    loop.invalidate();
  }

  function paint(): void {
    const columns = terminal.columns();
    const rows = terminal.rows();
    const nowMs = Date.now();
    const isWorking = pane.isWorking() && signs.isFocused();
    const frame = pane.frame({
      columns,
      rows,
      overlay: overlays.at(-1),
      notices: board.notices(),
      nowMs,
      tick: isWorking ? tick : undefined,
    });
    painter.paint(frame, columns, rows, look);
    pane.painted(performance.now());
    spin(isWorking);
  }

  /** One cell moves while something works and somebody looks; otherwise there is no timer. */
  function spin(isWorking: boolean): void {
    if (!isWorking) {
      clearTimeout(spinner);
      spinner = undefined;
    } else {
      spinner ??= setTimeout(() => {
        spinner = undefined;
        tick++;
        loop.invalidate();
      }, tuning.spinnerMs);
    }
  }

  const onSignal = (): void => leave();
  for (const signal of leaveSignals) process.on(signal, onSignal);
  process.on('SIGCONT', onContinued);
  try {
    for (const text of options.notices ?? []) board.say(text);
    for (const problem of keyProblems) board.say(problem, 'alarm');
    listen(pane);
    watch = watchAround(berth, {
      onChange: () => pane.lookAround(),
      onConfig(event) {
        for (const { text, level } of noticesOf(event)) board.say(text, level);
        loop.invalidate();
      },
    });
    signs.show(pane.attached.view());
    loop.invalidate();
    loop.flush();
    await left;
    return { attached: pane.attached, isGone };
  } finally {
    for (const signal of leaveSignals) process.off(signal, onSignal);
    process.off('SIGCONT', onContinued);
    clearTimeout(spinner);
    watch?.close();
    loop.close();
    board.clear();
    // A daemon that does not answer keeps neither the terminal nor the person.
    terminal.close();
    await Promise.race([pane.leaving(), delay(tuning.leavingMs, undefined, { ref: false })]);
    pane.close();
  }
}
