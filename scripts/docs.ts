import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { commands, subscribe } from '../src/protocol/commands/commands.js';
import { commandEnvelope, errorReply, eventEnvelope, okReply, supportedVersions } from '../src/protocol/envelope.js';
import { type ErrorCode, errorCodes, refusal, type RejectionWord, rejectionWords } from '../src/protocol/errors.js';
import * as eventModule from '../src/protocol/events.js';
import { limits } from '../src/protocol/limits.js';
import * as messageModule from '../src/protocol/messages.js';
import { renderConfigSchema, renderConfiguration } from './config-docs.js';
import { answerShapes } from '../src/protocol/requests/request-answers.js';
import { requestShapes } from '../src/protocol/requests/requests.js';
import * as viewModule from '../src/protocol/views.js';

type Schema = z.core.JSONSchema.JSONSchema;
interface Reply {
  type: string;
  payload: z.ZodObject;
}
interface Row {
  summary: string;
  payload: z.ZodObject;
  reply: Reply;
  role?: 'controller' | 'observer';
  waits?: true;
}

const root = new URL('..', import.meta.url);
const commandRows: Record<string, Row> = commands;
const eventRows: Record<string, { summary: string; live: boolean; payload: z.ZodObject }> = eventModule.events;

/** With `wait:false` a prompt is answered as a steer is. */
const otherReplies: Record<string, Reply> = {
  prompt: { type: 'accepted', payload: commands.steer.reply.payload.extend({ command: z.literal('prompt') }) },
};

const codeMeanings: Record<ErrorCode, string> = {
  invalid_command: 'The line is no JSON object, or its `type` is not a command of this socket.',
  invalid_payload: 'A field is missing or wrong; the message names it.',
  unsupported_version: `\`v\` is none of ${supportedVersions.join(', ')}; the details list what is supported.`,
  command_rejected: 'Understood, but not possible as things stand; the message is one of the words below.',
  session_not_found: 'There is no session of that id.',
  session_error: 'The session is there but cannot be used.',
  provider_error: 'The model, or the way to it, failed.',
  cursor_expired: 'The log no longer reaches back to `after`, or it is another log; the details hold where it stands now. Attach again.',
  storage_full: 'The disk is full. Nothing was changed.',
  store_busy: 'Somebody else holds the database. Nothing was changed.',
  timeout: 'It took too long.',
  overloaded: 'A bound on connections or waiting commands is reached.',
  shutting_down: 'The daemon is stopping and takes no new work.',
  internal_error: 'A bug in the daemon; its log has more.',
};
const wordMeanings: Record<RejectionWord, string> = {
  run_in_progress: 'The session has a run.',
  no_active_run: 'The session has no run, or it is being aborted.',
  leaf_not_found: 'The session has no such message.',
  nothing_to_compact: 'There is no history worth summarising.',
  tool_not_registered: 'No tool has that name.',
  extension_command_not_found: 'No extension has that command.',
  empty_prompt: 'There is neither text nor content.',
  input_conflict: 'The `input_id` was used before, for something else.',
  revision_conflict: 'The waiting message was changed meanwhile; read it again.',
  queue_full: 'The queue has reached one of its bounds.',
  not_waiting: 'The message is not in the queue: it was taken, removed or dropped.',
  already_resolved: 'The request was answered, expired or aborted before.',
  run_not_found: 'The session has no such run.',
  read_only_client: 'The client said `hello` as an observer.',
  aborted: 'The run that was waited for was aborted or interrupted.',
};

// Objects and unions that the modules export are named once and referred to; all else is spelled out where it stands.
const shapes = z.registry<{ id: string }>();
for (const [name, value] of [messageModule, eventModule, viewModule].flatMap((module) => Object.entries(module) as [string, unknown][])) {
  const named = value instanceof z.ZodObject || value instanceof z.ZodDiscriminatedUnion;
  if (named && !shapes.has(value)) shapes.add(value, { id: toSnake(name) });
}
for (const [id, shape] of Object.entries({ ...requestShapes, ...answerShapes })) shapes.add(shape(), { id });
const defs: Record<string, Schema> = {};

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The JSON Schema of a side of the wire. Unknown keys are always allowed: both sides ignore what they do not know. */
function schemaOf(type: z.ZodType, io: 'input' | 'output'): Schema {
  const {
    $schema: _,
    $defs = {},
    ...schema
  } = z.toJSONSchema(type, {
    io,
    unrepresentable: 'any',
    metadata: shapes,
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod;
      const description = z.globalRegistry.get(zodSchema)?.description;
      if (description !== undefined) jsonSchema.description = description;
      if (def.type === 'object') delete jsonSchema.additionalProperties;
      // Not a format of the standard: validators refuse it. `contentEncoding` says the same.
      if (jsonSchema.format === 'base64') delete jsonSchema.format;
      // Pipes of the protocol only clean text: both their ends describe the same string.
      if (def.type === 'pipe') {
        const end = def.out._zod.def.type === 'transform' ? def.in : def.out;
        const { $schema: _same, ...schema } = z.toJSONSchema(end);
        Object.assign(jsonSchema, schema);
      }
    },
  });
  for (const [name, shape] of Object.entries($defs)) {
    if (defs[name] && JSON.stringify(defs[name]) !== JSON.stringify(shape)) throw new Error(`two shapes are called ${name}`);
    defs[name] = shape;
  }
  return schema;
}

/** A whole line: an envelope with its type and payload filled in. */
function lineOf(envelope: z.ZodType, io: 'input' | 'output', summary: string, type: string, payload: Schema): Schema {
  const schema = schemaOf(envelope, io);
  return { description: summary, ...schema, properties: { ...schema.properties, type: { const: type }, payload } };
}

function renderSchema(): string {
  const groups = { command: {} as Record<string, Schema>, reply: {} as Record<string, Schema>, event: {} as Record<string, Schema> };
  for (const [name, row] of [...Object.entries(commandRows), ['subscribe', subscribe] as [string, Row]]) {
    groups.command[name] = lineOf(commandEnvelope, 'input', row.summary, name, schemaOf(row.payload, 'input'));
    const replies = [row.reply, otherReplies[name]].filter((reply) => reply !== undefined);
    replies.forEach(({ type, payload }, i) => {
      const key = i === 0 ? name : `${name}_${type}`;
      groups.reply[key] = lineOf(okReply, 'output', `Answers ${name}.`, type, schemaOf(payload, 'output'));
    });
  }
  groups.reply.error = { description: 'Answers any command that was refused.', ...schemaOf(errorReply, 'output') };
  for (const [name, row] of Object.entries(eventRows)) {
    groups.event[name] = lineOf(eventEnvelope, 'output', row.summary, name, schemaOf(row.payload, 'output'));
  }
  const named = Object.entries(groups).flatMap(([group, lines]) =>
    Object.entries(lines).map(([name, line]) => [`${group}.${name}`, line] as const),
  );
  const unions = Object.entries(groups).map(
    ([group, lines]) => [group, { anyOf: Object.keys(lines).map((name) => ({ $ref: `#/$defs/${group}.${name}` })) }] as const,
  );
  const head = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `berth protocol ${supportedVersions.join(', ')}`,
    description: 'Generated by scripts/docs.ts. Validates any one line; $defs/command, reply and event are the three kinds.',
    anyOf: Object.keys(groups).map((group) => ({ $ref: `#/$defs/${group}` })),
  };
  // A line for each definition, so that a diff shows what changed.
  const lines = [...unions, ...Object.entries(defs), ...named].map(
    ([name, schema]) => `  ${JSON.stringify(name)}: ${JSON.stringify(schema)}`,
  );
  return `${JSON.stringify(head, undefined, 1).slice(0, -2)},\n "$defs": {\n${lines.join(',\n')}\n }\n}\n`;
}

function typeText(schema: Schema): string {
  if (schema.$ref) {
    const name = schema.$ref.replace('#/$defs/', '');
    return `[${name}](#shape-${name})`;
  }
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' \\| ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((choice) => typeText(choice)).join(' or ');
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  if (schema.type === 'array') return `array of ${typeText(schema.items as Schema)}`;
  if (schema.type === 'object' && !schema.properties && typeof schema.additionalProperties === 'object') {
    const value = typeText(schema.additionalProperties);
    return value === 'anything' ? 'object' : `object of ${value}`;
  }
  return typeof schema.type === 'string' ? schema.type : 'anything';
}

function boundText(schema: Schema): string {
  function between(min: number | undefined, max: number | undefined, unit: string): string[] {
    const least = min !== undefined && min > Number.MIN_SAFE_INTEGER ? min.toLocaleString('en') : undefined;
    const most = max !== undefined && max < Number.MAX_SAFE_INTEGER ? max.toLocaleString('en') : undefined;
    if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`];
    if (least !== undefined) return [`at least ${least}${unit}`];
    return most === undefined ? [] : [`at most ${most}${unit}`];
  }
  return [
    ...between(schema.minLength, schema.maxLength, ' characters'),
    ...between(schema.minItems, schema.maxItems, ' items'),
    ...between(schema.minimum, schema.maximum, ''),
    ...(schema.contentEncoding ? [schema.contentEncoding] : schema.pattern ? [`\`${schema.pattern.replaceAll('|', '\\|')}\``] : []),
  ].join(', ');
}

/** Rows of a field table; objects that have no name of their own are laid out flat, as `client.name` and `tools[].name`. */
function fieldRows(schema: Schema, prefix: string, cells: (field: Schema, required: boolean) => string[]): string[][] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    const field = value as Schema;
    const path = `${prefix}${name}`;
    const inner = field.anyOf?.find((choice) => choice.properties) ?? field;
    const [child, mark] = inner.type === 'array' ? [inner.items as Schema, '[].'] : [inner, '.'];
    return [[`\`${path}\``, typeText(field), ...cells(field, required.has(name))], ...fieldRows(child, `${path}${mark}`, cells)];
  });
}

function table(head: string[], rows: string[][]): string[] {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}

function payloadTable(schema: Schema): string[] {
  const rows = fieldRows(schema, '', (field, required) => [
    required ? 'yes' : '',
    field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``,
    boundText(field),
  ]);
  return rows.length === 0 ? ['No fields.', ''] : table(['field', 'type', 'required', 'default', 'bounds'], rows);
}

function shownTable(schema: Schema): string[] {
  const rows = fieldRows(schema, '', (field, required) => [required ? 'yes' : '', (field.description ?? '').replaceAll('|', '\\|')]);
  if (rows.length === 0) return [];
  // The last column is left out where nothing is said in it.
  if (rows.every((row) => row.at(-1) === ''))
    return table(
      ['field', 'type', 'always there'],
      rows.map((row) => row.slice(0, -1)),
    );
  return table(['field', 'type', 'always there', ''], rows);
}

/** What the daemon says: a sentence, then its fields or where they are. */
function said(sentence: string, payload: z.ZodObject): string[] {
  const schema = schemaOf(payload, 'output');
  if (schema.$ref) return [`${sentence}: ${typeText(schema)}.`, ''];
  const rows = shownTable(schema);
  return rows.length === 0 ? [`${sentence} without fields.`, ''] : [`${sentence}:`, '', ...rows];
}

function commandSection(name: string, row: Row): string[] {
  const who = row.role === 'controller' ? 'Controllers only.' : 'Controllers and observers.';
  const waits = row.waits ? ' Waits: it is answered when its work is done, and blocks nobody meanwhile.' : '';
  const other = otherReplies[name];
  return [
    `### ${name}`,
    '',
    row.summary,
    '',
    `${who}${waits}`,
    '',
    ...payloadTable(schemaOf(row.payload, 'input')),
    ...said(`Replies \`${row.reply.type}\``, row.reply.payload),
    ...(other ? said(`Or, with \`wait:false\`, \`${other.type}\``, other.payload) : []),
  ];
}

function shapeSection([name, schema]: [string, Schema]): string[] {
  return [
    `### Shape ${name}`,
    '',
    ...(schema.properties ? shownTable(schema) : [`${typeText(schema)}.${schema.description ? ` ${schema.description}` : ''}`, '']),
  ];
}

function measure(name: string, value: number): string {
  const scales: [RegExp, [number, string][]][] = [
    [/Ms(Max|Min|$)/, [[86_400_000, 'days'], [60_000, 'min'], [1000, 's']]], // prettier-ignore
    [/(Bytes|Units|Chars)/, [[1024 * 1024, 'Mi'], [1024, 'Ki']]], // prettier-ignore
  ];
  const scale = scales.find(([pattern]) => pattern.test(name))?.[1].find(([size]) => value >= size && value % size === 0);
  return `${value.toLocaleString('en')}${scale ? ` (${value / scale[0]} ${scale[1]})` : ''}`;
}

/** The limits as they are written, file after file in the order of limits.ts. */
async function readLimits(): Promise<string> {
  const all = new URL('src/protocol/limits.ts', root);
  const areas = [...(await readFile(all, 'utf8')).matchAll(/^ {2}\.\.\.(\w+)Limits,$/gm)].map(([, area]) => `limits/${area}-limits.ts`);
  return (await Promise.all(areas.map((path) => readFile(new URL(path, all), 'utf8')))).join('\n');
}

/** One table a group; groups and remarks are the comments of the files of limits. */
function limitSections(source: string): string[] {
  const sections: string[] = [];
  let rows: string[][] = [];
  let remark = '';
  function close(): void {
    if (rows.length > 0) sections.push(...table(['limit', 'value', ''], rows));
    rows = [];
  }
  for (const line of source.split('\n')) {
    const group = /^ {2}\/\/ (.+)$/.exec(line)?.[1];
    const name = /^ {2}(\w+):/.exec(line)?.[1];
    remark = /^ {2}\/\*\* (.+) \*\/$/.exec(line)?.[1] ?? remark;
    if (group !== undefined) {
      close();
      sections.push(`### ${group}`, '');
    }
    if (name !== undefined && name in limits) {
      rows.push([`\`${toSnake(name)}\``, measure(name, limits[name as keyof typeof limits]), remark]);
      remark = '';
    }
  }
  close();
  return sections;
}

async function renderReference(): Promise<string> {
  const intro = await readFile(new URL('docs/protocol-intro.md', root), 'utf8');
  const body = [
    ...['## Commands', '', 'In the order of the table in `src/protocol/commands/commands.ts`. Unknown fields are ignored.', ''],
    ...Object.entries(commandRows).flatMap(([name, row]) => commandSection(name, row)),
    ...['## The event socket', ''],
    ...commandSection('subscribe', subscribe),
    ...[
      '## Events',
      '',
      '*Durable* events have a `seq` and are replayed; *live* ones are said once, and `get_state` holds what is current of them.',
      '',
    ],
    ...Object.entries(eventRows).flatMap(([name, row]) => [
      ...[`### ${name}`, '', row.summary, ''],
      ...said(row.live ? 'Live' : 'Durable', row.payload),
    ]),
    ...['## Error codes', '', 'A closed set.', ''],
    ...table(
      ['code', 'meaning', 'retryable'],
      errorCodes.map((code) => [`\`${code}\``, codeMeanings[code], refusal(code, '').retryable ? 'yes' : '']),
    ),
    ...['## Rejection words', '', 'The message of a `command_rejected` is one of these, a closed set too.', ''],
    ...table(
      ['word', 'meaning'],
      rejectionWords.map((word) => [`\`${word}\``, wordMeanings[word]]),
    ),
  ];
  // Rendered last: by now every shape that anything refers to has been met.
  const shapeSections = Object.entries(defs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(shapeSection);
  const tail = ['## Shapes', '', ...shapeSections, '## Limits', '', ...limitSections(await readLimits())];
  const note = '<!-- Generated by `npm run docs` from src/protocol and docs/protocol-intro.md. -->';
  return `${[note, '', intro.trim(), '', ...body, ...tail].join('\n').trim()}\n`;
}

/** The generated files: path below the root, and what should be in it. */
async function renderDocs(): Promise<[string, string][]> {
  return [
    ['docs/protocol.schema.json', renderSchema()],
    ['docs/protocol.md', await renderReference()],
    ['docs/config.schema.json', renderConfigSchema()],
    ['docs/configuration.md', await renderConfiguration(new URL('docs/configuration-intro.md', root))],
  ];
}

/** Which generated files are not what the tables say now. */
export async function staleDocs(): Promise<string[]> {
  const stale: string[] = [];
  for (const [path, text] of await renderDocs()) {
    const found = await readFile(new URL(path, root), 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    });
    if (found !== text) stale.push(path);
  }
  return stale;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--check')) {
    const stale = await staleDocs();
    for (const path of stale) process.stderr.write(`${path} is stale: npm run docs\n`);
    process.exitCode = stale.length === 0 ? 0 : 1;
  } else {
    for (const [path, text] of await renderDocs()) await writeFile(new URL(path, root), text);
  }
}
