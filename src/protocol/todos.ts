import * as z from 'zod';
import { limits } from './limits.js';

export const todoItem = z.object({
  text: z.string().min(1).max(limits.todoTextCharsMax),
  state: z.enum(['pending', 'in_progress', 'done']),
});
export type TodoItem = z.infer<typeof todoItem>;

const marks = { pending: '[ ]', in_progress: '[>]', done: '[x]' } as const;

/** A todo list as lines for people. */
export function todoLines(items: readonly TodoItem[]): string[] {
  return items.map(({ text, state }) => `${marks[state]} ${text}`);
}
