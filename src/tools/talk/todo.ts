import * as z from 'zod';
import { limits } from '../../protocol/limits.js';
import { counted } from '../files/file-paths.js';
import { toolText, touchesNothing, type Tool } from '../port.js';
import { toolFacts } from '../tool-facts.js';
import { zodParameters } from '../zod-parameters.js';

const item = z.object({
  text: z.string().min(1).max(limits.todoTextCharsMax),
  state: z.enum(['pending', 'in_progress', 'done']),
});
export type Item = z.infer<typeof item>;

const parameters = z.object({
  items: z.array(item).max(limits.todoItemsMax).optional().describe('the whole new list; without it, the list is read'),
});

/** Storage of the todo lists, one per session. */
export interface Todos {
  read(sessionId: string): Item[];
  write(sessionId: string, items: Item[]): void;
}

const marks: Record<Item['state'], string> = { pending: '[ ]', in_progress: '[>]', done: '[x]' };

/** A todo list as text, one line per item. */
export function describeTodos(items: readonly Item[]): string {
  if (items.length === 0) return 'The list is empty.';
  return items.map(({ text, state }) => `${marks[state]} ${text.replaceAll(/\s+/gu, ' ')}`).join('\n');
}

/** The todo list of a session. Written as a whole, so that a repeated call is idempotent. */
export function createTodoTool({ todos }: { todos: Todos }): Tool<z.infer<typeof parameters>> {
  return {
    ...toolFacts.todo,
    parameters: zodParameters(parameters),
    prepare: touchesNothing,
    title: ({ items }) => (items === undefined ? 'Look at the list' : `Write a list of ${counted(items.length, 'item')}`),
    run({ items }, { sessionId }) {
      if (items !== undefined) todos.write(sessionId, items);
      const now = items ?? todos.read(sessionId);
      const done = now.filter(({ state }) => state === 'done').length;
      return Promise.resolve(toolText(describeTodos(now), false, { counts: { items: now.length, done } }));
    },
  };
}
