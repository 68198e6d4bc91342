import * as z from 'zod';
import { nearest } from '../../protocol/nearest.js';
import { parseJsonc } from '../jsonc.js';
import { configSchema, type ConfigFile } from './config-schema.js';
import { JsoncInvalid, offsetOf, placeOf, readJsoncTree, type JsoncNode } from './jsonc-tree.js';

/** What is wrong with one key of config.json, and where in the text. */
export interface ConfigProblem {
  /** A sentence without the path of the file: it begins with a key, or with `notJson`. */
  message: string;
  line: number;
  column: number;
}

export type CheckedConfig = { file: ConfigFile; problems?: undefined } | { file?: undefined; problems: ConfigProblem[] };

export const notJson = 'is not JSON';

/** Checks the text of a config.json. */
export function checkConfig(text: string): CheckedConfig {
  try {
    const parsed = configSchema.safeParse(parseJsonc(text, 'config.json'));
    if (parsed.success) return { file: parsed.data };
    const tree = readJsoncTree(text);
    return { problems: parsed.error.issues.flatMap(flatten).flatMap((issue) => toProblems(issue, text, tree)) };
  } catch (error) {
    if (!(error instanceof JsoncInvalid)) throw error;
    return { problems: [{ message: `${notJson}: ${error.reason}`, ...placeOf(text, error.offset) }] };
  }
}

type Issue = z.core.$ZodIssue;

/** A wrong name of a record is told at its key. */
function flatten(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_key') return [issue];
  return issue.issues.map((inner) => ({ ...inner, path: issue.path }));
}

function toProblems(issue: Issue, text: string, tree: JsoncNode): ConfigProblem[] {
  const at = (path: readonly PropertyKey[]): Omit<ConfigProblem, 'message'> => placeOf(text, offsetOf(tree, path));
  if (issue.code !== 'unrecognized_keys') return [{ message: `${keyText(issue.path) || 'the file'}: ${issue.message}`, ...at(issue.path) }];
  return issue.keys.map((key) => ({ message: unknownKey(issue.path, key), ...at([...issue.path, key]) }));
}

/** The sentence about a key that does not exist, with the nearest one. */
export function unknownKey(parent: readonly PropertyKey[], key: string): string {
  const known = keysAt(parent);
  const near = nearest(key, known);
  const hint = near === undefined ? `the keys there are ${known.join(', ')}` : `did you mean ${keyText([...parent, near])}?`;
  return `there is no key ${keyText([...parent, key])}; ${hint}`;
}

/** A path of keys as people write it: names with dots are quoted. */
export function keyText(path: readonly PropertyKey[]): string {
  return path.map((part) => (/[."]/.test(String(part)) ? JSON.stringify(String(part)) : String(part))).join('.');
}

function keysAt(path: readonly PropertyKey[]): string[] {
  const object = withoutOptional(schemaAt(path));
  return object instanceof z.ZodObject ? Object.keys(object.shape).filter((name) => name !== '$schema') : [];
}

/** The schema of a key; undefined when there is no such key. */
export function schemaAt(path: readonly PropertyKey[]): unknown {
  let node: unknown = configSchema;
  for (const part of path) {
    const inner = withoutOptional(node);
    if (inner instanceof z.ZodObject) node = (inner.shape as Record<PropertyKey, unknown>)[part];
    else if (inner instanceof z.ZodRecord) node = inner.valueType;
    else node = inner instanceof z.ZodArray && /^\d+$/.test(String(part)) ? inner.element : undefined;
  }
  return node;
}

export function withoutOptional(node: unknown): unknown {
  return node instanceof z.ZodOptional ? node.unwrap() : node;
}
