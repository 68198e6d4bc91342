import { randomBytes } from 'node:crypto';
import { limits } from '../../protocol/limits.js';
import { describeExcess, describeExit, describeNewAutorun, sandboxHint } from './bash-messages.js';
import { createOutputCapture, type OutputCapture } from '../output/output-capture.js';
import { toolText, type ToolContext, type ToolResult } from '../port.js';
import type { Confinement } from '../../sandbox/port.js';
import type { Exit, Processes, RunningCommand } from '../../sandbox/port.js';

interface Background {
  id: string;
  sessionId: string;
  cwd: string;
  command: RunningCommand;
  confinement: Confinement;
  output: OutputCapture;
  /** Undefined while the command runs. */
  exit: Exit | undefined;
  problem: string | undefined;
}

/** Background commands: they outlive their tool call and end with the run that started them. Their output is kept until it is polled. */
export function createBackgrounds({ processes }: { processes: Processes }) {
  const all = new Map<string, Background>();

  async function drop(background: Background): Promise<void> {
    if (all.delete(background.id)) await background.output.end();
  }

  async function makeRoom(sessionId: string): Promise<boolean> {
    const own = [...all.values()].filter((background) => background.sessionId === sessionId);
    if (own.length < limits.backgroundCommandsMax) return true;
    const oldest = own.find(isOver);
    if (oldest) await drop(oldest);
    return oldest !== undefined;
  }

  /** The new output and the state of a command. The report after its exit is the last one, and drops the command. */
  async function report(background: Background): Promise<ToolResult> {
    const { id, output, exit, problem } = background;
    const over = isOver(background);
    const text = output.take(over);
    const artifactId = output.artifactId();
    if (over) await drop(background);
    const state = exit ? describeExit(exit) : (problem ?? `${id} is running`);
    const body = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    const notes = [...(exit ? notesOn(exit, text, background) : []), `[${state}]`].filter((note) => note !== '');
    return toolText(body + notes.join('\n'), (exit !== undefined && exit.code !== 0) || problem !== undefined, {
      ...(exit && { exit_code: exit.code, ...(exit.signal !== null && { signal: exit.signal }) }),
      ...(artifactId !== undefined && over && { artifact_id: artifactId }),
      counts: { ...output.counts },
    });
  }

  function find(id: string, context: ToolContext): Background | ToolResult {
    const background = all.get(id);
    if (background?.sessionId === context.sessionId) return background;
    return toolText(`There is no background command ${JSON.stringify(id)}: its exit was reported already, or its run is over.`, true);
  }

  return {
    async start(command: string, cwd: string, context: ToolContext): Promise<ToolResult> {
      const { sessionId, runId, toolCallId, artifacts, reach } = context;
      if (!(await makeRoom(sessionId)))
        return toolText(
          `${limits.backgroundCommandsMax} background commands run already, which is the limit. End one with kill: true first.`,
          true,
        );
      const { confinement } = reach;
      const output = createOutputCapture({ artifacts, wholeFile: true });
      const started = await processes.start({
        command,
        cwd,
        confinement,
        autorunKind: context.reach.autorunKind,
        sessionId,
        runId,
        toolCallId,
        onOutput: (chunk) => output.write(chunk),
      });
      const id = `bg_${randomBytes(6).toString('hex')}`;
      const background: Background = { id, sessionId, cwd, command: started, confinement, output, exit: undefined, problem: undefined };
      all.set(id, background);
      void started.exited.then(
        (exit) => (background.exit = exit),
        (error: unknown) => (background.problem = error instanceof Error ? error.message : String(error)),
      );
      processes.onRunEnd(runId, () => drop(background));
      if (context.signal.aborted) await started.kill();
      return toolText(`Started in the background as ${id}. Call bash with this id for its output; it ends with the run.`);
    },
    /** Waits for the exit of the command, for `waitMs` at most, and reports. */
    async poll(id: string, waitMs: number, context: ToolContext): Promise<ToolResult> {
      const found = find(id, context);
      if ('content' in found) return found;
      if (waitMs > 0 && !isOver(found)) await waitForExit(found.command, waitMs, context.signal);
      return report(found);
    },
    async kill(id: string, context: ToolContext): Promise<ToolResult> {
      const found = find(id, context);
      if ('content' in found) return found;
      await found.command.kill();
      // A command that was killed on request is no error.
      return { ...(await report(found)), isError: false };
    },
  };
}
export type Backgrounds = ReturnType<typeof createBackgrounds>;

function notesOn(exit: Exit, text: string, { cwd, confinement, command }: Background): string[] {
  const { readOnly } = command;
  return [
    exit.excess ? `[${describeExcess(exit.excess)}]` : sandboxHint(text, exit, { cwd, confinement, readOnly }),
    describeNewAutorun(exit, cwd),
  ];
}

function isOver({ exit, problem }: Background): boolean {
  return exit !== undefined || problem !== undefined;
}

async function waitForExit(command: RunningCommand, waitMs: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, waitMs);
    stop = resolve;
    signal.addEventListener('abort', stop);
  });
  await Promise.race([command.exited.then(ignore, ignore), enough]);
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
}

function ignore(): void {
  return undefined;
}
