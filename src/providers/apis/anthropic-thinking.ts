import type { ThinkingConfigParam } from '@anthropic-ai/sdk/resources/messages/messages';
import { limits } from '../../protocol/limits.js';
import type { ThinkingLevel } from '../port.js';
import type { KnownModel } from '../settings.js';

interface Asked {
  thinking?: ThinkingConfigParam;
  output_config?: { effort: 'low' | 'medium' | 'high' };
}

interface Thinking {
  asked: Asked;
  /** What thought and answer may cost together. */
  maxTokens: number;
}

const budgets = { low: 4_096, medium: 12_288, high: 24_576 } as const;

/**
 * How a level of thinking is asked for. Up to 4.5 a model is given a budget; since 4.6 it decides by itself and is told how much
 * effort to make. Some of the newest cannot be kept from thinking: they are told to make little of it.
 */
export function toThinking(known: Pick<KnownModel, 'id' | 'maxOutput'>, level: ThinkingLevel, answerTokens: number): Thinking {
  const model = readName(known.id);
  if (model && model.version >= 4.6) return { asked: level === 'off' ? toOff(model) : withEffort(level), maxTokens: answerTokens };
  if (level === 'off' || (model && model.version < 3.7)) return { asked: {}, maxTokens: answerTokens };
  return withBudget(level, answerTokens, known.maxOutput ?? Infinity);
}

function withEffort(effort: 'low' | 'medium' | 'high'): Asked {
  return { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } };
}

/** A thought comes on top of the answer, as far as the model can say so much; an answer has half of it at least. */
function withBudget(level: keyof typeof budgets, answerTokens: number, maxOutput: number): Thinking {
  const maxTokens = Math.min(answerTokens + budgets[level], maxOutput);
  const budget = Math.min(budgets[level], Math.floor(maxTokens - Math.min(answerTokens, maxTokens / 2)));
  if (budget < limits.anthropicThinkingTokensMin) return { asked: {}, maxTokens: answerTokens };
  return { asked: { thinking: { type: 'enabled', budget_tokens: budget } }, maxTokens };
}

interface ModelName {
  family: string;
  version: number;
}

/** Undefined for models that are not of the Claude family: other makers speak this API too, with budgets. */
function readName(id: string): ModelName | undefined {
  const newer = /claude-(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(id);
  if (newer) return { family: newer[1] ?? '', version: Number(`${newer[2] ?? 0}.${newer[3] ?? 0}`) };
  const older = /claude-(\d)(?:[-.](\d))?-(opus|sonnet|haiku)/.exec(id);
  if (older) return { family: older[3] ?? '', version: Number(`${older[1] ?? 0}.${older[2] ?? 0}`) };
  return id.includes('claude') ? { family: '', version: 99 } : undefined;
}

function toOff({ family, version }: ModelName): Asked {
  if (version < 5) return {};
  if (family === 'sonnet') return { thinking: { type: version >= 5.5 ? 'between_tools' : 'disabled' } };
  if (family === 'haiku' || (family === 'opus' && version < 5.5)) return { thinking: { type: 'disabled' } };
  return { output_config: { effort: 'low' } };
}
