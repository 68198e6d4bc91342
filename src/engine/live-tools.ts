import type { Scope } from '../core/scope.js';
import { wholeUnits } from '../protocol/content.js';
import { encodeLive } from '../protocol/encode.js';
import { limits } from '../protocol/limits.js';
import type { RunningTool } from '../protocol/views.js';
import type { DeltaLine } from './live.js';

export interface OpenTool {
  sessionId: string;
  runId: string;
  turnId: string;
  toolCallId: string;
  toolName: string;
  title: string;
  args: Record<string, unknown>;
  /** The end of the output; `offset` units came before it. */
  tail: string;
  offset: number;
  line: { from: number; end: number; bytes: Buffer } | undefined;
}

/** Tools that run now, and the end of what they print. Who is further behind sees a jump. */
export function createLiveTools({ wake, now }: { wake(sessionId: string): void; now(): number }) {
  const bySession = new Map<string, OpenTool[]>();
  const none: OpenTool[] = [];
  let lineCount = 0;
  return {
    begin(tool: Omit<OpenTool, 'tail' | 'offset' | 'line'>): OpenTool {
      const open: OpenTool = { ...tool, tail: '', offset: 0, line: undefined };
      bySession.set(tool.sessionId, [...(bySession.get(tool.sessionId) ?? none), open]);
      return open;
    },
    output(tool: OpenTool, text: string): void {
      const tail = tool.tail + text.toWellFormed();
      const extra = tail.length - limits.toolOutputTailUnitsMax;
      const cut = extra > 0 ? wholeUnits(tail, extra) : 0;
      tool.offset += cut;
      tool.tail = tail.slice(cut);
      wake(tool.sessionId);
    },
    end(tool: OpenTool): void {
      const rest = (bySession.get(tool.sessionId) ?? none).filter((other) => other !== tool);
      if (rest.length > 0) bySession.set(tool.sessionId, rest);
      else bySession.delete(tool.sessionId);
    },
    openIn: (scope: Scope): readonly OpenTool[] => (scope.all ? [...bySession.values()].flat() : (bySession.get(scope.sessionId) ?? none)),
    view: (sessionId: string): RunningTool[] =>
      (bySession.get(sessionId) ?? none).map(({ toolCallId, toolName, title, args, tail, offset }) => ({
        tool_call_id: toolCallId,
        tool_name: toolName,
        title,
        args,
        output_tail: tail,
        offset,
      })),
    /** The next line for a reader that has the output up to `from`. */
    deltaFrom(tool: OpenTool, from: number): DeltaLine | undefined {
      const length = tool.offset + tool.tail.length;
      if (from >= length) return undefined;
      if (tool.line?.from === from && tool.line.end === length) return tool.line;
      const start = Math.max(from, tool.offset);
      const delta = tool.tail.slice(start - tool.offset);
      const payload = {
        session_id: tool.sessionId,
        run_id: tool.runId,
        turn_id: tool.turnId,
        tool_call_id: tool.toolCallId,
        tool_name: tool.toolName,
        offset: start,
        delta,
        ...(start > from ? { skipped: start - from } : {}),
      };
      const bytes = Buffer.from(`${encodeLive({ type: 'tool_execution_update', payload }, ++lineCount, new Date(now()).toISOString())}\n`);
      tool.line = { from, end: length, bytes };
      return tool.line;
    },
  };
}
export type LiveTools = ReturnType<typeof createLiveTools>;
