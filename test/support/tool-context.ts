import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from '../../src/protocol/content.js';
import type { Artifacts, Reach, Tool, ToolContext, ToolResult } from '../../src/tools/port.js';

/** A reach that ends at the workspace: by real paths, nothing outside may be read or written. */
export function workspaceReach(workspace: string): Reach {
  const root = realpathSync(workspace);
  return {
    workspace: root,
    refuses: (kind, realPath) =>
      realPath === root || realPath.startsWith(`${root}/`) ? undefined : `may not ${kind} outside of the workspace`,
    autorunKind: () => undefined,
    umask: 0o022,
    confinement: { kind: 'bare', network: false, writable: [root], readOnly: [], hidden: [] },
  };
}

/** Artifacts below a directory; nothing is made before the first one begins. */
export function artifactsIn(directory: string): Artifacts {
  const kept = new Set<string>();
  let begun = 0;
  return {
    begin() {
      mkdirSync(directory, { recursive: true });
      const id = `art_${++begun}`;
      return { id, path: join(directory, id) };
    },
    keep: ({ id }) => Promise.resolve(void kept.add(id)),
    read(id, offset, limit) {
      if (!kept.has(id) || !existsSync(join(directory, id))) return undefined;
      const whole = readFileSync(join(directory, id));
      return { data: whole.subarray(offset, offset + limit), totalBytes: whole.length };
    },
  };
}

const nothing = (): void => undefined;

/** What a tool gets from the engine, for a call in `cwd` that may reach `cwd` and nothing else. */
export function toolContext({ cwd, ...overrides }: { cwd: string } & Partial<ToolContext>): ToolContext {
  return {
    sessionId: 'ses_1',
    runId: 'run_1',
    toolCallId: 'call_1',
    cwd,
    signal: new AbortController().signal,
    reach: workspaceReach(cwd),
    basis: undefined,
    artifacts: artifactsIn(join(cwd, '.artifacts')),
    output: () => undefined,
    ui: { setStatus: nothing, setWidget: nothing, setWorking: nothing, setTitle: nothing, offerText: nothing },
    ask: () => Promise.reject(new Error('this tool asks nobody')),
    ...overrides,
  };
}

export interface Said {
  text: string;
  isError: boolean;
  details: ToolResult['details'];
  content: ToolResult['content'];
}

/** The arguments as a tool gets them; throws when they do not fit. */
export function parseArgs<Args>({ parameters }: Tool<Args>, args: unknown): Args {
  const parsed = parameters.parse(args);
  if (!parsed.ok) throw new Error(parsed.problems.map(({ field, message }) => `${field}: ${message}`).join('; '));
  return parsed.args;
}

/** The fields that a tool does not take; undefined when the arguments fit. */
export function badFields<Args>({ parameters }: Tool<Args>, args: unknown): string[] | undefined {
  const parsed = parameters.parse(args);
  return parsed.ok ? undefined : parsed.problems.map(({ field }) => field);
}

/** Runs a call the way the engine does: its arguments are parsed first. */
export async function callTool<Args>(tool: Tool<Args>, args: unknown, context: ToolContext): Promise<Said> {
  const { content, isError, details } = await tool.run(parseArgs(tool, args), context);
  return { text: textOf(content), isError, details, content };
}
