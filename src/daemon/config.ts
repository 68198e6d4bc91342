import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { queueMode, thinkingLevel, whenDetached } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';

/** The file cannot be used; the message names the key and what it should be. */
export class ConfigRefused extends Error {
  override name = 'ConfigRefused';
}

const schema = z.strictObject({
  model: z
    .string()
    .regex(/^[^\s/]+\/\S+$/, 'a model is named provider/model')
    .optional(),
  thinking: thinkingLevel.optional(),
  steering_mode: queueMode.optional(),
  follow_up_mode: queueMode.optional(),
  permissions: z.strictObject({ when_detached: whenDetached.optional() }).optional(),
  limits: z.strictObject({ runs_at_once: z.int().min(1).max(256).optional() }).optional(),
});

export interface Config {
  model: string;
  thinking: z.infer<typeof thinkingLevel>;
  steeringMode: z.infer<typeof queueMode>;
  followUpMode: z.infer<typeof queueMode>;
  whenDetached: z.infer<typeof whenDetached>;
  runsAtOnce: number;
}

function configPath(configDir: string): string {
  return join(configDir, 'config.json');
}

/** Reads `config.json`. No file is a good config: every key has a default. */
export function readConfig(configDir: string): Config {
  const path = configPath(configDir);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return toConfig({});
    throw new ConfigRefused(`cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
  return parseConfig(text, path);
}

export function parseConfig(text: string, path: string): Config {
  let value: unknown;
  try {
    value = JSON.parse(toPlainJson(text.replace(/^\uFEFF/, ' ')));
  } catch (error) {
    throw new ConfigRefused(`${path} is not JSON: ${placeOf(text, (error as Error).message)}`, { cause: error });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return toConfig(parsed.data);
  throw new ConfigRefused(`${path}: ${parsed.error.issues.map(toSentence).join('; ')}`);
}

function toConfig(file: z.infer<typeof schema>): Config {
  return {
    model: file.model ?? 'offline/guide',
    thinking: file.thinking ?? 'off',
    steeringMode: file.steering_mode ?? 'one-at-a-time',
    followUpMode: file.follow_up_mode ?? 'one-at-a-time',
    whenDetached: file.permissions?.when_detached ?? 'wait',
    runsAtOnce: file.limits?.runs_at_once ?? limits.runsAtOnceMax,
  };
}

type Issue = z.core.$ZodIssue;

function toSentence(issue: Issue): string {
  if (issue.code !== 'unrecognized_keys') return `${issue.path.join('.') || 'the file'}: ${issue.message}`;
  const known = keysAt(issue.path);
  return issue.keys
    .map((key) => {
      const near = nearest(key, known);
      const hint = near === undefined ? `the keys there are ${known.join(', ')}` : `did you mean ${[...issue.path, near].join('.')}?`;
      return `there is no key ${[...issue.path, key].join('.')}; ${hint}`;
    })
    .join('; ');
}

function keysAt(path: PropertyKey[]): string[] {
  let node: unknown = schema;
  for (const part of path) {
    const inner: unknown = node instanceof z.ZodOptional ? node.unwrap() : node;
    node = inner instanceof z.ZodObject ? (inner.shape as Record<PropertyKey, unknown>)[part] : undefined;
  }
  const object: unknown = node instanceof z.ZodOptional ? node.unwrap() : node;
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}

/** The known word that is fewest edits away, if it is near enough to be what was meant. */
function nearest(word: string, known: readonly string[]): string | undefined {
  const [best] = known.map((name) => ({ name, edits: editDistance(word.toLowerCase(), name) })).sort((a, b) => a.edits - b.edits);
  return best && best.edits <= Math.max(2, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitute));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const stringOr = (other: string): RegExp => new RegExp(String.raw`"(?:[^"\\\n]|\\.)*"|${other}`, 'g');
const comments = stringOr(String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`);
const trailingCommas = stringOr(String.raw`,(?=\s*[}\]])`);

/** Blanks out comments and trailing commas, so that places in error messages stay right. What is within strings is left alone. */
function toPlainJson(text: string): string {
  const blank = (match: string): string => (match.startsWith('"') ? match : match.replace(/[^\n]/g, ' '));
  return text.replace(comments, blank).replace(trailingCommas, blank);
}

/** Where in the file a parse error is, for people. */
function placeOf(text: string, message: string): string {
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? NaN);
  if (Number.isNaN(position)) return message;
  const before = text.slice(0, position).split('\n');
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return message.replace(/ ?(in JSON )?at position \d+.*$/s, ` at ${place}`);
}
