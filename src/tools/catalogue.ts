import { once } from '../protocol/once.js';
import type { BubblewrapFound } from './bubblewrap.js';
import type { Tool, ToolEntry, ToolFacts } from './port.js';
import type { Processes } from './processes-port.js';
import type { Todos } from './todo.js';
import { toolFacts } from './tool-facts.js';

interface Deps {
  todos: Todos;
  processes(): Promise<Processes>;
  bubblewrap(): Promise<() => BubblewrapFound>;
}

/** Every tool there is, in the order in which models are told of them. Each is loaded when it is first needed. */
export function listTools({ todos, processes, bubblewrap }: Deps): ToolEntry[] {
  const marks = once(async () => (await import('./read-marks.js')).createReadMarks());
  return [
    entry(toolFacts.read, async () => (await import('./read.js')).createReadTool({ marks: await marks() })),
    entry(toolFacts.write, async () => (await import('./write.js')).createWriteTool({ marks: await marks() })),
    entry(toolFacts.edit, async () => (await import('./edit.js')).createEditTool({ marks: await marks() })),
    entry(toolFacts.bash, async () => (await import('./bash.js')).createBashTool({ processes: await processes() })),
    entry(toolFacts.grep, async () => (await import('./grep.js')).createGrepTool({ bubblewrap: await bubblewrap() })),
    entry(toolFacts.glob, async () => (await import('./glob.js')).createGlobTool()),
    entry(toolFacts.ls, async () => (await import('./ls.js')).createLsTool()),
    entry(toolFacts.todo, async () => (await import('./todo.js')).createTodoTool({ todos })),
    entry(toolFacts.ask_user, async () => (await import('./ask-user.js')).createAskUserTool()),
    entry(toolFacts.tool_output, async () => (await import('./tool-output.js')).createToolOutputTool()),
    entry(toolFacts.clock, async () => (await import('./clock.js')).createClockTool()),
    entry(toolFacts.echo, async () => (await import('./echo.js')).createEchoTool()),
  ];
}

/** The arguments of a tool are checked by its own schema before it gets them. */
function entry<Args>(facts: ToolFacts, load: () => Promise<Tool<Args>>): ToolEntry {
  return { ...facts, load: once(load as () => Promise<Tool>) };
}
