import * as z from 'zod';
import { limits } from '../../protocol/limits.js';
import type { QuestionAnswer } from '../../protocol/requests/request-answers.js';
import { uiMethod, type QuestionParams, type UiMethod } from '../../protocol/requests/requests.js';
import { toolText, touchesNothing, type Tool } from '../port.js';
import { toolFacts } from '../tool-facts.js';
import { zodParameters } from '../zod-parameters.js';

const parameters = z
  .object({
    method: uiMethod,
    title: z.string().min(1).max(limits.questionTitleCharsMax).describe('the question'),
    message: z.string().max(limits.questionTextCharsMax).optional(),
    options: z
      .array(z.string().min(1).max(limits.questionTitleCharsMax))
      .min(1)
      .max(limits.questionOptionsMax)
      .optional()
      .describe('what to choose from; select only'),
    placeholder: z.string().max(limits.questionTitleCharsMax).optional(),
    default: z.string().max(limits.questionTextCharsMax).optional().describe('text to begin with; input and editor'),
    danger: z.boolean().optional().describe('a yes destroys something or cannot be undone; confirm only'),
    timeout_seconds: z.number().min(1).max(limits.questionSecondsMax).optional().describe('without it, the question waits'),
  })
  .refine(({ method, options }) => method !== 'select' || options !== undefined, { path: ['options'], error: 'select needs options' });

type AskArgs = z.infer<typeof parameters>;

/** Asks a person and returns the answer in words. No answer is a result as well, not an error. */
export function createAskUserTool(): Tool<AskArgs> {
  return {
    ...toolFacts.ask_user,
    parameters: zodParameters(parameters),
    prepare: touchesNothing,
    title: ({ title }) => `Ask: ${title.replaceAll(/\s+/gu, ' ')}`,
    async run(args, context) {
      const { method, timeout_seconds } = args;
      const timeoutMs = timeout_seconds === undefined ? null : timeout_seconds * 1000;
      const answer = await context.ask('answer', { params: toParams(args), timeoutMs });
      return toolText(describeAnswer(method, answer));
    },
  };
}

function toParams({ method, title, message, options = [], placeholder, danger, default: initial }: AskArgs): QuestionParams {
  const head = { kind: 'question' as const, title, ...(message !== undefined && { message }) };
  switch (method) {
    case 'select':
      return { ...head, method, options: options.map((option) => ({ value: option, label: option })) };
    case 'confirm':
      return { ...head, method, ...(danger && { danger: true }) };
    case 'input':
    case 'editor':
      return { ...head, method, ...(placeholder !== undefined && { placeholder }), ...(initial !== undefined && { default: initial }) };
  }
}

function describeAnswer(method: UiMethod, answer: QuestionAnswer): string {
  if (answer === null) return 'The person gave no answer.';
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  if (method === 'confirm')
    return answer === true ? 'The person said yes.' : answer === false ? 'The person said no.' : `The person said: ${text}`;
  if (method === 'select') return `The person chose: ${text}`;
  return text === '' ? 'The person left it empty.' : `The person wrote: ${text}`;
}
