import type { Scope } from '../../core/scope.js';
import { wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { RunningTool } from '../../protocol/views.js';

export interface OpenTool {
  sessionId: string;
  runId: string;
  turnId: string;
  toolCallId: string;
  toolName: string;
  title: string;
  args: Record<string, unknown>;
  /** The tail of the output; `offset` units were truncated before it. */
  tail: string;
  offset: number;
}

/** Running tools and the tail of their output. A subscriber that is further behind gets a gap. */
export function createLiveTools({ wake }: { wake(sessionId: string): void }) {
  const bySession = new Map<string, OpenTool[]>();
  const none: OpenTool[] = [];
  return {
    begin(tool: Omit<OpenTool, 'tail' | 'offset'>): OpenTool {
      const open: OpenTool = { ...tool, tail: '', offset: 0 };
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
  };
}
export type LiveTools = ReturnType<typeof createLiveTools>;
