import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Schema = Record<string, unknown>;

/** What a validator of JSON Schema 2020-12 knows without plugins. A strict one refuses anything else, formats included. */
const keywords = new Set(
  `$schema $ref $defs title description default const enum type anyOf oneOf allOf not properties required additionalProperties
   propertyNames items prefixItems minItems maxItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum pattern
   contentEncoding`.split(/\s+/),
);

const schema = JSON.parse(readFileSync(new URL('../../docs/protocol.schema.json', import.meta.url), 'utf8')) as Schema;
const defs = schema.$defs as Record<string, Schema>;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every schema within a schema, and itself. */
function* within(one: Schema): Generator<Schema> {
  yield one;
  for (const [keyword, value] of Object.entries(one)) {
    const isMap = keyword === 'properties' || keyword === '$defs';
    const inner = isMap ? Object.values(value as Schema) : ['const', 'enum', 'default'].includes(keyword) ? [] : [value].flat();
    for (const part of inner) if (isSchema(part)) yield* within(part);
  }
}

test('the schema compiles with any validator of its draft: no unknown keywords or formats, no broken references or patterns', () => {
  const unknown = new Set<string>();
  for (const part of within(schema)) {
    for (const keyword of Object.keys(part)) if (!keywords.has(keyword)) unknown.add(keyword);
    if (typeof part.$ref === 'string') expect(defs).toHaveProperty([part.$ref.replace('#/$defs/', '')]);
    if (typeof part.pattern === 'string') expect(() => new RegExp(part.pattern as string, 'u')).not.toThrow();
  }
  expect([...unknown]).toEqual([]);
});

test('what is base64 says so as the standard has it', () => {
  const encoded = [...within(schema)].filter(({ contentEncoding }) => contentEncoding !== undefined);
  expect(encoded.length).toBeGreaterThan(0);
  expect([...new Set(encoded.map(({ contentEncoding }) => contentEncoding))]).toEqual(['base64']);
});
