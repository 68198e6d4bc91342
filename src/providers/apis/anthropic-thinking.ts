import type { ThinkingConfigParam } from '@anthropic-ai/sdk/resources/messages/messages';
import { limits } from '../../protocol/limits.js';
import type { ThinkingLevel } from '../port.js';
import type { KnownModel } from '../settings.js';

interface ThinkingParams {
  thinking?: ThinkingConfigParam;
  output_config?: { effort: 'low' | 'medium' | 'high' };
}

interface Thinking {
  params: ThinkingParams;
  /** `max_tokens`: thinking and answer together. */
  maxTokens: number;
}

const budgets = { low: 4_096, medium: 12_288, high: 24_576 } as const;

/**
 * Request parameters for a thinking level. Models up to 4.5 take a token budget; since 4.6 they take an effort level. Some of the newest cannot
 * switch thinking off and get the lowest effort instead.
 */
export function toThinking(facts: Pick<KnownModel, 'id' | 'maxOutput'>, level: ThinkingLevel, answerTokens: number): Thinking {
  const model = readName(facts.id);
  if (model && model.version >= 4.6) return { params: level === 'off' ? toOff(model) : withEffort(level), maxTokens: answerTokens };
  if (level === 'off' || (model && model.version < 3.7)) return { params: {}, maxTokens: answerTokens };
  return withBudget(level, answerTokens, facts.maxOutput ?? Infinity);
}

function withEffort(effort: 'low' | 'medium' | 'high'): ThinkingParams {
  return { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } };
}

/** The thinking budget is added to the answer's tokens up to the model's output limit; the answer keeps at least half. */
function withBudget(level: keyof typeof budgets, answerTokens: number, maxOutput: number): Thinking {
  const maxTokens = Math.min(answerTokens + budgets[level], maxOutput);
  const budget = Math.min(budgets[level], Math.floor(maxTokens - Math.min(answerTokens, maxTokens / 2)));
  if (budget < limits.anthropicThinkingTokensMin) return { params: {}, maxTokens: answerTokens };
  return { params: { thinking: { type: 'enabled', budget_tokens: budget } }, maxTokens };
}

interface ModelName {
  family: string;
  version: number;
}

/** Undefined for models that are not Claude: other vendors offer this API too, with token budgets. */
function readName(id: string): ModelName | undefined {
  const newer = /claude-(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(id);
  if (newer) return { family: newer[1] ?? '', version: Number(`${newer[2] ?? 0}.${newer[3] ?? 0}`) };
  const older = /claude-(\d)(?:[-.](\d))?-(opus|sonnet|haiku)/.exec(id);
  if (older) return { family: older[3] ?? '', version: Number(`${older[1] ?? 0}.${older[2] ?? 0}`) };
  return id.includes('claude') ? { family: '', version: 99 } : undefined;
}

function toOff({ family, version }: ModelName): ThinkingParams {
  if (version < 5) return {};
  if (family === 'sonnet') return { thinking: { type: version >= 5.5 ? 'between_tools' : 'disabled' } };
  if (family === 'haiku' || (family === 'opus' && version < 5.5)) return { thinking: { type: 'disabled' } };
  return { output_config: { effort: 'low' } };
}
