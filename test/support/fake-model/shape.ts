/** What came over the wire, looked at as it comes. */
export type Json = ReturnType<JSON['parse']>;
export type Path = readonly (string | number)[];

/** Why a request is refused. The APIs have their own words for all but `rule`. */
export type Problem =
  | { kind: 'extra' | 'missing'; path: Path }
  | { kind: 'type'; path: Path; expected: string; value: unknown }
  | { kind: 'value'; path: Path; allowed: readonly string[]; value: unknown }
  | { kind: 'minimum'; path: Path; minimum: number; value: number }
  | { kind: 'pattern'; path: Path; pattern: string }
  | { kind: 'empty'; path: Path; what: 'string' | 'array' }
  | { kind: 'rule'; path: Path; message: string; code?: string; status?: number };

export type Check = (value: Json, path: Path) => Problem | undefined;

export function rule(path: Path, message: string, more: { code?: string; status?: number } = {}): Problem {
  return { kind: 'rule', path, message, ...more };
}

/** The first problem that is found. */
export function firstOf<T>(items: Iterable<T>, find: (item: T, index: number) => Problem | undefined): Problem | undefined {
  let index = 0;
  for (const item of items) {
    const problem = find(item, index++);
    if (problem) return problem;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const anything: Check = () => undefined;

export const anObject: Check = (value, path) =>
  isObject(value) ? undefined : { kind: 'type', path, expected: 'object', value: value as unknown };

export const aBoolean: Check = (value, path) =>
  typeof value === 'boolean' ? undefined : { kind: 'type', path, expected: 'boolean', value: value as unknown };

/** A string; `bounds` says what is wrong with it, or undefined. */
export function aString(bounds: (text: string, path: Path) => Problem | undefined = () => undefined): Check {
  return (value: unknown, path) => (typeof value === 'string' ? bounds(value, path) : { kind: 'type', path, expected: 'string', value });
}

export const filled = aString((text, path) => (text === '' ? { kind: 'empty', path, what: 'string' } : undefined));

export function matching(pattern: RegExp): Check {
  return aString((text, path) => (pattern.test(text) ? undefined : { kind: 'pattern', path, pattern: pattern.source }));
}

export function aNumber(minimum: number, maximum: number): Check {
  return (value: unknown, path) => {
    if (typeof value !== 'number') return { kind: 'type', path, expected: 'number', value };
    if (value < minimum) return { kind: 'minimum', path, minimum, value };
    return value > maximum ? rule(path, `Expected a value <= ${maximum}, but got ${value} instead`) : undefined;
  };
}

export function anInteger(minimum: number): Check {
  return (value: unknown, path) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return { kind: 'type', path, expected: 'integer', value };
    return value < minimum ? { kind: 'minimum', path, minimum, value } : undefined;
  };
}

export function oneOf(...allowed: string[]): Check {
  return (value: unknown, path) => (allowed.includes(value as string) ? undefined : { kind: 'value', path, allowed, value });
}

export function nullable(check: Check): Check {
  return (value, path) => (value === null ? undefined : check(value, path));
}

export function aList(of: Check, least: 0 | 1 = 0): Check {
  return (value: unknown, path) => {
    if (!Array.isArray(value)) return { kind: 'type', path, expected: 'array', value };
    if (value.length < least) return { kind: 'empty', path, what: 'array' };
    return firstOf(value, (item, index) => of(item, [...path, index]));
  };
}

/** A string, or a list of parts that is not empty. */
export function textOr(part: Check, string: Check = aString()): Check {
  const parts = aList(part, 1);
  return (value, path) => (typeof value === 'string' ? string(value, path) : parts(value, path));
}

/** An object with these fields and no others; those whose name ends with a question mark may be left out. */
export function fields(known: Record<string, Check>): Check {
  const checks = new Map(Object.entries(known).map(([name, check]) => [name.replace('?', ''), check]));
  const required = Object.keys(known).filter((name) => !name.endsWith('?'));
  return (value, path) => {
    if (!isObject(value)) return { kind: 'type', path, expected: 'object', value: value as unknown };
    const missing = required.find((name) => !(name in value));
    if (missing !== undefined) return { kind: 'missing', path: [...path, missing] };
    return firstOf(Object.entries(value), ([name, item]) => {
      const check = checks.get(name);
      return check ? check(item, [...path, name]) : { kind: 'extra', path: [...path, name] };
    });
  };
}

/** An object whose kind is told by one of its fields. */
export function tagged(key: string, variants: Record<string, Check>): Check {
  const allowed = Object.keys(variants);
  return (value, path) => {
    if (!isObject(value)) return { kind: 'type', path, expected: 'object', value: value as unknown };
    const tag = value[key];
    if (tag === undefined) return { kind: 'missing', path: [...path, key] };
    const variant = typeof tag === 'string' ? variants[tag] : undefined;
    return variant ? variant(value, path) : { kind: 'value', path: [...path, key], allowed, value: tag };
  };
}

const imageData = /^data:image\/(?:png|jpeg|gif|webp);base64,/;

export function isBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

/** An address on the web, or an image in the address itself. */
export const imageUrl = aString((text, path) => {
  const ok = text.startsWith('data:') ? imageData.test(text) && isBase64(text.replace(imageData, '')) : /^https?:\/\/\S+$/.test(text);
  const message = 'Expected a valid URL or a base64-encoded image, but got a value with an invalid format';
  return ok ? undefined : rule(path, message, { code: 'invalid_image_url' });
});

export const jsonText = aString((text, path) => {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return rule(path, `Expected a string of JSON: ${String(error)}`, { code: 'invalid_json' });
  }
});

/** The parameters of a tool. */
export const jsonSchema: Check = (value, path) =>
  anObject(value, path) ?? (value.type === 'object' ? undefined : rule([...path, 'type'], `schema must be of 'type: "object"'`));

/** Where the first string is that UTF-8 cannot hold, keys included. */
export function findLoneSurrogate(value: unknown, path: Path = []): Path | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    const found = name.isWellFormed() ? findLoneSurrogate(item, [...path, name]) : path;
    if (found) return found;
  }
  return undefined;
}
