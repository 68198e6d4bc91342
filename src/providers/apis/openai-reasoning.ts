import type { ThinkingLevel } from '../port.js';

/** Null disables the SDK's defaults from environment variables, which a repository's .envrc may set. */
export const nothingFromTheEnvironment = { organization: null, project: null, adminAPIKey: null, webhookSecret: null } as const;

type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high';

/** The `reasoning.effort` for a thinking level; undefined for OpenAI models without reasoning, which refuse the parameter. */
export function reasoningEffort(id: string, level: ThinkingLevel): Effort | undefined {
  const version = /^gpt-(\d+)(?:\.(\d+))?/.exec(id);
  const isSeries = /^o\d/.test(id);
  if (id.includes('-chat') || /^(gpt-[34]|chatgpt)/.test(id)) return undefined;
  if (level !== 'off') return level;
  if (isSeries) return 'low';
  // An unknown model keeps its default effort.
  if (!version) return undefined;
  return leastEffort(id, Number(version[1]), Number(version[2] ?? 0));
}

/** The lowest effort that a model accepts. */
function leastEffort(id: string, major: number, minor: number): Effort {
  if (/-(codex|pro|astra)/.test(id) || id.startsWith('gpt-6.1-sol')) return 'low';
  if (major === 5 && minor === 0) return 'minimal';
  return 'none';
}
