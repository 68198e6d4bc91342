import type { SystemPrompt } from '../../context/port.js';
import type { SessionState } from '../../core/session.js';
import type { ModelRequest, ToolSpec } from '../../providers/port.js';
import type { HistoryEntry } from '../../store/rows/history-rows.js';
import { toModelMessages } from './history.js';

interface Deps {
  systemPrompt: SystemPrompt;
  toolSpecs(state: SessionState): Promise<ToolSpec[]>;
}

/** Makes the model request of a session's next response; a problem is a message for people why there is none. */
export function createModelRequests({ systemPrompt, toolSpecs }: Deps) {
  /** Lazy modules may be gone: the program may have been replaced, as by an upgrade, while the daemon runs. */
  async function specsOf(state: SessionState): Promise<ToolSpec[] | { problem: string }> {
    try {
      return await toolSpecs(state);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { problem: `the tools cannot be loaded; restart the daemon (${why})` };
    }
  }

  return async function toRequest(state: SessionState, history: readonly HistoryEntry[]): Promise<ModelRequest | { problem: string }> {
    const tools = await specsOf(state);
    if ('problem' in tools) return tools;
    const system = systemPrompt({ cwd: state.cwd, tools });
    if ('problem' in system) return system;
    return {
      model: state.model,
      sessionId: state.id,
      thinking: state.thinking,
      system: system.text,
      messages: toModelMessages(history),
      tools,
    };
  };
}
export type ModelRequests = ReturnType<typeof createModelRequests>;
