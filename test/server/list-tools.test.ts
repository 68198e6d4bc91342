import { expect, test } from 'vitest';
import { createClients } from '../../src/server/clients.js';
import type { DaemonFacts } from '../../src/server/handler-context.js';
import { createDaemonHandlers } from '../../src/server/handlers/daemon.js';
import { createStateView } from '../../src/server/state-view.js';
import { createTestEngine } from '../support/engine.js';
import { foreignTool } from '../support/foreign-tool.js';
import { createGate } from '../support/gate-tool.js';

test('list_tools names the tools that there are now, and says which of them the session uses', async () => {
  await using berth = createTestEngine({ tools: [createGate().tool] });
  const { engine } = berth;
  const clients = createClients({ onChange: () => undefined });
  const { list_tools } = createDaemonHandlers({
    engine,
    clients,
    viewState: createStateView(engine, clients),
    newId: () => 'new_1',
    sessionDefaults: () => ({ cwd: '/', model: 'scripted/model', thinking: 'off' }),
    daemon: {} as DaemonFacts,
  });
  const client = clients.add('cli_1');
  const list = (session_id: string): unknown => list_tools({ session_id }, client);
  const [all, one] = [berth.session(), berth.session({ active_tools: ['gate'] })];
  const tools = (isActive: boolean) => ({
    payload: {
      tools: [
        { name: 'gate', description: 'gate', active: true },
        { name: 'weather', description: 'Says what the weather is like in a city.', active: isActive },
      ],
    },
  });
  const added = engine.tools.add(foreignTool());
  expect(list(all)).toMatchObject(tools(true));
  expect(list(one)).toMatchObject(tools(false));
  if (added.ok) added.value.remove();
  expect(list(all)).toMatchObject({ payload: { tools: [{ name: 'gate', description: 'gate', active: true }] } });
});
