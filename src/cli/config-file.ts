import { join } from 'node:path';
import { readSmallText } from '../machine/bounded-read.js';
import { JsoncInvalid } from '../machine/config/jsonc-tree.js';
import { parseJsonc } from '../machine/jsonc.js';
import { limits } from '../protocol/limits.js';

/** A setting of config.json that is an object; empty without one. The daemon checks the file, and zod would cost a tenth of the start. */
export function readConfigRecord(configDir: string, name: string): Record<string, unknown> {
  const text = readSmallText(join(configDir, 'config.json'), { bytesMax: limits.configFileBytesMax, followLinks: true });
  return text === undefined ? {} : toRecord(toRecord(parse(text))[name]);
}

export function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
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
