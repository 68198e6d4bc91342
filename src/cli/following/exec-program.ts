import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Paths } from '../../machine/paths.js';
import { isSystemError } from '../../machine/system-calls.js';
import { printableJson } from '../../view/printable.js';
import { Refused } from '../exit.js';
import type { ToldHappening } from './happenings.js';

/**
 * Runs a program of the person, without a shell and with the environment of this terminal: what happened is a line of JSON on its standard
 * input, and its fields are in the environment. Resolves when it ended well; throws Refused otherwise.
 */
export async function execProgram(program: string, happening: ToldHappening, paths: Paths): Promise<void> {
  const child = spawn(program, [], { stdio: ['pipe', 'inherit', 'inherit'], env: { ...process.env, ...toEnv(happening, paths) } });
  // Not every program reads what it is given.
  child.stdin.on('error', (error) => {
    if (!isSystemError(error) || error.code !== 'EPIPE') child.kill();
  });
  child.stdin.end(`${printableJson(happening)}\n`);
  const [code, signal] = (await once(child, 'close').catch((error: unknown) => {
    throw new Refused(`${program} cannot be run: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  })) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Refused(`${program} ended with ${signal ?? code}: seq ${happening.seq} is not acknowledged`);
}

function toEnv({ happened, seq, session_id, run_id, title, text, request_id, outcome }: ToldHappening, paths: Paths): NodeJS.ProcessEnv {
  return {
    BERTH_SOCKET: paths.socket,
    BERTH_STATE_DIR: paths.stateDir,
    BERTH_CONFIG_DIR: paths.configDir,
    BERTH_EVENT: happened,
    BERTH_SEQ: String(seq),
    BERTH_SESSION: session_id,
    BERTH_RUN: run_id,
    BERTH_TITLE: title,
    BERTH_TEXT: text,
    BERTH_REQUEST: request_id ?? '',
    BERTH_OUTCOME: outcome ?? '',
  };
}
