import { realpathSync, statSync } from 'node:fs';
import * as z from 'zod';
import { utf8Bytes, wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import { createBackgrounds, type Backgrounds } from './bash-background.js';
import { describeExcess, describeExit, describeNewAutorun, sandboxHint } from './bash-messages.js';
import { createOutputCapture } from '../output/output-capture.js';
import { createLiveOutput } from '../output/live-output.js';
import { toolText, type Tool, type ToolContext, type ToolResult } from '../port.js';
import { toolFacts } from '../tool-facts.js';
import { CannotStart } from '../../sandbox/spawn.js';
import type { Processes, RunningCommand } from '../../sandbox/port.js';
import { zodParameters } from '../zod-parameters.js';

const privateDir = '/tmp';
const secondsDefault = limits.bashTimeoutDefaultMs / 1000;
const secondsMax = limits.bashTimeoutMaxMs / 1000;

const parameters = z
  .object({
    command: z
      .string()
      .min(1)
      .refine(
        (text) => utf8Bytes(text) <= limits.commandBytesMax,
        `at most ${limits.commandBytesMax} bytes; write it to a file and run that`,
      )
      .refine((text) => !text.includes('\0'), 'a command has no zero bytes')
      .optional(),
    timeout: z
      .number()
      .min(limits.bashSecondsMin)
      .optional()
      .describe(`seconds, ${secondsDefault} if not given, at most ${secondsMax}; with id: how long to wait for its end`),
    background: z.boolean().optional().describe('goes on after the call; returns an id; ends with the run'),
    network: z.boolean().optional().describe('needs the network; a person is asked'),
    unsandboxed: z.boolean().optional().describe('must leave the sandbox; a person is asked'),
    id: z.string().max(limits.toolIdCharsMax).optional().describe('of a background command: its new output and state'),
    kill: z.boolean().optional().describe('with id: end it'),
  })
  .refine(({ command, id }) => (command === undefined) !== (id === undefined), { path: ['command'], error: 'give either command or id' })
  .refine(({ command, kill }) => command === undefined || kill === undefined, { path: ['kill'], error: 'kill goes with id' })
  .refine(({ id, background, network, unsandboxed }) => id === undefined || !(background ?? network ?? unsandboxed), {
    path: ['id'],
    error: 'with id, only kill and timeout mean something',
  });

type BashArgs = z.infer<typeof parameters>;

/** Runs shell commands in the working directory. Every process of a call is killed when the call ends, except background commands. */
export function createBashTool({ processes }: { processes: Processes }): Tool<BashArgs> {
  const backgrounds = createBackgrounds({ processes });
  return {
    ...toolFacts.bash,
    parameters: zodParameters(parameters),
    title({ command, id, kill }) {
      if (command === undefined) return `${kill ? 'End' : 'Look at'} ${id ?? ''}`;
      const line = command.replaceAll(/\s+/gu, ' ').trim();
      return line.length > limits.commandTitleCharsMax ? `${line.slice(0, wholeUnits(line, limits.commandTitleCharsMax))}…` : line;
    },
    prepare: ({ command, network = false, unsandboxed = false }) =>
      Promise.resolve({ accesses: command === undefined ? [] : [{ kind: 'command', command, network, unsandboxed }] }),
    async run(args, context) {
      try {
        if (context.signal.aborted) return toolText('Stopped before it began.', true);
        if (args.command === undefined) return await useBackground(backgrounds, args, context);
        const cwd = workingDirectory(context);
        if (args.background) return await backgrounds.start(args.command, cwd, context);
        return await runCommand(processes, args.command, args.timeout, cwd, context);
      } catch (error) {
        if (error instanceof CannotStart) return toolText(error.message, true);
        throw error;
      }
    },
  };
}

function useBackground(backgrounds: Backgrounds, { id = '', kill, timeout = 0 }: BashArgs, context: ToolContext): Promise<ToolResult> {
  if (kill) return backgrounds.kill(id, context);
  return backgrounds.poll(id, Math.min(timeout * 1000, limits.bashTimeoutMaxMs), context);
}

/** The working directory of a command; a private directory of the sandbox when the session's directory is not a workspace. */
function workingDirectory({ reach }: ToolContext): string {
  const cwd = reach.workspace;
  if (reach.noWorkspace !== undefined && reach.confinement.kind === 'sandbox') return privateDir;
  try {
    // The policy judged a real path: a symlink swapped in since is refused.
    if (realpathSync(cwd) === cwd && statSync(cwd).isDirectory()) return cwd;
    throw new CannotStart(
      `The working directory ${cwd} was replaced by a symbolic link or a file. Put the directory back, or begin a session where it is now.`,
    );
  } catch (error) {
    if (error instanceof CannotStart) throw error;
    throw new CannotStart(`The working directory ${cwd} cannot be used: ${(error as NodeJS.ErrnoException).code ?? String(error)}.`);
  }
}

/** Part of every result: a model that finds an empty working directory must know why. */
function noWorkspaceHint({ reach }: ToolContext): string {
  if (reach.noWorkspace === undefined || reach.confinement.kind !== 'sandbox') return '';
  return `[the command ran in a private, empty ${privateDir}: ${reach.noWorkspace}]`;
}

async function runCommand(
  processes: Processes,
  command: string,
  timeout = secondsDefault,
  cwd: string,
  context: ToolContext,
): Promise<ToolResult> {
  const { sessionId, runId, toolCallId, artifacts, signal } = context;
  const { confinement } = context.reach;
  const timeoutMs = Math.min(timeout * 1000, limits.bashTimeoutMaxMs);
  const output = createOutputCapture({ artifacts });
  const live = createLiveOutput((text) => context.output(text));
  const onOutput = (chunk: Buffer): void | Promise<void> => {
    live.push(chunk);
    return output.write(chunk);
  };
  try {
    const handle = await processes.start({
      command,
      cwd,
      confinement,
      autorunKind: context.reach.autorunKind,
      sessionId,
      runId,
      toolCallId,
      onOutput,
    });
    const stopped = await waitOrKill(handle, timeoutMs, signal);
    const exit = await handle.exited;
    if (!signal.aborted) live.end();
    const text = output.take(true);
    const artifactId = output.artifactId();
    const notes = [
      noWorkspaceHint(context),
      timeout * 1000 > timeoutMs ? `[a timeout of ${timeout} s is too long; ${secondsMax} s were allowed]` : '',
      stopped === 'timeout' ? `[stopped by the timeout after ${timeoutMs / 1000} s; give a longer timeout, or background: true]` : '',
      stopped === 'abort' ? '[stopped]' : '',
      exit.excess ? `[${describeExcess(exit.excess)}]` : '',
      stopped === undefined && !exit.excess ? sandboxHint(text, exit, { cwd, confinement, readOnly: handle.readOnly }) : '',
      describeNewAutorun(exit, cwd),
      `[${describeExit(exit)}]`,
    ];
    const body = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    return toolText(body + notes.filter((note) => note !== '').join('\n'), exit.code !== 0 || stopped !== undefined, {
      exit_code: exit.code,
      ...(exit.signal !== null && { signal: exit.signal }),
      ...(artifactId !== undefined && { artifact_id: artifactId }),
      counts: { ...output.counts },
    });
  } finally {
    await output.end();
  }
}

/** Waits for the exit; kills the process tree on timeout or abort. Undefined when the command ended by itself. */
async function waitOrKill(handle: RunningCommand, timeoutMs: number, signal: AbortSignal): Promise<'timeout' | 'abort' | undefined> {
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const interrupted = new Promise<'timeout' | 'abort'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), timeoutMs);
    stop = () => resolve('abort');
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
  });
  try {
    const why = await Promise.race([handle.exited.then(() => undefined), interrupted]);
    if (why !== undefined) await handle.kill();
    return why;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
