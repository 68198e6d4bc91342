import { lazy } from '../protocol/lazy.js';
import type { BubblewrapFound } from '../sandbox/bubblewrap.js';
import type { ToolEntry } from './port.js';
import type { Processes } from '../sandbox/port.js';
import type { Todos } from './talk/todo.js';
import { toolEntry } from './tool-entry.js';
import { toolFacts } from './tool-facts.js';

interface Deps {
  todos: Todos;
  processes(): Promise<Processes>;
  bubblewrap(): Promise<() => BubblewrapFound>;
}

/** The built-in tools, in the order in which models are told of them. Each module is imported lazily. */
export function listTools({ todos, processes, bubblewrap }: Deps): ToolEntry[] {
  const marks = lazy(async () => (await import('./files/read-marks.js')).createReadMarks());
  return [
    toolEntry(toolFacts.read, async () => (await import('./files/read.js')).createReadTool({ marks: await marks() })),
    toolEntry(toolFacts.write, async () => (await import('./files/write.js')).createWriteTool({ marks: await marks() })),
    toolEntry(toolFacts.edit, async () => (await import('./files/edit.js')).createEditTool({ marks: await marks() })),
    toolEntry(toolFacts.bash, async () => (await import('./shell/bash.js')).createBashTool({ processes: await processes() })),
    toolEntry(toolFacts.grep, async () => (await import('./search/grep.js')).createGrepTool({ bubblewrap: await bubblewrap() })),
    toolEntry(toolFacts.glob, async () => (await import('./search/glob.js')).createGlobTool()),
    toolEntry(toolFacts.ls, async () => (await import('./files/ls.js')).createLsTool()),
    toolEntry(toolFacts.todo, async () => (await import('./talk/todo.js')).createTodoTool({ todos })),
    toolEntry(toolFacts.ask_user, async () => (await import('./talk/ask-user.js')).createAskUserTool()),
    toolEntry(toolFacts.tool_output, async () => (await import('./output/tool-output.js')).createToolOutputTool()),
  ];
}
