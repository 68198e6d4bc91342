import { isAbsolute, join } from 'node:path';
import { createAuthReader } from '../machine/auth-file.js';
import { createProviders, type ConfiguredProviders } from '../providers/providers.js';
import type { ThinkingLevel } from '../providers/port.js';
import { runKeyCommand } from './key-command.js';
import { ConfigRefused, type Config } from '../machine/config.js';
import { limits } from '../protocol/limits.js';

interface Deps {
  configDir: string;
  env: Record<string, string | undefined>;
}

export interface ModelAccess {
  providers: ConfiguredProviders;
  /** The model of a session without one. */
  defaultModel(): string;
  /** The thinking level of a session without one. */
  defaultThinking(model: string): ThinkingLevel;
  systemPromptPath: string | undefined;
}

/** Providers and defaults of models from a config; made anew by a reload. */
export function createModelAccess(config: Config, { configDir, env }: Deps): ModelAccess {
  const auth = createAuthReader(configDir);
  const providers = createProviders(
    {
      providers: config.providers,
      offlineWordsPerSecond: readWordsPerSecond(env.BERTH_OFFLINE_WPS),
      modelIdleMs: config.modelIdleMs,
    },
    { env, storedKey: (provider) => auth.read().keyOf(provider), runCommand: (argv) => runKeyCommand(argv, env) },
  );
  const { systemPromptPath: path } = config;
  return {
    providers,
    defaultModel: () => config.model ?? providers.defaultModel(),
    defaultThinking(model) {
      const api = providers.apiOf(model);
      // Models of OpenAI-compatible servers may not support thinking, and refuse requests that ask for it.
      return config.thinking ?? (api === 'anthropic' || api === 'openai-responses' ? 'medium' : 'off');
    },
    systemPromptPath: path === undefined || isAbsolute(path) ? path : join(configDir, path),
  };
}

function readWordsPerSecond(set: string | undefined): number {
  if (set === undefined || set === '') return limits.offlineWordsPerSecondDefault;
  const speed = Number(set);
  if (speed >= 0 && Number.isFinite(speed)) return speed;
  throw new ConfigRefused(`BERTH_OFFLINE_WPS must be a number of words a second from 0, not ${JSON.stringify(set)}`);
}
