import { statSync } from 'node:fs';
import { limits } from '../../protocol/limits.js';
import { ownerOnly } from '../atomic-file.js';
import { readSmallFile } from '../bounded-read.js';
import { changeFile } from '../change-file.js';
import { configPath } from '../config-path.js';
import { parseJsonc } from '../jsonc.js';
import { isSystemError } from '../system-calls.js';
import { findKeyProblem, describeKey, listEntries, redactSecrets, splitKey, toConfigJsonSchema, type ConfigEntry } from './config-keys.js';
import { checkConfig, keyText, type ConfigProblem } from './config-problems.js';
import { removeFromJsonc, setInJsonc } from './jsonc-edit.js';
import { JsoncInvalid, offsetOf, placeOf, readJsoncTree } from './jsonc-tree.js';

// What the command line does with config.json, without a daemon. It is a bundle of its own, so that other commands start without zod:
// what goes in and out are plain values.

export interface Setting {
  key: string;
  value: unknown;
  source: ConfigEntry['source'];
  /** Of the key in the file. */
  line: number | undefined;
  description: string;
}

/** Why a command is refused, as a sentence. */
export interface SettingRefused {
  refused: string;
}

export const hiddenSecret = '[hidden]';

/** What is wrong with config.json; a missing file is right. */
export function checkSettings(configDir: string): { problems: ConfigProblem[]; isMissing: boolean } | SettingRefused {
  const read = readText(configPath(configDir));
  if ('refused' in read) return read;
  return { problems: read.text === undefined ? [] : (checkConfig(read.text).problems ?? []), isMissing: read.text === undefined };
}

/** The effective values of a key and those below it, or of all keys. */
export function getSettings(
  configDir: string,
  key: string | undefined,
  { reveal }: { reveal: boolean },
): { settings: Setting[] } | SettingRefused {
  const path = toPath(key);
  if ('refused' in path) return path;
  const read = readText(configPath(configDir));
  if ('refused' in read) return read;
  const text = read.text ?? '{}';
  const { file, problems } = checkConfig(text);
  if (!file) return { refused: `${describePlace(configDir, problems[0])}; the daemon goes on with the config before it` };
  const tree = readJsoncTree(text);
  const settings = listEntries(file, path.path).map(({ path: at, value, source }) => ({
    key: keyText(at),
    value: reveal ? value : redactSecrets(value, at, hiddenSecret),
    source,
    line: source === 'file' ? placeOf(text, offsetOf(tree, at)).line : undefined,
    description: describeKey(at),
  }));
  return { settings };
}

export interface NewSetting {
  /** JSON, or a text that stands for itself. */
  value: string;
  /** On the command line, where every program of the machine can read it. */
  isTyped: boolean;
}

/** Sets a key, or removes it. `left` are the problems that the file had before and still has. */
export async function changeSetting(
  configDir: string,
  key: string,
  change: NewSetting | 'unset',
): Promise<{ changed: boolean; left: ConfigProblem[] } | SettingRefused> {
  const named = toPath(key);
  if ('refused' in named) return named;
  const { path } = named;
  const candidates = change === 'unset' ? [] : readCandidates(change.value);
  if (change !== 'unset' && change.isTyped && candidates.some((value) => hasSecret(value, path))) {
    const provider = path[1] ?? 'PROVIDER';
    return {
      refused: `a secret is not taken from the command line: use berth auth set ${provider}, or give - as the value and the secret on standard input`,
    };
  }
  const file = configPath(configDir);
  let refused: string | undefined;
  let left: ConfigProblem[] = [];
  function refuse(sentence: string): string | undefined {
    refused = sentence;
    return undefined;
  }
  try {
    const outcome = await changeFile(
      file,
      (target) => {
        const read = readText(target);
        if ('refused' in read) return refuse(read.refused);
        const text = read.text ?? '';
        const before = text.trim() === '' ? [] : (checkConfig(text).problems ?? []);
        const attempts = (
          change === 'unset' ? [removeFromJsonc(text, path)] : candidates.map((value) => setInJsonc(text, path, value))
        ).flatMap((next) => (next === undefined ? [] : [{ next, after: checkConfig(next).problems ?? [] }]));
        const taken = attempts.find(({ after }) => after.every(({ message }) => before.some((old) => old.message === message)));
        if (attempts.length > 0 && !taken)
          return refuse(`${attempts[0]?.after.map(({ message }) => message).join('; ')}; nothing was written`);
        left = taken?.after ?? before;
        if (taken && Buffer.byteLength(taken.next) > limits.configFileBytesMax)
          return refuse(`${file} would become larger than ${limits.configFileBytesMax} bytes`);
        return taken?.next === text ? undefined : taken?.next;
      },
      modeOf,
    );
    if (refused !== undefined) return { refused };
    if (outcome === 'locked') return { refused: `${file} is locked by another process; try again` };
    return { changed: outcome === 'written', left };
  } catch (error) {
    if (error instanceof JsoncInvalid) {
      return { refused: `${file} is not JSON: ${error.reason}; mend it with berth config edit, which shows where` };
    }
    if (isSystemError(error)) return { refused: `cannot write ${file}: ${error.message}` };
    throw error;
  }
}

export function settingsSchemaText(): string {
  return `${JSON.stringify(toConfigJsonSchema(), undefined, 2)}\n`;
}

/** A config of dotfiles that others may read stays so; a new one is for its owner alone, as it may hold keys. */
function modeOf(target: string): number {
  return (statSync(target, { throwIfNoEntry: false })?.mode ?? ownerOnly) & 0o777;
}

function toPath(key: string | undefined): { path: string[] } | SettingRefused {
  if (key === undefined) return { path: [] };
  const path = splitKey(key);
  if (!path) return { refused: `${JSON.stringify(key)} is not the name of a key, such as permissions.mode or providers."my.host".api` };
  const problem = findKeyProblem(path);
  return problem === undefined ? { path } : { refused: problem };
}

/** A missing file has no text. */
function readText(file: string): { text: string | undefined } | SettingRefused {
  const read = readSmallFile(file, { bytesMax: limits.configFileBytesMax, followLinks: true });
  if ('bytes' in read) return { text: read.bytes.toString('utf8') };
  return read.why === 'missing' ? { text: undefined } : { refused: read.message };
}

/** What a typed value may mean, in the order in which it is tried. */
function readCandidates(typed: string): unknown[] {
  try {
    const value = parseJsonc(typed, 'the value');
    return typeof value === 'string' ? [value] : [value, typed];
  } catch (error) {
    if (error instanceof JsoncInvalid) return [typed];
    throw error;
  }
}

function hasSecret(value: unknown, path: readonly string[]): boolean {
  return JSON.stringify(redactSecrets(value, path, hiddenSecret)) !== JSON.stringify(value);
}

function describePlace(configDir: string, problem: ConfigProblem | undefined): string {
  const { line, column, message } = problem ?? { line: 1, column: 1, message: '' };
  return `${configPath(configDir)}:${line}:${column}: ${message}`;
}
