import type { ThinkingLevel } from '../port.js';

/** The SDK would fill these in from the environment, which may be a repository's own. */
export const nothingFromTheEnvironment = { organization: null, project: null, adminAPIKey: null, webhookSecret: null } as const;

type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high';

/** What a level of thinking is called for a model of OpenAI's; undefined for models that do not reason, which refuse to be told. */
export function reasoningEffort(id: string, level: ThinkingLevel): Effort | undefined {
  const version = /^gpt-(\d+)(?:\.(\d+))?/.exec(id);
  const isSeries = /^o\d/.test(id);
  if (id.includes('-chat') || /^(gpt-[34]|chatgpt)/.test(id)) return undefined;
  if (level !== 'off') return level;
  if (isSeries) return 'low';
  // A model that nobody knows here is left to its own habits.
  if (!version) return undefined;
  return leastEffort(id, Number(version[1]), Number(version[2] ?? 0));
}

/** How little a model can be told to think. */
function leastEffort(id: string, major: number, minor: number): Effort {
  if (/-(codex|pro|astra)/.test(id) || id.startsWith('gpt-6.1-sol')) return 'low';
  if (major === 5 && minor === 0) return 'minimal';
  return 'none';
}
