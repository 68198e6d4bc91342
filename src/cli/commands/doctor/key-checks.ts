import { AuthFileRefused, readAuthFile } from '../../../machine/auth-file.js';
import { fail, ok, type Finding } from './finding.js';

const variables = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'] as const;

/** Which keys are there. Nothing of a key is shown. */
export function checkKeys(configDir: string, env: NodeJS.ProcessEnv): Finding[] {
  try {
    const kept = readAuthFile(configDir).providers.map((provider) => `${provider} (auth.json)`);
    const set = variables.filter((name) => (env[name] ?? '').trim() !== '').map((name) => `${name} (this shell)`);
    const keys = [...kept, ...set];
    return [ok('keys', keys.length === 0 ? 'none; offline/guide needs none, berth auth set keeps one' : keys.join(', '))];
  } catch (error) {
    if (error instanceof AuthFileRefused) return [fail('keys', error.message)];
    throw error;
  }
}
