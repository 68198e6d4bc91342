import { limits } from '../protocol/limits.js';
import type { BytePath } from './byte-paths.js';
import { createOpener, type Opener } from './closed-folders.js';
import { holdLateCode, readPlain, type HeldCode } from './late-code.js';
import { lookForLateCode, nsPerMs, type LateCode, type Look, type RunsLater } from './late-code-look.js';
import { placeOf, stampPath, type Stamp } from './late-code-stamps.js';
import { digestOf } from './read-marks.js';

/** What is known of the late code in some directories while a command runs that is not to add to it. */
export interface KnownCode {
  roots: readonly string[];
  startMs: number;
  /** Everything was seen before. */
  isWhole: boolean;
  /** And everything that was seen is among the stamps. */
  isComplete: boolean;
  stamps: Set<string>;
  /** Paths, shortened. */
  places: Set<string>;
  /** What the command can only read, by its id: whoever changes it, it is not the command. */
  sealed: Set<string>;
  /** Digests of what a person approved, by path. */
  approved: Map<BytePath, string>;
  /** What is being written with a person's approval at this moment. */
  writing: BytePath[];
}

/** The same, to be kept for after a crash. */
export interface LateCodeRecord extends Pick<KnownCode, 'roots' | 'startMs' | 'isWhole' | 'isComplete' | 'writing'> {
  stamps: string[];
  places: string[];
  sealed: string[];
  approved: [path: BytePath, digest: string][];
}

/** A command is about to start, after a look. */
export function knowCode(roots: readonly string[], { found, isWhole }: Look): KnownCode {
  const some = [...found.values()].slice(0, limits.lateCodeStampsMax);
  return {
    roots,
    startMs: Date.now(),
    isWhole,
    isComplete: isWhole && some.length === found.size,
    stamps: new Set(some.map(({ stamp }) => stamp)),
    places: new Set(some.map(({ path }) => placeOf(path))),
    sealed: new Set(),
    approved: new Map(),
    writing: [],
  };
}

export function toRecord({ stamps, places, sealed, approved, ...known }: KnownCode): LateCodeRecord {
  return { ...known, stamps: [...stamps], places: [...places], sealed: [...sealed], approved: [...approved] };
}

export function fromRecord({ stamps, places, sealed, approved, ...record }: LateCodeRecord): KnownCode {
  return { ...record, stamps: new Set(stamps), places: new Set(places), sealed: new Set(sealed), approved: new Map(approved) };
}

/** As much again as there may be at the start. */
export function learnStamp({ stamps }: KnownCode, stamp: string): void {
  if (stamps.size < 2 * limits.lateCodeStampsMax) stamps.add(stamp);
}

/** Puts aside what is new or changed. Looks at more than before, so that the command does not hide it behind what else it has made. */
export async function holdUnknown(
  known: KnownCode,
  runsLater: RunsLater,
  entriesMax: number = known.isWhole ? limits.lateCodeEntriesAfterMax : limits.lateCodeEntriesMax,
): Promise<HeldCode> {
  await using opener = createOpener();
  const { found, isWhole } = await lookForLateCode(opener, known.roots, runsLater, entriesMax);
  const unknown: LateCode[] = [];
  for (const late of found.values()) {
    if (!known.writing.includes(late.path) && !(await isKnown(opener, known, late))) unknown.push(late);
  }
  return { ...(await holdLateCode(opener, unknown)), isPartial: known.isWhole && !isWhole };
}

/** Whether late code is what it was, or what a person wanted it to be. */
async function isKnown(opener: Opener, known: KnownCode, late: LateCode): Promise<boolean> {
  if (known.stamps.has(late.stamp) || known.sealed.has(late.id)) return true;
  const isOld = late.newestNs < BigInt(known.startMs - limits.lateCodeClockMs) * nsPerMs;
  // What is old and in a new place came from where nobody looks, or has become late by what was put beside it.
  const isMoved = known.isComplete && !known.places.has(placeOf(late.path));
  if (isOld && !isMoved) return true;
  const asApproved = await approvedIn(known, late.path);
  if (asApproved.length === 0) return false;
  if (asApproved.includes(late.path)) return true;
  const rest = await stampPath(opener, late.path, asApproved);
  return rest === undefined || !rest.hasMore || known.stamps.has(rest.stamp);
}

/** Files at or below a path that are still as they were approved. */
async function approvedIn({ approved }: KnownCode, top: BytePath): Promise<BytePath[]> {
  const same: BytePath[] = [];
  for (const [path, digest] of approved) {
    if (path !== top && !path.startsWith(`${top}/`)) continue;
    const bytes = await readPlain(path, limits.textFileBytesMax);
    if (bytes && digestOf(bytes) === digest) same.push(path);
  }
  return same;
}

/** What is there of late code apart from a file that is about to be written in it; undefined when the command has been there already. */
export async function stampBeside(known: KnownCode, top: BytePath, file: BytePath): Promise<Pick<Stamp, 'stamp'> | undefined> {
  await using opener = createOpener();
  const stamp = await stampPath(opener, top);
  if (stamp === undefined) return { stamp: placeOf(top) };
  if (!(await isKnown(opener, known, { ...stamp, path: top, isShut: false }))) return undefined;
  return await stampPath(opener, top, [...(await approvedIn(known, top)), file]);
}
