import { expect, test } from 'vitest';
import { touchesNothing } from '../../src/tools/port.js';
import { createTodoTool, describeTodos, type Item } from '../../src/tools/talk/todo.js';
import { badFields, callTool, toolContext } from '../support/tool-context.js';

function createTodos() {
  const lists = new Map<string, Item[]>();
  return { read: (id: string) => lists.get(id) ?? [], write: (id: string, items: Item[]) => void lists.set(id, items) };
}

const items: Item[] = [
  { text: 'read\nit', state: 'done' },
  { text: 'change it', state: 'in_progress' },
  { text: 'test it', state: 'pending' },
];

test('a list is written as a whole and read again, one a session', async () => {
  const todo = createTodoTool({ todos: createTodos() });
  const context = toolContext({ cwd: '/tmp' });
  expect((await callTool(todo, {}, context)).text).toBe('The list is empty.');
  const said = await callTool(todo, { items }, context);
  expect(said).toMatchObject({ text: '[x] read it\n[>] change it\n[ ] test it', details: { counts: { items: 3, done: 1 } } });
  expect(await callTool(todo, {}, context)).toEqual(said);
  expect((await callTool(todo, {}, { ...context, sessionId: 'ses_2' })).text).toBe('The list is empty.');
  expect((await callTool(todo, { items: [] }, context)).text).toBe('The list is empty.');
});

test('lists are bounded', () => {
  const tool = createTodoTool({ todos: createTodos() });
  const fits = (list: unknown): boolean => badFields(tool, { items: list }) === undefined;
  expect(fits(Array(50).fill(items[0]))).toBe(true);
  expect(fits(Array(51).fill(items[0]))).toBe(false);
  expect(fits([{ text: 'x'.repeat(501), state: 'done' }])).toBe(false);
  expect(fits([{ text: '', state: 'done' }])).toBe(false);
  expect(fits([{ text: 'x', state: 'gone' }])).toBe(false);
});

test('writing it again repeats nothing', () => {
  const todo = createTodoTool({ todos: createTodos() });
  expect([todo.readOnly, todo.resumable, todo.prepare]).toEqual([false, true, touchesNothing]);
  expect(todo.description.length).toBeLessThanOrEqual(120);
  expect(todo.title({ items })).toBe('Write a list of 3 items');
  expect(describeTodos([])).toBe('The list is empty.');
});
