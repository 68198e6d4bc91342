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
  kept: OutputCapture;
  /** Once it has ended. */
  exit: Exit | undefined;
  problem: string | undefined;
}

/** Commands that go on after their call, until the run that started them ends. What they said is kept until it was read. */
export function createBackgrounds({ processes }: { processes: Processes }) {
  const all = new Map<string, Background>();

  async function drop(background: Background): Promise<void> {
    if (all.delete(background.id)) await background.kept.end();
  }

  async function makeRoom(sessionId: string): Promise<boolean> {
    const own = [...all.values()].filter((background) => background.sessionId === sessionId);
    if (own.length < limits.backgroundCommandsMax) return true;
    const oldest = own.find(isOver);
    if (oldest) await drop(oldest);
    return oldest !== undefined;
  }

  /** The new output and the state. Once it has ended, this is the last that is heard of it. */
  async function tell(background: Background): Promise<ToolResult> {
    const { id, kept, exit, problem } = background;
    const over = isOver(background);
    const text = kept.take(over);
    const artifactId = kept.artifactId();
    if (over) await drop(background);
    const state = exit ? describeExit(exit) : (problem ?? `${id} is running`);
    const body = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    const notes = [...(exit ? notesOn(exit, text, background) : []), `[${state}]`].filter((note) => note !== '');
    return toolText(body + notes.join('\n'), (exit !== undefined && exit.code !== 0) || problem !== undefined, {
      ...(exit && { exit_code: exit.code, ...(exit.signal !== null && { signal: exit.signal }) }),
      ...(artifactId !== undefined && over && { artifact_id: artifactId }),
      counts: { ...kept.counts },
    });
  }

  function find(id: string, context: ToolContext): Background | ToolResult {
    const background = all.get(id);
    if (background?.sessionId === context.sessionId) return background;
    return toolText(`There is no background command ${JSON.stringify(id)}: it was read to its end, or its run is over.`, true);
  }

  return {
    async start(command: string, cwd: string, context: ToolContext): Promise<ToolResult> {
      const { sessionId, runId, toolCallId, artifacts, reach } = context;
      if (!(await makeRoom(sessionId)))
        return toolText(`${limits.backgroundCommandsMax} commands run in the background already; end one of them first.`, true);
      const { confinement } = reach;
      const kept = createOutputCapture({ artifacts, wholeFile: true });
      const started = await processes.start({
        command,
        cwd,
        confinement,
        autorunKind: context.reach.autorunKind,
        sessionId,
        runId,
        toolCallId,
        onOutput: (chunk) => kept.write(chunk),
      });
      const id = `bg_${randomBytes(6).toString('hex')}`;
      const background: Background = { id, sessionId, cwd, command: started, confinement, kept, exit: undefined, problem: undefined };
      all.set(id, background);
      void started.exited.then(
        (exit) => (background.exit = exit),
        (error: unknown) => (background.problem = error instanceof Error ? error.message : String(error)),
      );
      processes.onRunEnd(runId, () => drop(background));
      if (context.signal.aborted) await started.kill();
      return toolText(`Started in the background as ${id}. Call bash with this id for its output; it ends with the run.`);
    },
    /** Waits for its end, but not longer than it is told to. */
    async poll(id: string, waitMs: number, context: ToolContext): Promise<ToolResult> {
      const found = find(id, context);
      if ('content' in found) return found;
      if (waitMs > 0 && !isOver(found)) await untilEnd(found.command, waitMs, context.signal);
      return tell(found);
    },
    async kill(id: string, context: ToolContext): Promise<ToolResult> {
      const found = find(id, context);
      if ('content' in found) return found;
      await found.command.kill();
      // A command that was ended on request is no failure.
      return { ...(await tell(found)), isError: false };
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

async function untilEnd(command: RunningCommand, waitMs: number, signal: AbortSignal): Promise<void> {
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
