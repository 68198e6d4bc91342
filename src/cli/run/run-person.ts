import type { AttachedSession } from '../../client/attach.js';
import type { Berth } from '../../client/connect.js';
import { limits } from '../../protocol/limits.js';
import type { UiRequest } from '../../protocol/requests/requests.js';
import { printable } from '../../view/printable.js';
import type { SentInput } from '../../view/sent-inputs.js';
import { createLineInput } from '../attach/line-input.js';
import { isDumb } from '../terminal/standard-streams.js';
import type { Terminal } from '../terminal/terminal.js';
import type { RunOutput } from './run-output.js';

interface Deps {
  berth: Berth;
  attached: AttachedSession;
  output: RunOutput;
  /** Ctrl-C or ctrl-D on an empty line. */
  onLeave(): void;
}

/** The person at the terminal of a run, who is shown its questions and answers them in typed lines. */
export interface RunPerson {
  /** Shows the oldest of the open questions, unless it was shown. */
  ask(requests: readonly UiRequest[]): void;
  settle(sent: SentInput): void;
  close(): void;
}

export function createRunPerson({ berth, attached, output, onLeave }: Deps): RunPerson {
  const { stdin, stderr } = process;
  let terminal: Terminal | undefined;
  let isReading = false;
  let shown: { id: string; atMs: number } | undefined;
  const input = createLineInput({
    berth,
    session: attached,
    note: (text) => output.note(printable(text)),
    recallHint: isDumb() ? 'type it again' : 'the up arrow brings it back',
    showQuestion: (request) => output.question(request, true),
    onRun: () => undefined,
    leave: onLeave,
  });

  /** The question that a line begun now would answer. What was typed before a question could be read answers nothing. */
  function subject(): string | undefined {
    const id = input.question()?.request_id;
    return shown?.id === id && performance.now() - (shown?.atMs ?? 0) >= limits.questionSettleMs ? id : undefined;
  }

  /** From the first question on, and not before, so that a program in the same pipeline has the keys until then. */
  async function read(): Promise<void> {
    isReading = true;
    if (isDumb()) {
      const { createInterface } = await import('node:readline');
      createInterface({ input: stdin })
        .on('line', (line) => input.take(line, subject()))
        .on('close', onLeave);
      return;
    }
    const { openTerminal } = await import('../terminal/terminal.js');
    terminal = openTerminal({ input: stdin, output: stderr, subject, onLine: input.take, onLeave });
    output.useTerminal(terminal);
    terminal.expectText(attached.view().state.requests.length === 0);
  }

  return {
    ask(requests) {
      const [oldest] = requests;
      if (oldest && oldest.request_id !== shown?.id) {
        output.question(oldest);
        shown = { id: oldest.request_id, atMs: performance.now() };
      }
      if (!oldest) shown = undefined;
      terminal?.expectText(oldest === undefined);
      if (oldest && !isReading) void read();
    },
    settle: input.settle,
    close() {
      terminal?.close();
      stdin.destroy();
    },
  };
}
