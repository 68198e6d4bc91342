import * as z from 'zod';
import { configSchema } from './config-schema.js';
import { schemaAt, unknownKey, withoutOptional } from './config-problems.js';

/** Where the value of a key comes from. */
export type ConfigSource = 'file' | 'default' | 'unset';

export interface ConfigEntry {
  path: string[];
  value: unknown;
  source: ConfigSource;
}

/** Splits `providers."my.host".api` at its dots; a name with dots is quoted. Undefined when quotes do not match. */
export function splitKey(text: string): string[] | undefined {
  if (!/^(?:"[^"]*"|[^".]+)(?:\.(?:"[^"]*"|[^".]+))*$/.test(text)) return undefined;
  return [...text.matchAll(/"([^"]*)"|[^".]+/g)].map(([part, quoted]) => quoted ?? part);
}

/** Why there is no such key, with the nearest one; undefined when there is. */
export function findKeyProblem(path: readonly string[]): string | undefined {
  const at = path.findIndex((_, i) => schemaAt(path.slice(0, i + 1)) === undefined);
  return at < 0 ? undefined : unknownKey(path.slice(0, at), path[at] ?? '');
}

/** The description of a key. */
export function describeKey(path: readonly string[]): string {
  return factsOf(schemaAt(path)).description ?? '';
}

/** The keys below a path, with the values of a file or their defaults: every key of the schema, and the names that the file has. */
export function listEntries(file: unknown, path: readonly string[] = []): ConfigEntry[] {
  const node = schemaAt(path);
  const inner = withoutOptional(node);
  const value = valueAt(file, path);
  if (inner instanceof z.ZodObject) return keysOf(inner).flatMap((key) => listEntries(file, [...path, key]));
  if (inner instanceof z.ZodRecord && isRecord(value) && Object.keys(value).length > 0) {
    return Object.keys(value).flatMap((key) => listSet(file, [...path, key]));
  }
  if (value !== undefined) return [{ path: [...path], value, source: 'file' }];
  const fallback = factsOf(node).default;
  return [{ path: [...path], value: fallback, source: fallback === undefined ? 'unset' : 'default' }];
}

/** Below a name that the file chose, only what it sets is of interest. */
function listSet(file: unknown, path: string[]): ConfigEntry[] {
  const entries = listEntries(file, path);
  return withoutOptional(schemaAt(path)) instanceof z.ZodObject ? entries.filter(({ source }) => source === 'file') : entries;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key) ? (inner as Record<string, unknown>)[key] : undefined,
    value,
  );
}

/** Replaces keys of providers and values of headers. */
export function redactSecrets(value: unknown, path: readonly string[], by: string): unknown {
  if (isSecret(path)) return value === undefined ? undefined : by;
  if (Array.isArray(value)) return value.map((inner, at) => redactSecrets(inner, [...path, String(at)], by));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactSecrets(inner, [...path, key], by)]));
}

function isSecret([first, , third, ...rest]: readonly string[]): boolean {
  return first === 'providers' && ((third === 'api_key' && rest.length === 0) || (third === 'headers' && rest.length === 1));
}

function keysOf(object: z.ZodObject): string[] {
  return Object.keys(object.shape).filter((key) => key !== '$schema');
}

function factsOf(node: unknown): { description?: string | undefined; default?: unknown } {
  return (node instanceof z.ZodType ? z.globalRegistry.get(node) : undefined) ?? {};
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON Schema of config.json, for editors. */
export function toConfigJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' });
  // Extensions of the JSON Schema that editors know: config.json is JSON with comments.
  return { $schema, title: 'config.json of berth', allowComments: true, allowTrailingCommas: true, ...schema };
}
