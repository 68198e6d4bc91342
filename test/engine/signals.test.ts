import { describe, expect, test } from 'vitest';
import { allSessions } from '../../src/core/scope.js';
import type { LiveEvent, WireEvent } from '../../src/protocol/events.js';
import { limits } from '../../src/protocol/limits.js';
import type { StateView } from '../../src/protocol/views.js';
import { createClients } from '../../src/server/clients.js';
import { createStateView } from '../../src/server/state-view.js';
import { toolText, type ToolUi } from '../../src/tools/port.js';
import { applyEvent, viewOf, type SessionView } from '../../src/view/session-view.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';
import { foreignTool } from '../support/foreign-tool.js';

function stateOf(berth: TestEngine, session: string): StateView {
  return createStateView(berth.engine, createClients({ onChange: () => undefined }))(berth.store.load(session));
}

/** Runs a tool that shows something, and looks while it runs. */
async function showing(berth: TestEngine, show: (ui: ToolUi) => void, look: () => void = () => undefined): Promise<string> {
  const added = berth.engine.tools.add(
    foreignTool({
      run(_args, { ui }) {
        show(ui);
        look();
        return Promise.resolve(toolText('done'));
      },
    }),
  );
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('weather', { city: 'Oslo' }).end();
  (await berth.model.next()).say('ok').end();
  await berth.idle(session);
  if (added.ok) added.value.remove();
  return session;
}

const told = (berth: TestEngine, joined = 0): LiveEvent[] => berth.engine.signals.since(allSessions, 0, joined).map(({ event }) => event);

describe('what a tool shows', () => {
  test('is told live and is in the state of a session for those who come later', async () => {
    await using berth = createTestEngine();
    let during: LiveEvent[] = [];
    const session = await showing(
      berth,
      (ui) => {
        ui.setStatus('sky', 'clouds');
        ui.setWidget('forecast', ['rain', 'snow']);
        ui.setWorking('asking the sky');
        ui.setTitle('Oslo');
        ui.offerText('and tomorrow?');
      },
      () => (during = told(berth)),
    );
    expect(during).toEqual([
      { type: 'ui_status', payload: { session_id: session, params: { key: 'weather:sky', text: 'clouds' } } },
      { type: 'ui_widget', payload: { session_id: session, params: { key: 'weather:forecast', lines: ['rain', 'snow'] } } },
      { type: 'ui_working', payload: { session_id: session, params: { message: 'asking the sky' } } },
      { type: 'ui_set_title', payload: { session_id: session, params: { title: 'Oslo' } } },
      { type: 'ui_set_editor_text', payload: { session_id: session, params: { text: 'and tomorrow?' } } },
    ]);
    const { ui } = stateOf(berth, session);
    expect(ui).toEqual({
      status: { 'weather:sky': 'clouds' },
      widgets: { 'weather:forecast': ['rain', 'snow'] },
      working: '',
      title: 'Oslo',
    });
  });

  test('as its work ends with its call', async () => {
    await using berth = createTestEngine();
    let during = '';
    const session = await showing(
      berth,
      (ui) => ui.setWorking('asking'),
      () => (during = [...berth.store.runs.allActive()].map(({ sessionId }) => stateOf(berth, sessionId).ui.working).join()),
    );
    expect(during).toBe('asking');
    expect(stateOf(berth, session).ui.working).toBe('');
    expect(told(berth).at(-1)).toEqual({ type: 'ui_working', payload: { session_id: session, params: { message: '' } } });
  });

  test('is bounded, and cannot replace what the daemon shows', async () => {
    await using berth = createTestEngine();
    const long = '💥'.repeat(100_000);
    const session = await showing(berth, (ui) => {
      ui.setStatus('model', 'fine');
      ui.setStatus(long, long);
      ui.setWidget(
        'w',
        Array.from({ length: 1_000 }, () => long),
      );
      ui.setWorking(long);
      ui.setTitle(long);
      ui.offerText(long);
      for (let i = 0; i < 1_000; i++) ui.setStatus(`k${i}`, 'x');
    });
    const { status, widgets, title } = stateOf(berth, session).ui;
    expect(status.model).toBeUndefined();
    expect(Object.keys(status).length).toBeLessThan(limits.uiSignalsPerSessionMax);
    expect(Math.max(...Object.keys(status).map(({ length }) => length))).toBeLessThanOrEqual(limits.uiKeyCharsMax);
    expect(widgets['weather:w']).toHaveLength(limits.widgetLinesMax);
    expect(title).toHaveLength(limits.titleCharsMax);
    expect(JSON.stringify(told(berth)).isWellFormed()).toBe(true);
    expect(JSON.stringify(told(berth)).length).toBeLessThan(600_000);
  });
});

describe('a subscriber', () => {
  test('that comes later gets what is current and not what was told once', async () => {
    await using berth = createTestEngine();
    await showing(berth, (ui) => {
      ui.setTitle('Oslo');
      ui.offerText('old');
    });
    const { signals } = berth.engine;
    expect(told(berth, signals.version()).map(({ type }) => type)).toEqual(['ui_set_title']);
    const joined = signals.version();
    await showing(berth, (ui) => ui.offerText('new'));
    expect(told(berth, joined).filter(({ type }) => type === 'ui_set_editor_text')).toMatchObject([
      { payload: { params: { text: 'new' } } },
    ]);
  });

  test('that is slow gets the newest of each key, and told-once signals are bounded', async () => {
    await using berth = createTestEngine();
    const session = berth.session();
    const { signals } = berth.engine;
    for (let i = 0; i < 1_000; i++) {
      const payload = { session_id: session, draft_id: `dra_${i % 100}`, by: 'x', chars: i };
      signals.tellOnce(session, `draft:${i % 100}`, { type: 'draft_update', payload });
    }
    signals.set(session, 'title', { type: 'ui_set_title', payload: { session_id: session, params: { title: 'still told' } } });
    const seen = told(berth);
    expect(seen).toHaveLength(limits.uiSignalsPerSessionMax + 1);
    expect(seen.at(-1)?.type).toBe('ui_set_title');
    expect(seen.at(-2)).toMatchObject({ payload: { chars: 999 } });
  });
});

test('a view that is folded from signals is that of a client that attaches now', async () => {
  await using berth = createTestEngine();
  const session = await showing(berth, (ui) => {
    ui.setStatus('a', 'b');
    ui.setWidget('w', ['line']);
    ui.setTitle('first');
    ui.setTitle('second');
    ui.setWorking('on it');
  });
  const state = stateOf(berth, session);
  const toView = (ui: StateView['ui']): SessionView => viewOf({ seq: 0, state: { ...state, ui }, messages: [], has_more: false });
  const lines = told(berth).map((event, i): WireEvent => ({ v: '1', id: `live-${i}`, ts: '', ...event }));
  const folded = lines.reduce(applyEvent, toView({ status: {}, widgets: {}, working: '', title: '' }));
  expect(folded).toEqual(toView(state.ui));
  expect(folded).toMatchObject({ working: '', title: 'second', status: { 'weather:a': 'b' }, widgets: { 'weather:w': ['line'] } });
});
