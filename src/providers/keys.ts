import type { FoundKey } from './settings.js';
import type { ProviderConfig } from '../machine/provider-config.js';

export interface KeyDeps {
  env: Record<string, string | undefined>;
  /** The key that was kept with `berth auth set`, if there is one; throws with a sentence for people when the file is not usable. */
  keptKey(provider: string): string | undefined;
  /** Runs a program and returns what it prints; rejects with a sentence for people. */
  runCommand(argv: readonly string[]): Promise<string>;
}

/** Environment variables that name keys without being told to. */
const knownVariables: Record<string, string> = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' };

export interface KeyFinder {
  find(): Promise<FoundKey | { problem: string }>;
  forget(): void;
  /** Where the key would come from, without running anything; null when there is none. */
  whence(): string | null;
}

/** Where a provider's key is: its own config first, then what `berth auth set` kept, then the environment. */
export function createKeyFinder(provider: string, config: ProviderConfig, { env, keptKey, runCommand }: KeyDeps): KeyFinder {
  const known = knownVariables[provider];
  const setAnother = `set another with berth auth set ${provider}`;
  let printed: { key: string } | undefined;
  /** Sessions that ask at the same time wait for the same command. */
  let printing: Promise<string> | undefined;

  function fromVariable(name: string | undefined): Omit<FoundKey, 'remembered'> | undefined {
    const key = name === undefined ? undefined : env[name]?.trim();
    const remedy = name === known && name !== config.apiKeyEnv ? setAnother : `set another in ${name}, where the daemon runs`;
    return key ? { key, source: `the environment variable ${name}`, remedy } : undefined;
  }

  function atHand(): Omit<FoundKey, 'remembered'> | undefined {
    if (config.apiKey !== undefined)
      return { key: config.apiKey, source: 'config.json', remedy: `change providers.${provider}.api_key there` };
    const named = fromVariable(config.apiKeyEnv);
    if (named) return named;
    const kept = keptKey(provider);
    if (kept !== undefined) return { key: kept, source: 'auth.json', remedy: setAnother };
    return fromVariable(known);
  }

  async function fromCommand(argv: readonly string[]): Promise<FoundKey | { problem: string }> {
    const source = `the command ${argv[0] ?? ''}`;
    const remedy = `look at providers.${provider}.api_key_command in config.json`;
    if (printed) return { key: printed.key, source, remedy, remembered: true };
    try {
      printing ??= runCommand(argv).finally(() => (printing = undefined));
      // Password managers keep notes below the secret.
      const [key = ''] = (await printing).trim().split(/\r?\n/);
      if (key === '') return { problem: `no key for ${provider}: ${source} printed nothing` };
      printed = { key: key.trim() };
      return { key: key.trim(), source, remedy, remembered: false };
    } catch (error) {
      return { problem: `no key for ${provider}: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  /** What cannot be sent in a header is no key, and would be told as trouble with the network. */
  function checked(found: FoundKey | { problem: string }): FoundKey | { problem: string } {
    if ('problem' in found || found.key === null || /^[\x20-\x7e]+$/.test(found.key)) return found;
    return { problem: `no key for ${provider}: what ${found.source} has is not a key; ${found.remedy}` };
  }

  function missing(): FoundKey | { problem: string } {
    if (config.apiKeyEnv !== undefined) {
      return {
        problem: `no key for ${provider}: ${config.apiKeyEnv} is not set where the daemon runs; berth auth set ${provider} keeps one`,
      };
    }
    if (known !== undefined && config.baseUrl === undefined) {
      return { problem: `no key for ${provider}: add one with berth auth set ${provider}, or set ${known} where the daemon runs` };
    }
    return { key: null, source: 'nowhere', remedy: setAnother, remembered: false };
  }

  return {
    async find() {
      try {
        if (config.apiKey === undefined && config.apiKeyCommand) return checked(await fromCommand(config.apiKeyCommand));
        const found = atHand();
        return found ? checked({ ...found, remembered: false }) : missing();
      } catch (error) {
        return { problem: `no key for ${provider}: ${error instanceof Error ? error.message : String(error)}` };
      }
    },
    forget() {
      printed = undefined;
    },
    whence() {
      if (config.apiKey === undefined && config.apiKeyCommand) return `the command ${config.apiKeyCommand[0] ?? ''}`;
      return atHand()?.source ?? null;
    },
  };
}
