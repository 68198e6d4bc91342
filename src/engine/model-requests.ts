import type { SystemPrompt } from '../context/port.js';
import type { SessionState } from '../core/session.js';
import type { ModelRequest, ToolSpec } from '../providers/port.js';
import type { HistoryEntry } from '../store/entry-rows.js';
import { toModelMessages } from './history.js';

interface Deps {
  systemPrompt: SystemPrompt;
  toolSpecs(active: string[] | null): Promise<ToolSpec[]>;
}

/** What a model is asked for the next response of a session; a problem says for people why it cannot be. */
export function createModelRequests({ systemPrompt, toolSpecs }: Deps) {
  return async function toRequest(state: SessionState, history: readonly HistoryEntry[]): Promise<ModelRequest | { problem: string }> {
    const tools = await toolSpecs(state.activeTools);
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
