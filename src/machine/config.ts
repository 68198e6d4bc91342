import { totalmem } from 'node:os';
import type * as z from 'zod';
import { readSmallFile } from './bounded-read.js';
import { configPath } from './config-path.js';
import { checkConfig, notJson, type ConfigProblem } from './config/config-problems.js';
import { configDefaults, type ConfigFile, type ModelSettings, type ProviderSettings } from './config/config-schema.js';
import type { approvalMode, queueMode, thinkingLevel, whenDetached } from '../protocol/events.js';
import { limits } from '../protocol/limits.js';
import type { RuleRow } from '../protocol/permissions.js';
import type { ModelEntry, ProviderConfig } from './provider-config.js';

/** config.json is invalid; the message names the key and the expected value. */
export class ConfigRefused extends Error {
  override name = 'ConfigRefused';
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
  retention: {
    logAgeMs: number;
    logEvents: number;
    artifactBytes: number;
    /** Null: as long as there is room for them. */
    artifactAgeMs: number | null;
    /** How long an archived session is kept after its last change; null: for ever. */
    archivedAgeMs: number | null;
  };
  runsAtOnce: number;
  commandBounds: { memoryBytes: number; processes: number };
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
  const { file, problems } = checkConfig(text);
  if (file) return toConfig(file);
  const sentences = problems.map(toSentence).join('; ');
  throw new ConfigRefused(`${path}${sentences.startsWith(notJson) ? ' ' : ': '}${sentences}`);
}

function toSentence({ message, line, column }: ConfigProblem): string {
  return `${message} (line ${line}, column ${column})`;
}

function toConfig(file: ConfigFile): Config {
  return {
    file,
    model: file.model,
    thinking: file.thinking,
    providers: Object.fromEntries(Object.entries(file.providers ?? {}).map(([name, given]) => [name, toProvider(given)])),
    systemPromptPath: file.system_prompt_path,
    compactAtPercent: file.compaction?.auto === false ? undefined : (file.compaction?.at_percent ?? configDefaults.compaction.at_percent),
    modelAttempts: file.limits?.model_attempts ?? configDefaults.limits.model_attempts,
    modelRetryMs: file.limits?.model_retry_ms ?? configDefaults.limits.model_retry_ms,
    modelIdleMs: (file.limits?.model_idle_seconds ?? configDefaults.limits.model_idle_seconds) * 1000,
    steeringMode: file.steering_mode ?? configDefaults.steering_mode,
    followUpMode: file.follow_up_mode ?? configDefaults.follow_up_mode,
    whenDetached: file.permissions?.when_detached ?? configDefaults.permissions.when_detached,
    approvalMode: file.permissions?.mode ?? configDefaults.permissions.mode,
    approvalTimeoutMs: typeof file.permissions?.timeout_seconds === 'number' ? file.permissions.timeout_seconds * 1000 : null,
    rules: file.permissions?.rules ?? [],
    sandbox: {
      enabled: file.sandbox?.enabled ?? configDefaults.sandbox.enabled,
      network: file.sandbox?.network ?? configDefaults.sandbox.network,
      writable: file.sandbox?.writable ?? [],
    },
    retention: toRetention(file.retention ?? {}),
    runsAtOnce: file.limits?.runs_at_once ?? configDefaults.limits.runs_at_once,
    commandBounds: {
      memoryBytes: file.limits?.command_memory_mb === undefined ? memoryDefault() : file.limits.command_memory_mb * bytesPerMb,
      processes: file.limits?.command_processes ?? configDefaults.limits.command_processes,
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

function toProvider(given: ProviderSettings): ProviderConfig {
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

function toModel({ id, title, context_window, max_output, price: priceEntry, images }: ModelSettings): ModelEntry {
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

function toRetention(given: NonNullable<ConfigFile['retention']>): Config['retention'] {
  const { retention } = configDefaults;
  const toMs = (days: number): number => days * 24 * 3600 * 1000;
  return {
    logAgeMs: toMs(given.log_days ?? retention.log_days),
    logEvents: given.log_events ?? retention.log_events,
    artifactBytes: (given.artifacts_mb ?? retention.artifacts_mb) * bytesPerMb,
    artifactAgeMs: typeof given.artifacts_days === 'number' ? toMs(given.artifacts_days) : retention.artifacts_days,
    archivedAgeMs: typeof given.archived_days === 'number' ? toMs(given.archived_days) : retention.archived_days,
  };
}
