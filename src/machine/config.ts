import { totalmem } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { readSmallFile } from './bounded-read.js';
import { approvalMode, queueMode, thinkingLevel, whenDetached } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import { nearest } from '../protocol/nearest.js';
import { rule, type RuleRow } from '../protocol/permissions.js';
import { parseJsonc } from './jsonc.js';
import { apis, builtInProviders, type ModelEntry, type ProviderConfig } from './provider-config.js';

/** config.json is invalid; the message names the key and the expected value. */
export class ConfigRefused extends Error {
  override name = 'ConfigRefused';
}

const count = z.int().min(1);
const price = z.number().min(0);
const baseUrl = z.string().superRefine((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') context.addIssue('must be an http or https address');
  else if (url.username !== '' || url.password !== '') context.addIssue('must not have a name or password in it; use api_key or headers');
});
const headerText = z.string().regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII');

const model = z.strictObject({
  id: z.string().min(1).max(limits.modelIdCharsMax).regex(/^\S+$/, 'a model has a name without spaces'),
  title: z.string().optional(),
  context_window: count.optional(),
  max_output: count.optional(),
  price: z.strictObject({ input: price, output: price, cache_read: price.optional(), cache_write: price.optional() }).optional(),
  images: z.boolean().optional(),
});

const provider = z.strictObject({
  api: z.enum(apis).optional(),
  base_url: baseUrl.optional(),
  api_key: headerText.min(1).optional(),
  api_key_env: z.string().min(1).optional(),
  api_key_command: z.array(z.string()).min(1).optional(),
  headers: z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not the name of a header'), headerText).optional(),
  verbosity: z.enum(['low', 'medium', 'high']).optional(),
  models: z.array(model).optional(),
});

const providers = z.record(z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'a provider is named with letters, digits, dots, - and _'), provider);

/** Action names to keys. Frontends know which actions and keys there are; here only the shape is checked. */
const key = z.string().min(1).max(limits.boundKeyCharsMax);
const keys = z
  .record(
    z.string().min(1).max(limits.actionNameCharsMax),
    z.union(
      [key, z.array(key).max(limits.keysPerActionMax)],
      `must be a key, such as ctrl+p, or a list of at most ${limits.keysPerActionMax} keys`,
    ),
  )
  .refine((bound) => Object.keys(bound).length <= limits.boundActionsMax, `at most ${limits.boundActionsMax} actions`);

const schema = z
  .strictObject({
    model: z
      .string()
      .regex(/^[^\s/]+\/\S+$/, 'a model is named provider/model')
      .optional(),
    providers: providers.superRefine(checkProviders).optional(),
    system_prompt_path: z.string().min(1).optional(),
    compaction: z
      .strictObject({
        auto: z.boolean().optional(),
        at_percent: z.int().min(limits.compactAtPercentMin).max(limits.compactAtPercentMax).optional(),
      })
      .optional(),
    thinking: thinkingLevel.optional(),
    steering_mode: queueMode.optional(),
    follow_up_mode: queueMode.optional(),
    permissions: z
      .strictObject({
        mode: approvalMode.optional(),
        when_detached: whenDetached.optional(),
        /** Timeout after which an approval is denied. */
        timeout_seconds: z.number().min(1).max(limits.approvalSecondsMax).nullable().optional(),
        rules: z.array(rule).max(limits.rulesMax).optional(),
      })
      .optional(),
    sandbox: z
      .strictObject({
        enabled: z.boolean().optional(),
        network: z.boolean().optional(),
        writable: z.array(z.string().min(1)).max(limits.writableRootsMax).optional(),
      })
      .optional(),
    keys: keys.optional(),
    limits: z
      .strictObject({
        runs_at_once: z.int().min(1).max(limits.runsAtOnceMax).optional(),
        model_attempts: z.int().min(1).max(limits.modelAttemptsMax).optional(),
        model_retry_ms: z.int().min(1).max(limits.modelRetryMaxMs).optional(),
        model_idle_seconds: z
          .number()
          .min(1)
          .max(limits.modelIdleMs / 1000)
          .optional(),
        command_memory_mb: z.int().min(limits.commandMemoryMbMin).max(limits.commandMemoryMbMax).optional(),
        command_processes: z.int().min(limits.commandProcessesMin).max(limits.commandProcessesMax).optional(),
      })
      .optional(),
  })
  .superRefine(checkModel);

/** Refuses a model of an unknown provider, which would otherwise fail at the first request. */
function checkModel(
  { model: named, providers: configured = {} }: { model?: string | undefined; providers?: object | undefined },
  context: z.RefinementCtx,
): void {
  const [name = ''] = named?.split('/') ?? [];
  const known = ['offline', ...builtInProviders, ...Object.keys(configured)];
  if (named === undefined || known.includes(name)) return;
  const near = nearest(name, known);
  const hint = near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`;
  context.addIssue({ code: 'custom', path: ['model'], message: `there is no provider ${name}; ${hint}` });
}

/** A provider that is not built in needs api and base_url. */
function checkProviders(named: z.infer<typeof providers>, context: z.RefinementCtx): void {
  for (const [name, { api, base_url }] of Object.entries(named)) {
    if (name === 'offline') context.addIssue({ code: 'custom', path: [name], message: 'is built in and has no settings' });
    if (builtInProviders.includes(name)) continue;
    if (api === undefined) context.addIssue({ code: 'custom', path: [name, 'api'], message: `must be one of ${apis.join(', ')}` });
    if (base_url === undefined)
      context.addIssue({
        code: 'custom',
        path: [name, 'base_url'],
        message: "must be the address of the provider's API, such as http://localhost:8080/v1",
      });
  }
}

export interface Config {
  /** The parsed file, without defaults. */
  file: object;
  /** Undefined: a model of the first provider with a key. */
  model: string | undefined;
  /** Undefined: the default of the model. */
  thinking: z.infer<typeof thinkingLevel> | undefined;
  providers: Record<string, ProviderConfig>;
  systemPromptPath: string | undefined;
  /** Undefined: no automatic compaction. */
  compactAtPercent: number | undefined;
  modelAttempts: number;
  modelRetryMs: number;
  modelIdleMs: number;
  steeringMode: z.infer<typeof queueMode>;
  followUpMode: z.infer<typeof queueMode>;
  whenDetached: z.infer<typeof whenDetached>;
  approvalMode: z.infer<typeof approvalMode>;
  /** Null: an approval waits for ever. */
  approvalTimeoutMs: number | null;
  rules: RuleRow[];
  sandbox: { enabled: boolean; network: boolean; writable: string[] };
  runsAtOnce: number;
  commandBounds: { memoryBytes: number; processes: number };
}

export function configPath(configDir: string): string {
  return join(configDir, 'config.json');
}

/** Reads `config.json`. A missing file is valid: every key has a default. */
export function readConfig(configDir: string): Config {
  const path = configPath(configDir);
  const file = readSmallFile(path, { bytesMax: limits.configFileBytesMax, followLinks: true });
  if ('bytes' in file) return parseConfig(file.bytes.toString('utf8'), path);
  if (file.why === 'missing') return toConfig({});
  throw new ConfigRefused(file.message, { cause: file.cause });
}

export function parseConfig(text: string, path: string): Config {
  let value: unknown;
  try {
    value = parseJsonc(text, path);
  } catch (error) {
    throw new ConfigRefused((error as Error).message, { cause: error });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return toConfig(parsed.data);
  throw new ConfigRefused(`${path}: ${parsed.error.issues.map(toSentence).join('; ')}`);
}

function toConfig(file: z.infer<typeof schema>): Config {
  return {
    file,
    model: file.model,
    thinking: file.thinking,
    providers: Object.fromEntries(Object.entries(file.providers ?? {}).map(([name, given]) => [name, toProvider(given)])),
    systemPromptPath: file.system_prompt_path,
    compactAtPercent: file.compaction?.auto === false ? undefined : (file.compaction?.at_percent ?? limits.compactAtPercentDefault),
    modelAttempts: file.limits?.model_attempts ?? limits.modelAttemptsDefault,
    modelRetryMs: file.limits?.model_retry_ms ?? limits.modelRetryMinMs,
    modelIdleMs: (file.limits?.model_idle_seconds ?? limits.modelIdleMs / 1000) * 1000,
    steeringMode: file.steering_mode ?? 'one-at-a-time',
    followUpMode: file.follow_up_mode ?? 'one-at-a-time',
    whenDetached: file.permissions?.when_detached ?? 'wait',
    approvalMode: file.permissions?.mode ?? 'ask',
    approvalTimeoutMs: typeof file.permissions?.timeout_seconds === 'number' ? file.permissions.timeout_seconds * 1000 : null,
    rules: file.permissions?.rules ?? [],
    sandbox: {
      enabled: file.sandbox?.enabled ?? true,
      network: file.sandbox?.network ?? false,
      writable: file.sandbox?.writable ?? [],
    },
    runsAtOnce: file.limits?.runs_at_once ?? limits.runsAtOnceDefault,
    commandBounds: {
      memoryBytes: file.limits?.command_memory_mb === undefined ? memoryDefault() : file.limits.command_memory_mb * bytesPerMb,
      processes: file.limits?.command_processes ?? limits.commandProcessesDefault,
    },
  };
}

const bytesPerMb = 1024 * 1024;

/** A quarter of the memory of this machine or container (cgroup). */
function memoryDefault(): number {
  // Without a cgroup limit this is undefined, zero or more than the physical memory.
  const constrained = process.constrainedMemory();
  const all = constrained > 0 ? Math.min(totalmem(), constrained) : totalmem();
  return Math.max(limits.commandMemoryBytesMin, Math.floor(all / 4));
}

function toProvider(given: z.infer<typeof provider>): ProviderConfig {
  return {
    ...(given.api === undefined ? {} : { api: given.api }),
    ...(given.base_url === undefined ? {} : { baseUrl: given.base_url }),
    ...(given.api_key === undefined ? {} : { apiKey: given.api_key }),
    ...(given.api_key_env === undefined ? {} : { apiKeyEnv: given.api_key_env }),
    ...(given.api_key_command === undefined ? {} : { apiKeyCommand: given.api_key_command }),
    ...(given.verbosity === undefined ? {} : { verbosity: given.verbosity }),
    headers: given.headers ?? {},
    models: (given.models ?? []).map(toModel),
  };
}

function toModel({ id, title, context_window, max_output, price: priceEntry, images }: z.infer<typeof model>): ModelEntry {
  return {
    id,
    ...(title === undefined ? {} : { title }),
    ...(context_window === undefined ? {} : { contextWindow: context_window }),
    ...(max_output === undefined ? {} : { maxOutput: max_output }),
    ...(priceEntry === undefined
      ? {}
      : {
          price: {
            ...priceEntry,
            cache_read: priceEntry.cache_read ?? priceEntry.input,
            cache_write: priceEntry.cache_write ?? priceEntry.input,
          },
        }),
    ...(images === undefined ? {} : { images }),
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
    const inner = withoutOptional(node);
    if (inner instanceof z.ZodObject) node = (inner.shape as Record<PropertyKey, unknown>)[part];
    else if (inner instanceof z.ZodRecord) node = inner.valueType;
    else node = inner instanceof z.ZodArray ? inner.element : undefined;
  }
  const object = withoutOptional(node);
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}

function withoutOptional(node: unknown): unknown {
  return node instanceof z.ZodOptional ? node.unwrap() : node;
}
