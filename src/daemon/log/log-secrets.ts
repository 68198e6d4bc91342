import { limits } from '../../protocol/limits.js';

type Env = Record<string, string | undefined>;

export interface LogSecrets {
  /** What must not be in the log now. */
  current(): readonly string[];
  /** Sets where the secrets of the config come from. What was secret before stays so: a request under way may still tell of it. */
  comeFrom(source: () => readonly string[]): void;
}

/** The variables of the environment that hold keys. */
const keyVariable = /_API_KEY$|_AUTH_TOKEN$|_SECRET$|_PASSWORD$/;

/** The secrets that the log must not have: of the environment, and of the providers as they are configured. */
export function createLogSecrets(env: Env): LogSecrets {
  const fixed = Object.entries(env).flatMap(([name, value]) => (keyVariable.test(name) && value ? [value.trim()] : []));
  /** Oldest first. */
  const known = new Set<string>();
  let source = (): readonly string[] => [];

  function remember(): void {
    for (const secret of source()) {
      known.delete(secret);
      known.add(secret);
    }
    const surplus = known.size - limits.earlierSecretsMax;
    if (surplus > 0) for (const secret of [...known].slice(0, surplus)) known.delete(secret);
  }

  return {
    current() {
      remember();
      return [...fixed, ...known];
    },
    comeFrom(next) {
      remember();
      source = next;
    },
  };
}
