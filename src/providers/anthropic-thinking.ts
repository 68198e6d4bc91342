import type { ThinkingConfigParam } from '@anthropic-ai/sdk/resources/messages/messages';
import type { ThinkingLevel } from './port.js';

interface Thinking {
  thinking?: ThinkingConfigParam;
  output_config?: { effort: 'low' | 'medium' | 'high' };
  /** What a thought may cost on top of the answer. */
  budgetTokens: number;
}

const budgets = { low: 4_096, medium: 12_288, high: 24_576 } as const;

/**
 * How a level of thinking is asked for. Up to 4.5 a model is given a budget; since 4.6 it decides by itself and is told how much
 * effort to make. Some of the newest cannot be kept from thinking: they are told to make little of it.
 */
export function toThinking(id: string, level: ThinkingLevel): Thinking {
  const model = readName(id);
  if (!model) return level === 'off' ? { budgetTokens: 0 } : withBudget(level);
  if (model.version < 4.6) return level === 'off' || model.version < 3.7 ? { budgetTokens: 0 } : withBudget(level);
  if (level !== 'off') return { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: level }, budgetTokens: 0 };
  switch (offForm(model)) {
    case 'omitted':
      return { budgetTokens: 0 };
    case 'disabled':
    case 'between_tools':
      return { thinking: { type: offForm(model) as 'disabled' | 'between_tools' }, budgetTokens: 0 };
    case 'little':
      return { output_config: { effort: 'low' }, budgetTokens: 0 };
  }
}

function withBudget(level: keyof typeof budgets): Thinking {
  return { thinking: { type: 'enabled', budget_tokens: budgets[level] }, budgetTokens: budgets[level] };
}

interface ModelName {
  family: string;
  version: number;
}

/** Undefined for models that are not of the Claude family: other makers speak this API too, with budgets. */
function readName(id: string): ModelName | undefined {
  const newer = /claude-(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:-(\d{1,2}))?(?![\d.])/.exec(id);
  if (newer) return { family: newer[1] ?? '', version: Number(`${newer[2] ?? 0}.${newer[3] ?? 0}`) };
  const older = /claude-(\d)(?:-(\d))?-(opus|sonnet|haiku)/.exec(id);
  if (older) return { family: older[3] ?? '', version: Number(`${older[1] ?? 0}.${older[2] ?? 0}`) };
  return id.includes('claude') ? { family: '', version: 99 } : undefined;
}

function offForm({ family, version }: ModelName): 'omitted' | 'disabled' | 'between_tools' | 'little' {
  if (version < 5) return 'omitted';
  if (family === 'sonnet') return version >= 5.5 ? 'between_tools' : 'disabled';
  if (family === 'haiku' || (family === 'opus' && version < 5.5)) return 'disabled';
  return 'little';
}
