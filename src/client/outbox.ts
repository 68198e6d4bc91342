import { readdirSync, renameSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makeDir } from '../machine/make-dir.js';
import { readSmallFile } from '../machine/bounded-read.js';
import { limits } from '../protocol/limits.js';
import { syncDir, writeNewFile } from '../machine/atomic-file.js';
import { OutboxFull } from './errors.js';
import { isRunning, readProcess, type ProcessIdentity } from '../machine/process-identity.js';

/** An input in the outbox, which waits for a daemon. */
export interface KeptInput {
  inputId: string;
  sessionId: string;
  /** The log_id of the session's store. */
  logId: string;
  command: 'prompt' | 'steer' | 'follow_up';
  /** The fields of the command without ids. */
  payload: Record<string, unknown> & { text: string };
  atMs: number;
}

/** An input in the outbox whose process has ended. */
export interface LeftInput extends KeptInput {
  /** The daemon refused the input, and no person has seen that: it is not sent again. */
  returned: boolean;
}

/**
 * Inputs on disk until a daemon has committed them: a file each, so that several processes need no lock. The process that removes or
 * renames a file reports its outcome. Sending an input twice is harmless, because its id is an idempotency key.
 */
export interface Outbox {
  /** Returns when the input is durable (fsync). Throws OutboxFull at the limit, RangeError for an invalid id. */
  keep(input: KeptInput): void;
  /** Inputs of a session whose process has ended, oldest first. */
  leftBehind(sessionId: string): LeftInput[];
  /** Marks a refused input, which is not sent again, but stays until `remove`. False when another process removed the file. */
  markReturned(inputId: string): boolean;
  /** False when another process removed the file. */
  remove(inputId: string): boolean;
}

interface Deps {
  dir: string;
  /** Reports a damaged file and its new name. */
  notice(text: string): void;
}

const inputFile = /^(\d{15})-\d{6}-([\w.:-]{1,128})(\.returned)?\.json$/;
const draftFile = /^\.(\d+)-(\d+)\.\d+\.tmp$/;

export function createOutbox({ dir, notice }: Deps): Outbox {
  const self: ProcessIdentity = { pid: process.pid, startTime: readProcess(process.pid)?.startTime ?? '0' };
  /** File names by input id. */
  const fileNames = new Map<string, string>();
  let count = 0;
  let lastMs = 0;

  function names(): string[] {
    try {
      return readdirSync(dir).sort();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  /** Removes drafts of ended processes, very old inputs, and damaged files beyond a limit. */
  function tidy(found: readonly string[]): string[] {
    const damaged = found.filter((name) => name.endsWith('.damaged'));
    const excess = new Set(damaged.slice(0, Math.max(0, damaged.length - limits.outboxDamagedMax)));
    return found.filter((name) => {
      const [, pid, startTime] = draftFile.exec(name) ?? [];
      const [, madeMs] = inputFile.exec(name) ?? [];
      const isLeftover = pid !== undefined && startTime !== undefined && !isRunning({ pid: Number(pid), startTime });
      const isOld = madeMs !== undefined && Date.now() - Number(madeMs) > limits.outboxFileMaxMs;
      if (!isLeftover && !isOld && !excess.has(name)) return true;
      rmSync(join(dir, name), { force: true });
      return false;
    });
  }

  function refuseIfFull(more: number): void {
    const files = tidy(names()).filter((name) => inputFile.test(name));
    const bytes = files.reduce((sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0), more);
    if (files.length < limits.outboxInputsMax && bytes <= limits.outboxBytesMax) return;
    throw new OutboxFull(`the outbox is full: ${files.length} messages wait for a daemon in ${dir}; berth attach sends those of a session`);
  }

  function read(name: string): (LeftInput & { owner: ProcessIdentity }) | undefined {
    const file = readSmallFile(join(dir, name), { bytesMax: limits.outboxBytesMax, followLinks: false });
    if (!('bytes' in file) && file.why === 'missing') return undefined;
    const input = 'bytes' in file ? parse(file.bytes.toString('utf8')) : undefined;
    if (input && name.includes(input.inputId)) return { ...input, returned: name.endsWith('.returned.json') };
    moveDamaged(name);
    return undefined;
  }

  function moveDamaged(name: string): void {
    if (!move(name, `${name}.damaged`)) return;
    notice(`a message in the outbox is damaged and was not sent; its file is now ${join(dir, `${name}.damaged`)}`);
  }

  function move(from: string, to: string): boolean {
    return succeedsUnlessGone(() => renameSync(join(dir, from), join(dir, to)));
  }

  return {
    keep(input) {
      const text = JSON.stringify({ v: 1, owner: self, ...input });
      refuseIfFull(Buffer.byteLength(text));
      makeDir(dir);
      lastMs = Math.max(lastMs, input.atMs);
      const order = `${String(lastMs).padStart(15, '0')}-${String(++count % 1_000_000).padStart(6, '0')}`;
      const name = `${order}-${input.inputId}.json`;
      // The id is part of a file name: path traversal is impossible.
      if (!inputFile.test(name)) throw new RangeError(`input_id is 1 to 128 of A-Z a-z 0-9 _ . : -, not ${JSON.stringify(input.inputId)}`);
      const draft = join(dir, `.${self.pid}-${self.startTime}.${count}.tmp`);
      try {
        writeNewFile(draft, text);
        renameSync(draft, join(dir, name));
      } finally {
        rmSync(draft, { force: true });
      }
      syncDir(dir);
      fileNames.set(input.inputId, name);
    },
    leftBehind(sessionId) {
      const found = tidy(names()).filter((name) => inputFile.test(name));
      return found.flatMap((name) => {
        const input = read(name);
        if (input?.sessionId !== sessionId || isRunning(input.owner)) return [];
        fileNames.set(input.inputId, name);
        return [input];
      });
    },
    markReturned(inputId) {
      const name = fileNames.get(inputId);
      if (name === undefined || name.endsWith('.returned.json')) return name !== undefined;
      const marked = name.replace(/\.json$/, '.returned.json');
      fileNames.set(inputId, marked);
      return move(name, marked);
    },
    remove(inputId) {
      const name = fileNames.get(inputId);
      fileNames.delete(inputId);
      return name !== undefined && succeedsUnlessGone(() => unlinkSync(join(dir, name)));
    },
  };
}

/** False for ENOENT: another process removed the file. */
function succeedsUnlessGone(act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function parse(text: string): (KeptInput & { owner: ProcessIdentity }) | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return isKeptInput(value) ? value : undefined;
}

function isKeptInput(value: unknown): value is KeptInput & { owner: ProcessIdentity } {
  if (!isObject(value) || !isObject(value.owner) || !isObject(value.payload)) return false;
  const texts = [value.inputId, value.sessionId, value.logId, value.payload.text, value.owner.startTime];
  const isInputCommand = value.command === 'prompt' || value.command === 'steer' || value.command === 'follow_up';
  return (
    texts.every((text) => typeof text === 'string') && isInputCommand && Number.isFinite(value.atMs) && Number.isInteger(value.owner.pid)
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
