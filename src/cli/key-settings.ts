import { join } from 'node:path';
import { readSmallText } from '../machine/bounded-read.js';
import { JsoncInvalid } from '../machine/config/jsonc-tree.js';
import { parseJsonc } from '../machine/jsonc.js';
import { limits } from '../protocol/limits.js';
import type { TuiOptions } from '../tui/main.js';

/** The `keys` of config.json. The daemon checks the file; here only their shape counts, and zod would cost a tenth of the start. */
export function readKeySettings(configDir: string): NonNullable<TuiOptions['keys']> {
  const text = readSmallText(join(configDir, 'config.json'), { bytesMax: limits.configFileBytesMax, followLinks: true });
  if (text === undefined) return {};
  const { keys } = toRecord(parse(text));
  return Object.fromEntries(Object.entries(toRecord(keys)).filter(isSetting));
}

function parse(text: string): unknown {
  try {
    return parseJsonc(text, 'config.json');
  } catch (error) {
    // The daemon names what is wrong with the file.
    if (error instanceof JsoncInvalid) return undefined;
    throw error;
  }
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function isSetting(entry: [string, unknown]): entry is [string, string | string[]] {
  const [, keys] = entry;
  return typeof keys === 'string' || (Array.isArray(keys) && keys.every((key) => typeof key === 'string'));
}
