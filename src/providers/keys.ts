import type { FoundKey } from './settings.js';
import type { ProviderConfig } from '../machine/provider-config.js';

export interface KeyDeps {
  env: Record<string, string | undefined>;
  /** The key that was stored with `berth auth set`, if any; throws with a sentence for people when the file is not usable. */
  storedKey(provider: string): string | undefined;
  /** Runs a program and returns its stdout; rejects with a sentence for people. */
  runCommand(argv: readonly string[]): Promise<string>;
}

/** The default environment variables for keys. */
const defaultVariables: Record<string, string> = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' };

export interface KeyFinder {
  find(): Promise<FoundKey | { problem: string }>;
  forget(): void;
  /** The keys that are known now, without running a command: to redact them. */
  known(): string[];
  /** The source of the key, without running a command; null when there is no key. */
  describeSource(): string | null;
}

/** Finds a provider's key: its config first, then `berth auth set`, then the default environment variable. */
export function createKeyFinder(provider: string, config: ProviderConfig, { env, storedKey, runCommand }: KeyDeps): KeyFinder {
  const defaultVariable = defaultVariables[provider];
  const setAnother = `set another with berth auth set ${provider}`;
  let cached: { key: string } | undefined;
  /** Concurrent requests share one run of the command. */
  let runningCommand: Promise<string> | undefined;

  function fromVariable(name: string | undefined): Omit<FoundKey, 'remembered'> | undefined {
    const key = name === undefined ? undefined : env[name]?.trim();
    const remedy = name === defaultVariable && name !== config.apiKeyEnv ? setAnother : `set another in ${name}, where the daemon runs`;
    return key ? { key, source: `the environment variable ${name}`, remedy } : undefined;
  }

  function findStatic(): Omit<FoundKey, 'remembered'> | undefined {
    if (config.apiKey !== undefined)
      return { key: config.apiKey, source: 'config.json', remedy: `change providers.${provider}.api_key there` };
    const named = fromVariable(config.apiKeyEnv);
    if (named) return named;
    const stored = storedKey(provider);
    if (stored !== undefined) return { key: stored, source: 'auth.json', remedy: setAnother };
    return fromVariable(defaultVariable);
  }

  /** A stored key that cannot be used is reported when it is needed. */
  function tryStored(): string | undefined {
    try {
      return storedKey(provider);
    } catch (error) {
      if (error instanceof Error) return undefined;
      throw error;
    }
  }

  async function fromCommand(argv: readonly string[]): Promise<FoundKey | { problem: string }> {
    const source = `the command ${argv[0] ?? ''}`;
    const remedy = `look at providers.${provider}.api_key_command in config.json`;
    if (cached) return { key: cached.key, source, remedy, remembered: true };
    try {
      runningCommand ??= runCommand(argv).finally(() => (runningCommand = undefined));
      // Password managers print notes below the secret.
      const [key = ''] = (await runningCommand).trim().split(/\r?\n/);
      if (key === '') return { problem: `no key for ${provider}: ${source} printed nothing` };
      cached = { key: key.trim() };
      return { key: key.trim(), source, remedy, remembered: false };
    } catch (error) {
      return { problem: `no key for ${provider}: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  /** Rejects keys with characters that no HTTP header can have, which would look like a network error. */
  function validated(found: FoundKey | { problem: string }): FoundKey | { problem: string } {
    if ('problem' in found || found.key === null || /^[\x20-\x7e]+$/.test(found.key)) return found;
    return { problem: `no key for ${provider}: what ${found.source} has is not a key; ${found.remedy}` };
  }

  function missing(): FoundKey | { problem: string } {
    if (config.apiKeyEnv !== undefined) {
      return {
        problem: `no key for ${provider}: ${config.apiKeyEnv} is not set where the daemon runs; berth auth set ${provider} keeps one`,
      };
    }
    if (defaultVariable !== undefined && config.baseUrl === undefined) {
      return {
        problem: `no key for ${provider}: add one with berth auth set ${provider}, or set ${defaultVariable} where the daemon runs`,
      };
    }
    return { key: null, source: 'nowhere', remedy: setAnother, remembered: false };
  }

  return {
    async find() {
      try {
        if (config.apiKey === undefined && config.apiKeyCommand) return validated(await fromCommand(config.apiKeyCommand));
        const found = findStatic();
        return found ? validated({ ...found, remembered: false }) : missing();
      } catch (error) {
        return { problem: `no key for ${provider}: ${error instanceof Error ? error.message : String(error)}` };
      }
    },
    forget() {
      cached = undefined;
    },
    known() {
      const variables = [config.apiKeyEnv, defaultVariable].map((name) => (name === undefined ? undefined : env[name]?.trim()));
      return [config.apiKey, ...variables, tryStored(), cached?.key].filter((key) => key !== undefined && key !== '') as string[];
    },
    describeSource() {
      if (config.apiKey === undefined && config.apiKeyCommand) return `the command ${config.apiKeyCommand[0] ?? ''}`;
      return findStatic()?.source ?? null;
    },
  };
}
