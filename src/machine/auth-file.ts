import { fchmodSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from './bounded-read.js';
import { limits } from '../protocol/limits.js';
import { ownerOnly, targetOf } from './atomic-file.js';
import { changeFile } from './change-file.js';

/** Keys cannot be read or stored; the message names cause and remedy, and never quotes the file. */
export class AuthFileRefused extends Error {
  override name = 'AuthFileRefused';
}

/** The content of `auth.json`. */
export interface AuthFile {
  /** The providers that have a key, in the order of the file. */
  readonly providers: readonly string[];
  /** The key of a provider, if there is one. Throws `AuthFileRefused` for a key that is invalid in an HTTP header. */
  keyOf(provider: string): string | undefined;
}

export interface AuthReader {
  /** The content of the file now. An unchanged file costs a stat only. Throws as `readAuthFile` does. */
  read(): AuthFile;
}

const tuning = {
  /** The granularity of file times: two changes within it may have the same mtime and ctime. */
  settledMs: 100,
} as const;
const providerName = /^[A-Za-z0-9._-]{1,64}$/;

export function authPath(configDir: string): string {
  return join(configDir, 'auth.json');
}

export function isProviderName(name: string): boolean {
  return providerName.test(name);
}

/** Reads `auth.json`. A missing file is empty; a file that other users can read gets mode 0600. Throws `AuthFileRefused`. */
export function readAuthFile(configDir: string): AuthFile {
  const path = authPath(configDir);
  const entries = readEntries(path);
  return {
    providers: [...entries].filter(([, entry]) => hasKey(entry)).map(([provider]) => provider),
    keyOf(provider) {
      const entry = entries.get(provider);
      if (!hasKey(entry)) return undefined;
      const key = typeof entry.api_key === 'string' ? entry.api_key.trim() : '';
      const fault = findKeyProblem(key);
      if (fault !== undefined) throw new AuthFileRefused(`a key in ${path} cannot be used: ${fault}; ${setKeyRemedy(provider)}`);
      return key;
    },
  };
}

/** Caches `auth.json` until the file changes. */
export function createAuthReader(configDir: string): AuthReader {
  const path = authPath(configDir);
  let cached: { mark: string; file: AuthFile } | undefined;
  return {
    read() {
      const mark = fingerprintOf(path);
      if (cached && cached.mark === mark) return cached.file;
      const file = readAuthFile(configDir);
      cached = mark === undefined ? undefined : { mark, file };
      return file;
    },
  };
}

/** Stores the key of a provider, trimmed. Durable when the promise resolves; throws `AuthFileRefused`. */
export async function setKey(configDir: string, provider: string, typed: string): Promise<void> {
  if (!isProviderName(provider))
    throw new AuthFileRefused('the name of a provider is 1 to 64 letters, digits, dots, dashes and underscores');
  const key = typed.trim();
  const fault = findKeyProblem(key);
  if (fault !== undefined) throw new AuthFileRefused(`${fault}; nothing was written`);
  await change(configDir, (entries) => {
    const entry = entries.get(provider);
    entries.set(provider, { ...(isObject(entry) ? entry : {}), api_key: key });
    return true;
  });
}

/** Removes the key of a provider. False when there was none. Throws `AuthFileRefused`. */
export async function removeKey(configDir: string, provider: string): Promise<boolean> {
  // Without a key neither the directory nor a lock file is made.
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

/** Why a key is invalid in an HTTP header; the message does not quote the key. */
function findKeyProblem(key: string): string | undefined {
  if (key === '') return 'there is no key';
  if (key.length > limits.keyCharsMax) return `a key has ${limits.keyCharsMax} characters at most`;
  if (/[\r\n]/.test(key)) return 'a key is one line, and these are several';
  return /^[ -~]*$/.test(key) ? undefined : 'a key has only printable ASCII characters, and this has others';
}

function setKeyRemedy(provider: string): string {
  return `set it again with berth auth set ${isProviderName(provider) ? provider : 'PROVIDER'}`;
}

function toRefusal(doing: string, path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const remedy = 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM') ? '; you must be its owner, with mode 600' : '';
  return new AuthFileRefused(`cannot ${doing} ${path}: ${error.message}${remedy}`, { cause: error });
}

function readEntries(path: string): Entries {
  const bytes = readBytes(path);
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
    value = text === '' ? {} : JSON.parse(text);
  } catch {
    // The parser's message is left out: it quotes the file, which has secrets.
    throw new AuthFileRefused(`${path} is not JSON; correct it, or move it away and set the keys again with berth auth set PROVIDER`);
  }
  if (!isObject(value))
    throw new AuthFileRefused(`${path} is not an object of providers, like {"anthropic": {"api_key": "…"}}; correct it`);
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
  throw toRefusal('read', path, file.cause);
}

/** Restricts a file to its owner with fchmod; a file of another user is refused. */
function makePrivate(descriptor: number, status: Stats, path: string): void {
  if (status.uid !== (process.getuid?.() ?? status.uid)) {
    throw new AuthFileRefused(`${path} belongs to another user, who may change it; make it yours (chown) or move it away`);
  }
  if ((status.mode & 0o077) === 0) return;
  try {
    fchmodSync(descriptor, ownerOnly);
  } catch (error) {
    throw toRefusal('keep others from reading', path, error);
  }
}

/** A fingerprint that differs after a change; undefined when the file is too new for its times to be reliable. */
function fingerprintOf(path: string): string | undefined {
  try {
    const status = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (!status) return 'none';
    if (Date.now() - Number(status.ctimeMs) < tuning.settledMs) return undefined;
    return [status.dev, status.ino, status.size, status.mtimeNs, status.ctimeNs].join(' ');
  } catch (error) {
    // The read that follows reports the error.
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
}

/** Reads, edits and writes the file under a lock. An edit that returns false is not written; an edit may be called several times. */
async function change(configDir: string, edit: (entries: Entries) => boolean): Promise<boolean> {
  const path = authPath(configDir);
  // Checked before the lock file is made, which stands beside the target of a symlink.
  readEntries(path);
  try {
    const outcome = await changeFile(path, (target) => {
      const entries = readEntries(target);
      return edit(entries) ? toText(entries, path) : undefined;
    });
    if (outcome !== 'locked') return outcome === 'written';
  } catch (error) {
    throw toRefusal('write', path, error);
  }
  throw new AuthFileRefused(
    `${path} is locked by another process; try again, or remove the lock file ${targetOf(path)}.lock if no other berth changes keys`,
  );
}

function toText(entries: Entries, path: string): string {
  const text = `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`;
  if (Buffer.byteLength(text) <= limits.authFileBytesMax) return text;
  throw new AuthFileRefused(`${path} would become larger than ${limits.authFileBytesMax} bytes; remove keys with berth auth rm PROVIDER`);
}
