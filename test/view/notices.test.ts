import { expect, test } from 'vitest';
import type { EventPayload, EventType, QueuedInput, WireEvent } from '../../src/protocol/events.js';
import { limits } from '../../src/protocol/limits.js';
import { noticesOf, resolvedNotice, statusNotice, waitingNotice } from '../../src/view/notices.js';
import { hidden, hostileText } from './hostile-text.js';

function tell<T extends EventType>(type: T, payload: Partial<EventPayload<T>>): string[] {
  const notices = noticesOf({ v: '1', id: '', ts: '', type, payload } as unknown as WireEvent);
  return notices.map(({ about, level, text }) => `${level === 'alarm' ? '!' : ''}${about}: ${text}`);
}

const input = { kind: 'follow_up', text: 'and\nthen' } as QueuedInput;

test('what happens to the queue is told with the words it happens to', () => {
  expect(tell('queue_update', { op: 'added', input })).toEqual(['queue: follow-up waits: and then']);
  expect(tell('queue_update', { op: 'held', input })).toEqual(['queue: held: and then']);
  expect(tell('queue_update', { op: 'dropped', dropped: [input, { ...input, text: 'b' }] })).toEqual([
    'queue: dropped: and then',
    'queue: dropped: b',
  ]);
});

test('a session that changes says each thing that did, and a new one nothing', () => {
  expect(tell('session_update', { title: 'T', approval_mode: 'full', archived: false })).toEqual([
    'session: is now called T',
    expect.stringMatching(/^session: mode full: files of the workspace/),
    'session: back from the archive',
  ]);
  expect(tell('session_update', { created: true, title: 'T' })).toEqual([]);
  expect(tell('session_update', { deleted: true })).toEqual(['session: deleted']);
});

test('a failed attempt says what failed and when it is tried again; the last one is told by the end of its run', () => {
  const failed = { message: 'busy', cause: '529', retry_in_ms: 2_000, attempt: 1, attempts_max: 8 };
  expect(tell('error', failed)).toEqual(['!error: busy (529); tried again in 2.0 s (1 of 8 failed)']);
  expect(tell('error', { message: 'busy' })).toEqual([]);
});

test('a run that is being stopped says why, if that was told', () => {
  expect(tell('status', { message: 'aborting', run_state: 'aborting' })).toEqual(['run: stopping']);
  expect(tell('status', { message: 'lunch', run_state: 'aborting' })).toEqual(['run: stopping: lunch']);
  expect(tell('status', { message: 'waits', request_id: 'req_1' })).toEqual([]);
});

test('a summary that was not made is an alarm', () => {
  expect(tell('compaction_end', { error: { code: 'x', message: 'no room' } })).toEqual(['!summary: none was made: no room']);
});

test('a request that was answered elsewhere says by whom, and a secret answer is not told', () => {
  const resolved = { session_id: 's', run_id: 'r', request_id: 'q', outcome: 'answered', result: true, by: 'laptop (cli_1)' } as const;
  expect(resolvedNotice(resolved, false).text).toBe('answered: yes by laptop');
  expect(resolvedNotice(resolved, true).text).toBe('answered: yes');
  expect(resolvedNotice({ ...resolved, by: 'rule' }, false).text).toBe('answered: yes by a new rule');
  expect(resolvedNotice({ ...resolved, secret: true }, true).text).toBe('answered');
  expect(resolvedNotice({ ...resolved, outcome: 'timeout', by: 'daemon' }, false).text).toBe('timeout');
});

test('what is not of one session is told: rules, trust, the config, tools, and that the daemon will stop', () => {
  const rule = { tool: 'bash', action: 'allow', command: 'git status' } as const;
  expect(tell('rule_update', { session_id: 's', op: 'added', workspace: null, rule, by: 'laptop (cli_1)' })).toEqual([
    'permission: rule added in this session: allow bash git status (by laptop)',
  ]);
  expect(tell('rule_update', { session_id: '', op: 'removed', workspace: null, rule, by: 'laptop' })).toEqual([
    'permission: rule removed everywhere: allow bash git status (by laptop)',
  ]);
  expect(tell('rule_update', { session_id: '', op: 'added', workspace: '/w', rule, by: 'laptop' })).toEqual([
    'permission: rule added in /w: allow bash git status (by laptop)',
  ]);
  expect(tell('trust_update', { workspace: '/w', trusted: true, by: 'laptop' })).toEqual([
    'permission: the config of /w is trusted: said by laptop',
  ]);
  expect(tell('config_update', { changed: ['model', 'limits.runs_at_once'], needs_restart: ['limits.runs_at_once'] })).toEqual([
    'daemon: config.json was read again: model, limits.runs_at_once; after a restart only: limits.runs_at_once',
  ]);
  expect(tell('config_update', { changed: [], needs_restart: [] })).toEqual(['daemon: config.json was read again: nothing has changed']);
  const problem = 'config.json: there is no key modle; did you mean model? (line 2, column 3)';
  expect(tell('config_update', { changed: [], needs_restart: [], problem })).toEqual([
    `!daemon: ${problem}; the config before it stays in force`,
  ]);
  expect(tell('tools_update', { op: 'removed', tool_name: 'x' })).toEqual(['daemon: tool removed: x']);
  expect(tell('daemon_update', { state: 'draining' })).toEqual(['daemon: takes no new runs, and stops when those in progress have ended']);
});

test('a notice is one short line with nothing hidden in it', () => {
  const long = `${hostileText}\n${'x'.repeat(200_000)}`;
  const texts = [
    ...tell('warning', { message: long }),
    ...tell('status', { message: long, run_state: 'aborting' }),
    ...tell('error', { message: long, cause: long, retry_in_ms: 1 }),
    ...tell('session_update', { title: long, model: long }),
    ...tell('queue_update', { op: 'removed', input: { ...input, text: long } }),
    ...tell('ui_notify', { params: { message: long } } as EventPayload<'ui_notify'>),
    waitingNotice({ kind: 'steer', text: long }).text,
    statusNotice(long, 0).text,
    resolvedNotice({ session_id: 's', run_id: 'r', request_id: 'q', outcome: 'answered', result: long, by: long }, false).text,
  ];
  expect(texts).toHaveLength(10);
  for (const text of texts) {
    expect(hidden.test(text)).toBe(false);
    expect(text).not.toContain('\n');
    expect(text.length).toBeLessThan(limits.headlineCharsMax + 100);
  }
});
