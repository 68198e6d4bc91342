import type { SystemPrompt } from '../../context/port.js';
import type { SessionState } from '../../core/session.js';
import type { ModelRequest, ToolSpec } from '../../providers/port.js';
import type { HistoryEntry } from '../../store/rows/history-rows.js';
import { toModelMessages } from './history.js';

interface Deps {
  systemPrompt: SystemPrompt;
  toolSpecs(state: SessionState): Promise<ToolSpec[]>;
}

/** What a model is asked for the next response of a session; a problem says for people why it cannot be. */
export function createModelRequests({ systemPrompt, toolSpecs }: Deps) {
  /** What is not loaded yet may be gone: a program that was replaced while it ran. */
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
