import { createEditTool } from '../../src/tools/files/edit.js';
import type { Tool, ToolContext } from '../../src/tools/port.js';
import { createReadMarks } from '../../src/tools/files/read-marks.js';
import { createReadTool } from '../../src/tools/files/read.js';
import { createWriteTool } from '../../src/tools/files/write.js';
import { makeTempDir, type TempDir } from './temp-dir.js';
import { callTool, toolContext, type Said } from './tool-context.js';

type Call = (args: unknown, overrides?: Partial<ToolContext>) => Promise<Said>;

export interface FileTools extends Disposable {
  dir: TempDir;
  context: ToolContext;
  tools: { read: Tool; write: Tool; edit: Tool };
  read: Call;
  write: Call;
  edit: Call;
}

/** The tools of one session, in a workspace that is gone when the test is over. */
export function createFileTools(dir: TempDir = makeTempDir(), cwd = dir.path): FileTools {
  const deps = { marks: createReadMarks() };
  const tools = {
    read: createReadTool(deps),
    write: createWriteTool(deps),
    edit: createEditTool(deps),
  } as FileTools['tools'];
  const context = toolContext({ cwd });
  const calling =
    (tool: Tool): Call =>
    (args, overrides = {}) =>
      callTool(tool, args, { ...context, ...overrides });
  return {
    dir,
    context,
    tools,
    read: calling(tools.read),
    write: calling(tools.write),
    edit: calling(tools.edit),
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}
