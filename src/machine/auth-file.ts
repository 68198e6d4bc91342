import { fchmodSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeDir } from './make-dir.js';
import { readSmallFile } from './bounded-read.js';
import { limits } from '../protocol/limits.js';
import { ownerOnly, replaceFile, targetOf } from './atomic-file.js';
import { takeLockFile } from './lock-file.js';

/** Keys cannot be read or kept; the message says why and what to do, and nothing of what is in the file. */
export class AuthFileRefused extends Error {
  override name = 'AuthFileRefused';
}

/** What `auth.json` says. */
export interface AuthFile {
  /** The providers that have a key, in the order of the file. */
  readonly providers: readonly string[];
  /** The key of a provider, if it has one. Throws `AuthFileRefused` for one that no request can carry. */
  keyOf(provider: string): string | undefined;
}

export interface AuthReader {
  /** What the file says now. Costs a look at its status while it stays the same. Throws as `readAuthFile` does. */
  read(): AuthFile;
}

const tuning = {
  pollMs: 20,
  /** Two changes this close to each other may leave the same times behind. */
  settledMs: 100,
} as const;
const providerName = /^[A-Za-z0-9._-]{1,64}$/;

export function authPath(configDir: string): string {
  return join(configDir, 'auth.json');
}

export function isProviderName(name: string): boolean {
  return providerName.test(name);
}

/** Reads `auth.json`. No file is an empty one; one that others could read is theirs no longer. Throws `AuthFileRefused`. */
export function readAuthFile(configDir: string): AuthFile {
  const path = authPath(configDir);
  const entries = readEntries(path);
  return {
    providers: [...entries].filter(([, entry]) => hasKey(entry)).map(([provider]) => provider),
    keyOf(provider) {
      const entry = entries.get(provider);
      if (!hasKey(entry)) return undefined;
      const key = typeof entry.api_key === 'string' ? entry.api_key.trim() : '';
      const fault = faultOf(key);
      if (fault !== undefined) throw new AuthFileRefused(`a key in ${path} cannot be used: ${fault}; ${setAgain(provider)}`);
      return key;
    },
  };
}

/** For whoever wants a key often: the file is read again only when it has changed. */
export function createAuthReader(configDir: string): AuthReader {
  const path = authPath(configDir);
  let known: { mark: string; file: AuthFile } | undefined;
  return {
    read() {
      const mark = markOf(path);
      if (known && known.mark === mark) return known.file;
      const file = readAuthFile(configDir);
      known = mark === undefined ? undefined : { mark, file };
      return file;
    },
  };
}

/** Keeps the key of a provider, without the white space around it. On disk when it resolves; throws `AuthFileRefused`. */
export async function setKey(configDir: string, provider: string, typed: string): Promise<void> {
  if (!isProviderName(provider))
    throw new AuthFileRefused('the name of a provider is 1 to 64 letters, digits, dots, dashes and underscores');
  const key = typed.trim();
  const fault = faultOf(key);
  if (fault !== undefined) throw new AuthFileRefused(`${fault}; nothing was written`);
  await change(configDir, (entries) => {
    const entry = entries.get(provider);
    entries.set(provider, { ...(isObject(entry) ? entry : {}), api_key: key });
    return true;
  });
}

/** Removes the key of a provider. False when there was none. Throws `AuthFileRefused`. */
export async function removeKey(configDir: string, provider: string): Promise<boolean> {
  // Where there is nothing to remove, nothing is made either.
  if (!hasKey(readEntries(authPath(configDir)).get(provider))) return false;
  return change(configDir, (entries) => {
    const entry = entries.get(provider);
    if (!hasKey(entry)) return false;
    const { api_key: _removed, ...rest } = entry;
    if (Object.keys(rest).length === 0) entries.delete(provider);
    else entries.set(provider, rest);
    return true;
  });
}

type Entries = Map<string, unknown>;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasKey(entry: unknown): entry is { api_key: unknown } {
  return isObject(entry) && Object.hasOwn(entry, 'api_key');
}

/** What keeps a key from being sent in a header, in words that do not show it. */
function faultOf(key: string): string | undefined {
  if (key === '') return 'there is no key';
  if (key.length > limits.keyCharsMax) return `a key has ${limits.keyCharsMax} characters at most`;
  if (/[\r\n]/.test(key)) return 'a key is one line, and these are several';
  return /^[ -~]*$/.test(key) ? undefined : 'a key has only printable ASCII characters, and this has others';
}

function setAgain(provider: string): string {
  return `berth auth set ${isProviderName(provider) ? provider : 'PROVIDER'} sets it again`;
}

function refuseBy(doing: string, path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const remedy = 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM') ? '; it must be yours to read and write' : '';
  return new AuthFileRefused(`cannot ${doing} ${path}: ${error.message}${remedy}`, { cause: error });
}

function readEntries(path: string): Entries {
  const bytes = readBytes(path);
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
    value = text === '' ? {} : JSON.parse(text);
  } catch {
    // What the parser says quotes the file.
    throw new AuthFileRefused(`${path} is not JSON; mend it, or move it away and set the keys again with berth auth set PROVIDER`);
  }
  if (!isObject(value)) throw new AuthFileRefused(`${path} is not an object of providers, like {"anthropic": {"api_key": "…"}}; mend it`);
  return new Map(Object.entries(value));
}

function readBytes(path: string): Buffer {
  const file = readSmallFile(path, {
    bytesMax: limits.authFileBytesMax,
    followLinks: true,
    inspect: (descriptor, status) => makePrivate(descriptor, status, path),
  });
  if ('bytes' in file) return file.bytes;
  if (file.why === 'not_a_file') throw new AuthFileRefused(`${path} is not a regular file; move it away`);
  if (file.why === 'too_long') {
    throw new AuthFileRefused(`${path} is larger than ${limits.authFileBytesMax} bytes, so it is not a file of keys; move it away`);
  }
  if (file.why === 'missing') return Buffer.alloc(0);
  throw refuseBy('read', path, file.cause);
}

/** Ours alone from now on, or refused. */
function makePrivate(descriptor: number, status: Stats, path: string): void {
  if (status.uid !== (process.getuid?.() ?? status.uid)) {
    throw new AuthFileRefused(`${path} belongs to another user, who may change it; make it yours (chown) or move it away`);
  }
  if ((status.mode & 0o077) === 0) return;
  try {
    fchmodSync(descriptor, ownerOnly);
  } catch (error) {
    throw refuseBy('keep others from reading', path, error);
  }
}

/** What is different after a change; undefined when that cannot be told yet. */
function markOf(path: string): string | undefined {
  try {
    const status = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (!status) return 'none';
    if (Date.now() - Number(status.ctimeMs) < tuning.settledMs) return undefined;
    return [status.dev, status.ino, status.size, status.mtimeNs, status.ctimeNs].join(' ');
  } catch (error) {
    // Reading it says what is wrong.
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

/** Reads, edits and writes while nobody else does. An edit that says false is not written, and may be made several times. */
async function change(configDir: string, edit: (entries: Entries) => boolean): Promise<boolean> {
  const path = authPath(configDir);
  const deadline = performance.now() + 2 * limits.authLockMs;
  // Nothing is made beside what a link means before it is known to be a file of ours.
  readEntries(path);
  try {
    makeDir(configDir);
    const target = targetOf(path);
    do {
      const lock = takeLockFile(`${target}.lock`, limits.authLockMs);
      if (!lock) {
        await delay(tuning.pollMs);
        continue;
      }
      try {
        const entries = readEntries(target);
        if (!edit(entries)) return false;
        if (replaceFile(target, toText(entries, path), lock.isHeld)) return true;
      } finally {
        lock.release();
      }
    } while (performance.now() < deadline);
    throw new AuthFileRefused(`somebody else is changing ${path}; try again, and if nobody is, remove ${target}.lock`);
  } catch (error) {
    throw refuseBy('write', path, error);
  }
}

function toText(entries: Entries, path: string): string {
  const text = `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`;
  if (Buffer.byteLength(text) <= limits.authFileBytesMax) return text;
  throw new AuthFileRefused(`${path} would become larger than ${limits.authFileBytesMax} bytes; remove keys with berth auth rm PROVIDER`);
}
