import { readdirSync, renameSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makeDir } from '../machine/make-dir.js';
import { readSmallFile } from '../machine/bounded-read.js';
import { limits } from '../protocol/limits.js';
import { syncDir, writeNewFile } from '../machine/atomic-file.js';
import { OutboxFull } from './errors.js';
import { isRunning, readProcess, type ProcessIdentity } from '../machine/process-identity.js';

/** An input that waits on disk for a daemon to take it. */
export interface KeptInput {
  inputId: string;
  sessionId: string;
  /** The store that the session is in. */
  logId: string;
  command: 'prompt' | 'steer' | 'follow_up';
  /** What is sent beside the ids. */
  payload: Record<string, unknown> & { text: string };
  atMs: number;
}

/** A kept input that a process left behind. */
export interface LeftInput extends KeptInput {
  /** It was refused, and nobody was told: it is not sent again. */
  returned: boolean;
}

/**
 * Inputs on disk until a daemon has taken them: a file each, so that several processes need no lock. Whoever removes or marks a file is the
 * one that may tell about it; to send one twice does no harm, because a daemon takes an input id once.
 */
export interface Outbox {
  /** Returns when the input is on disk. Throws OutboxFull when there is no room, RangeError for an id that no daemon takes. */
  keep(input: KeptInput): void;
  /** Inputs of a session whose process has ended, oldest first. */
  leftBehind(sessionId: string): LeftInput[];
  /** A refused input is not sent again; it stays until it is removed. False when another process was faster. */
  markReturned(inputId: string): boolean;
  /** False when another process was faster. */
  remove(inputId: string): boolean;
}

interface Deps {
  dir: string;
  /** Says what could not be read, and where it is now. */
  notice(text: string): void;
}

const kept = /^(\d{15})-\d{6}-([\w.:-]{1,128})(\.returned)?\.json$/;
const unfinished = /^\.(\d+)-(\d+)\.\d+\.tmp$/;

export function createOutbox({ dir, notice }: Deps): Outbox {
  const self: ProcessIdentity = { pid: process.pid, startTime: readProcess(process.pid)?.startTime ?? '0' };
  /** Where the inputs are that this process knows of. */
  const places = new Map<string, string>();
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

  /** Removes what nobody will ask for: unfinished files of dead processes, very old inputs, more damaged files than anybody reads. */
  function tidy(found: readonly string[]): string[] {
    const spoiled = found.filter((name) => name.endsWith('.damaged'));
    const excess = new Set(spoiled.slice(0, Math.max(0, spoiled.length - limits.outboxDamagedMax)));
    return found.filter((name) => {
      const [, pid, startTime] = unfinished.exec(name) ?? [];
      const [, madeMs] = kept.exec(name) ?? [];
      const isLeftover = pid !== undefined && startTime !== undefined && !isRunning({ pid: Number(pid), startTime });
      const isOld = madeMs !== undefined && Date.now() - Number(madeMs) > limits.outboxFileMaxMs;
      if (!isLeftover && !isOld && !excess.has(name)) return true;
      rmSync(join(dir, name), { force: true });
      return false;
    });
  }

  function refuseIfFull(more: number): void {
    const files = tidy(names()).filter((name) => kept.test(name));
    const bytes = files.reduce((sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0), more);
    if (files.length < limits.outboxInputsMax && bytes <= limits.outboxBytesMax) return;
    throw new OutboxFull(`the outbox is full: ${files.length} messages wait for a daemon in ${dir}; berth attach sends those of a session`);
  }

  function read(name: string): (LeftInput & { owner: ProcessIdentity }) | undefined {
    const file = readSmallFile(join(dir, name), { bytesMax: limits.outboxBytesMax, followLinks: false });
    if (!('bytes' in file) && file.why === 'missing') return undefined;
    const input = 'bytes' in file ? parse(file.bytes.toString('utf8')) : undefined;
    if (input && name.includes(input.inputId)) return { ...input, returned: name.endsWith('.returned.json') };
    setAside(name);
    return undefined;
  }

  function setAside(name: string): void {
    if (!move(name, `${name}.damaged`)) return;
    notice(`a message that was kept in the outbox cannot be read; it is now in ${join(dir, `${name}.damaged`)}`);
  }

  function move(from: string, to: string): boolean {
    return wasThere(() => renameSync(join(dir, from), join(dir, to)));
  }

  return {
    keep(input) {
      const text = JSON.stringify({ v: 1, owner: self, ...input });
      refuseIfFull(Buffer.byteLength(text));
      makeDir(dir);
      lastMs = Math.max(lastMs, input.atMs);
      const order = `${String(lastMs).padStart(15, '0')}-${String(++count % 1_000_000).padStart(6, '0')}`;
      const name = `${order}-${input.inputId}.json`;
      // The name of a file, too: no id leads to another directory.
      if (!kept.test(name)) throw new RangeError(`input_id is 1 to 128 of A-Z a-z 0-9 _ . : -, not ${JSON.stringify(input.inputId)}`);
      const draft = join(dir, `.${self.pid}-${self.startTime}.${count}.tmp`);
      try {
        writeNewFile(draft, text);
        renameSync(draft, join(dir, name));
      } finally {
        rmSync(draft, { force: true });
      }
      syncDir(dir);
      places.set(input.inputId, name);
    },
    leftBehind(sessionId) {
      const found = tidy(names()).filter((name) => kept.test(name));
      return found.flatMap((name) => {
        const input = read(name);
        if (input?.sessionId !== sessionId || isRunning(input.owner)) return [];
        places.set(input.inputId, name);
        return [input];
      });
    },
    markReturned(inputId) {
      const name = places.get(inputId);
      if (name === undefined || name.endsWith('.returned.json')) return name !== undefined;
      const marked = name.replace(/\.json$/, '.returned.json');
      places.set(inputId, marked);
      return move(name, marked);
    },
    remove(inputId) {
      const name = places.get(inputId);
      places.delete(inputId);
      return name !== undefined && wasThere(() => unlinkSync(join(dir, name)));
    },
  };
}

/** False when the file was gone: another process was faster. */
function wasThere(act: () => void): boolean {
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
  return isKept(value) ? value : undefined;
}

function isKept(value: unknown): value is KeptInput & { owner: ProcessIdentity } {
  if (!isObject(value) || !isObject(value.owner) || !isObject(value.payload)) return false;
  const texts = [value.inputId, value.sessionId, value.logId, value.payload.text, value.owner.startTime];
  const isKnown = value.command === 'prompt' || value.command === 'steer' || value.command === 'follow_up';
  return texts.every((text) => typeof text === 'string') && isKnown && Number.isFinite(value.atMs) && Number.isInteger(value.owner.pid);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
