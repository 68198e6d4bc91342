import { startDaemon, type DaemonSetup, type TestDaemon } from '../support/daemon.js';
import type { Api } from '../support/fake-model/reply.js';
import type { FakeModel } from '../support/fake-model/server.js';

export const apis: Api[] = ['anthropic', 'openai-responses', 'openai-chat'];
/** What each API is called in the config, and a model of its own kind. */
const names: Record<Api, string> = { anthropic: 'anthropic', 'openai-responses': 'openai', 'openai-chat': 'local' };
const models: Record<Api, string> = { anthropic: 'claude-sonnet-5-5', 'openai-responses': 'gpt-5.1', 'openai-chat': 'llama' };
export const testKey = 'sk-test-0123456789abcdef';

export function nameOf(api: Api): string {
  return `${names[api]}/${models[api]}`;
}

export function providersAt(fake: FakeModel, settings: Record<string, unknown> = { api_key: testKey }): Record<string, unknown> {
  return Object.fromEntries(apis.map((api) => [names[api], { api, base_url: fake.baseUrl(api), ...settings }]));
}

/** A daemon whose providers are all the same strict server, in three dialects, and which does not wait long between attempts. */
export async function startWithModels(
  fake: FakeModel,
  { config = {}, ...setup }: Omit<DaemonSetup, 'config'> & { config?: Record<string, unknown> } = {},
): Promise<TestDaemon> {
  return startDaemon({ ...setup, config: { providers: providersAt(fake), limits: { model_retry_ms: 1 }, ...config } });
}
