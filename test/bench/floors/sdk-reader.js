// An official SDK alone: for each line, which names a model, it reads one streamed response and says how many milliseconds that took.
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';

const [, , api, url] = process.argv;
const messages = [{ role: 'user', content: 'hello' }];
const askers = {
  async anthropic() {
    const { Anthropic } = await import('@anthropic-ai/sdk');
    const client = new Anthropic({ apiKey: 'key', baseURL: url });
    return (model) => client.messages.create({ model, messages, max_tokens: 32_000, stream: true });
  },
  async 'openai-responses'() {
    const { OpenAI } = await import('openai');
    const client = new OpenAI({ apiKey: 'key', baseURL: `${url}/v1` });
    return (model) => client.responses.create({ model, input: messages, store: false, stream: true });
  },
  async 'openai-chat'() {
    const { OpenAI } = await import('openai');
    const client = new OpenAI({ apiKey: 'key', baseURL: `${url}/v1` });
    return (model) => client.chat.completions.create({ model, messages, stream: true, stream_options: { include_usage: true } });
  },
};
const ask = await askers[api]();

for await (const model of createInterface({ input: process.stdin })) {
  const from = performance.now();
  let events = 0;
  for await (const event of await ask(model)) if (event) events++;
  process.stdout.write(`${JSON.stringify({ wallMs: performance.now() - from, events })}\n`);
}
