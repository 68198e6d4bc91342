import type { z } from 'zod';
import type { UiMethod } from '../protocol/events.js';
import type { ContentBlock } from '../protocol/messages.js';

/** A question to a person. The answer is null when it was cancelled, expired or denied. */
export interface Question {
  method: UiMethod;
  params: Record<string, unknown>;
  /** Milliseconds after which nobody answered; null waits for ever. */
  timeoutMs: number | null;
}

/** What a running tool may use. Everything it starts must end when `signal` fires. */
export interface ToolContext {
  sessionId: string;
  runId: string;
  toolCallId: string;
  cwd: string;
  signal: AbortSignal;
  /** Output as it comes, shown live to whoever watches. */
  output(text: string): void;
  /**
   * Asks a person and waits. Asked again with the same `key` (as a resumable tool does after a restart) it finds
   * the earlier request and its answer instead of asking twice.
   */
  ask(key: string, question: Question): Promise<unknown>;
}

export interface ToolResult {
  content: ContentBlock[];
  isError: boolean;
}

/** Why a call must be approved first, in words for the person. */
export interface ApprovalNeed {
  title: string;
  message: string;
}

export interface Tool<Args = unknown> {
  name: string;
  /** At most 120 characters: it goes to the model with every request. */
  description: string;
  parameters: z.ZodType<Args>;
  /** Read-only calls of one response run side by side. */
  readOnly: boolean;
  /** Only asks and computes, so that running it again after a crash repeats no side effect. */
  resumable: boolean;
  /** One line that says what this call does. */
  title(args: Args): string;
  /** Present when some calls need a person's yes before they run. */
  approval?(args: Args): ApprovalNeed | undefined;
  run(args: Args, context: ToolContext): Promise<ToolResult>;
}

export function toolText(text: string, isError = false): ToolResult {
  return { content: [{ type: 'text', text }], isError };
}
