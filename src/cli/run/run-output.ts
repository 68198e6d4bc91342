import type { Heard } from '../../client/attach.js';
import type { WireEvent } from '../../protocol/events.js';
import type { UiRequest } from '../../protocol/requests/requests.js';
import { noticesOf, resolvedNotice } from '../../view/notices.js';
import { printableJson } from '../../view/printable.js';
import { shortId } from '../../view/short-ids.js';
import { startedHeadline } from '../../view/tools/tool-headline.js';
import { describeToolEnd } from '../../view/tools/tool-result.js';
import { clipHeadline } from '../attach/message-lines.js';
import { questionLines } from '../attach/request-lines.js';
import { describeToolOutcome } from '../attach/tool-lines.js';
import { createLineWriter, type LineWriter } from '../terminal/line-writer.js';
import { isColoured, isTerminal, outputColumns, writeErr, writeOut } from '../terminal/standard-streams.js';
import { createStyle } from '../terminal/style.js';
import type { Terminal } from '../terminal/terminal.js';

const layout = { questionLinesMax: 60 } as const;

/** What a run prints: its answer to standard output, everything else to standard error. */
export interface RunOutput {
  /** A line about the run itself for readers of JSON. */
  mark(line: object): void;
  text(messageId: string, piece: string): void;
  /** A line about something beside the answer. */
  note(line: string): void;
  heard(heard: Heard): void;
  question(request: UiRequest, isWhole?: boolean): void;
  /** From now on, lines go through this terminal, which has a prompt. */
  useTerminal(terminal: Terminal): void;
  endLine(): void;
}

/** Events as JSON lines, as they come. */
export function createJsonOutput(): RunOutput {
  const print = (value: unknown): void => writeOut(`${printableJson(value)}\n`);
  return {
    mark: print,
    text: () => undefined,
    note: () => undefined,
    heard: (heard) => print(heard.kind === 'event' ? heard.event : { ...heard, kind: undefined, type: heard.kind }),
    question: () => undefined,
    useTerminal: () => undefined,
    endLine: () => undefined,
  };
}

interface TextOptions {
  quiet: boolean;
  /** Whether the answer of this client to a request was told already. */
  isTold(by: string): boolean;
}

/** The answer as text, and a line for each tool and notice. */
export function createTextOutput({ quiet, isTold }: TextOptions): RunOutput {
  const style = createStyle(isColoured(2));
  let terminal: Terminal | undefined;
  const write = (text: string, fallback: (text: string) => void): void => (terminal ? terminal.write(text) : fallback(text));
  const answer = createLineWriter(
    (text) => (isTerminal() ? write(text, writeOut) : writeOut(text)),
    () => outputColumns(),
  );
  // On a terminal both streams share its lines.
  const isShared = isTerminal() && outputColumns(2) !== Infinity;
  const beside: LineWriter = isShared
    ? answer
    : createLineWriter(
        (text) => write(text, writeErr),
        () => outputColumns(2),
      );

  function note(line: string): void {
    if (!quiet) beside.line(style.dim(line));
  }

  function showEvent(event: WireEvent): void {
    switch (event.type) {
      case 'tool_execution_start':
        return note(`[tool] ${clipHeadline(startedHeadline(event.payload))}`);
      case 'tool_execution_end': {
        const result = describeToolEnd(event.payload);
        return result.outcome === 'done' ? undefined : note(describeToolOutcome(result));
      }
      case 'ui_resolved':
        if (!isTold(event.payload.by)) note(`[question] ${resolvedNotice(event.payload, false).text}`);
        return;
      case 'error':
        // Said with the pause before the next attempt, by whoever waits for the run.
        return;
      default:
        for (const { about, text } of noticesOf(event)) note(`[${about}] ${text}`);
    }
  }

  return {
    mark: () => undefined,
    text: (messageId, piece) => answer.flow(messageId, piece),
    note,
    heard: (heard) => (heard.kind === 'event' ? showEvent(heard.event) : undefined),
    question(request, isWhole = false) {
      const rest = `/show, or berth answer ${shortId(request.request_id)} --show,`;
      questionLines(request, { style, ...(isWhole ? {} : { linesMax: layout.questionLinesMax, rest }) }).forEach(beside.line);
    },
    useTerminal: (opened) => void (terminal = opened),
    endLine() {
      answer.endLine();
      beside.endLine();
    },
  };
}
