import { expect, test } from 'vitest';
import { createFakeModel } from '../support/fake-model/server.js';
import { providersAt, startWithModels, testKey } from '../e2e/providers.js';
import { runCommand, runJson, runOk } from './run-cli.js';

test('models are listed with what is known of them, and a provider that cannot be asked says why', async () => {
  await using fake = await createFakeModel();
  fake.models = [{ id: 'llama', extra: { max_model_len: 8_192 } }, { id: 'other' }];
  const config = {
    model: 'local/llama',
    providers: { local: providersAt(fake).local, gone: { api: 'openai-chat', base_url: 'http://127.0.0.1:1' } },
  };
  await using daemon = await startWithModels(fake, { config });
  const listed = await runOk(daemon, ['models']);
  expect(listed).toMatch(/^\* local\/llama\s+8k/m);
  expect(listed).toMatch(/^ {2}local\/other$/m);
  expect(listed).toMatch(/gone could not be asked/);
  expect(listed).toMatch(/no key for anthropic: add one with berth auth set anthropic/);
  expect(listed).not.toContain(testKey);
  const [found] = await runJson(daemon, ['models']);
  expect(found).toMatchObject({
    default: 'local/llama',
    models: expect.arrayContaining([expect.objectContaining({ model: 'local/other' })]),
  });
});

test('the model of a session is shown and changed; one whose provider is not there is refused', async () => {
  await using fake = await createFakeModel();
  await using daemon = await startWithModels(fake);
  const session = (await runOk(daemon, ['new', '--model', 'local/llama'])).trim();
  expect(await runOk(daemon, ['model', session])).toBe('local/llama, thinking off\n');
  expect(await runOk(daemon, ['model', session, 'anthropic/claude-sonnet-5-5', '--thinking', 'high'])).toBe(
    'anthropic/claude-sonnet-5-5, thinking high\n',
  );
  expect(await runOk(daemon, ['model', 'openai/gpt-5.1'])).toBe('openai/gpt-5.1, thinking high\n');
  const refused = await runCommand(daemon, ['model', session, 'nobody/x']);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no provider nobody; there are offline, anthropic, openai, local/),
  });
  expect(await runCommand(daemon, ['model', session, '--thinking', 'much'])).toMatchObject({ code: 64 });
});

test('an answer that needed two attempts is printed with a word on the first, and --json has only the whole one', async () => {
  await using fake = await createFakeModel();
  await using daemon = await startWithModels(fake, { config: { model: 'local/llama' } });
  fake.script([{ text: 'half ' }, { end: true }], [{ text: 'whole' }]);
  const sent = await runCommand(daemon, ['send', 'hello', '--wait']);
  expect(sent).toMatchObject({ code: 0, stdout: expect.stringMatching(/whole\n$/), stderr: expect.stringMatching(/asked for again in/) });
  fake.script([{ text: 'half ' }, { end: true }], [{ text: 'whole' }]);
  const [answer] = await runJson(daemon, ['send', '.', 'hello', '--wait']);
  expect(answer).toMatchObject({ outcome: 'completed', output: 'whole' });
});

test('a session is summarised by its model, and says what it came to', async () => {
  await using fake = await createFakeModel();
  await using daemon = await startWithModels(fake, { config: { model: 'local/llama' } });
  for (const text of ['one', 'two']) await runOk(daemon, ['send', text, '--wait']);
  fake.script([{ text: 'They counted to two.' }]);
  const made = await runOk(daemon, ['compact', '.', 'mind', 'the', 'gap']);
  expect(made).toMatch(/They counted to two\.\n\nabout \d+ tokens are now \d+/);
  expect(JSON.stringify(fake.asked.at(-1)?.body)).toContain('mind the gap');
  expect(await runOk(daemon, ['log'])).toMatch(/one[\s\S]*two[\s\S]*\[summary\][\s\S]*They counted to two\./);
  expect(await runOk(daemon, ['state'])).toMatch(/used +\d+ tokens in, \d+ out/);
  expect(await runCommand(daemon, ['compact'])).toMatchObject({ code: 1, stderr: expect.stringMatching(/nothing/) });
});

test('the embedded guide remembers what it was asked, and says that this is all it can do', async () => {
  await using fake = await createFakeModel();
  await using daemon = await startWithModels(fake, { config: { model: 'offline/guide' } });
  for (const text of ['say one', `say ${'two '.repeat(100)}`, 'say three']) await runOk(daemon, ['send', text, '--wait']);
  expect(await runOk(daemon, ['compact'])).toMatch(/cannot summarise[\s\S]*- say one/);
  expect(await runOk(daemon, ['send', 'say four', '--wait'])).toBe('four\n');
});
