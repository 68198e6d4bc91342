import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { inputCommands, observerCommands } from '../../src/protocol/commands/command-roles.js';
import { commands } from '../../src/protocol/commands/commands.js';
import { errorCodes, refusal, rejectionWords } from '../../src/protocol/errors.js';
import { events } from '../../src/protocol/events.js';

type Row = (typeof commands)[keyof typeof commands];
const rows = Object.entries(commands) as [string, Row][];

function requiredKeys(row: { payload: z.ZodObject }): string[] {
  const { required = [] } = z.toJSONSchema(row.payload, { io: 'input', unrepresentable: 'any' }) as { required?: string[] };
  return [...required].sort();
}

describe('the frozen commands', () => {
  test.each([
    ['ping', [], 'pong'],
    ['prompt', ['text'], 'result'],
    ['steer', ['text'], 'accepted'],
    ['follow_up', ['text'], 'accepted'],
    ['abort', [], 'accepted'],
    ['set_active_tools', ['tools'], 'accepted'],
    ['set_steering_mode', ['mode'], 'accepted'],
    ['set_follow_up_mode', ['mode'], 'accepted'],
    ['get_state', [], 'state'],
    ['get_messages', [], 'messages'],
    ['new_session', [], 'session'],
    ['switch_session', ['session_id'], 'session'],
    ['branch_session', ['session_id'], 'session'],
    ['set_leaf', ['leaf_id'], 'leaf'],
    ['get_tree', [], 'tree'],
    ['compact_session', [], 'compaction'],
    ['extension_command', ['name'], 'extension_result'],
  ] as [keyof typeof commands, string[], string][])('%s requires %j and answers with %s', (type, required, reply) => {
    expect(requiredKeys(commands[type])).toEqual(required);
    expect(commands[type].reply.type).toBe(reply);
  });
});

test('an observer may look at everything and change nothing but how far it has got with the log', () => {
  const readers = /^(ack_cursor$|hello|attach|detach|ping|(get|list|search|export|inspect)_.*)$/;
  const wrong = rows.filter(([type, { role }]) => (role === 'observer') !== readers.test(type)).map(([type]) => type);
  expect(wrong).toEqual([]);
});

test('only the commands that the contract names are waited for', () => {
  const mayWait = [
    'prompt',
    'compact_session',
    'extension_command',
    'list_models',
    'list_files',
    'mcp_login',
    'mcp_reload',
    'export_session',
    'back_up_store',
    'drain',
    'shutdown',
  ];
  expect(rows.filter(([type, row]) => 'waits' in row && !mayWait.includes(type)).map(([type]) => type)).toEqual([]);
});

test('every name on the wire is snake_case', () => {
  const snake = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
  const keys = [
    ...rows.flatMap(([type, row]) => [type, row.reply.type, ...Object.keys(row.payload.shape), ...Object.keys(row.reply.payload.shape)]),
    ...Object.entries(events).flatMap(([type, row]) => [type, ...Object.keys(row.payload.shape)]),
  ];
  expect(keys.filter((key) => !snake.test(key))).toEqual([]);
});

test('every command takes fields it does not know', () => {
  const strict = rows.filter(([, row]) => {
    const { additionalProperties } = z.toJSONSchema(row.payload, { io: 'input', unrepresentable: 'any' }) as {
      additionalProperties?: unknown;
    };
    return additionalProperties === false;
  });
  expect(strict.map(([type]) => type)).toEqual([]);
});

test('the codes and words of refusals are the closed sets of the contract', () => {
  expect([...errorCodes].sort()).toEqual(
    (
      'invalid_command invalid_payload unsupported_version command_rejected session_not_found session_error provider_error ' +
      'cursor_expired storage_full store_busy timeout overloaded shutting_down internal_error'
    )
      .split(' ')
      .sort(),
  );
  expect([...rejectionWords].sort()).toEqual(
    (
      'run_in_progress no_active_run leaf_not_found nothing_to_compact tool_not_registered extension_command_not_found empty_prompt ' +
      'input_conflict revision_conflict queue_full not_waiting already_resolved run_not_found read_only_client aborted'
    )
      .split(' ')
      .sort(),
  );
});

test('a refusal says whether the same line may work later', () => {
  expect(refusal('store_busy', 'm').retryable).toBe(true);
  expect(refusal('invalid_payload', 'm')).toEqual({ code: 'invalid_payload', message: 'm', retryable: false, details: {} });
});

test('which events are live is what the contract says', () => {
  const mayBeLive =
    'message_update tool_execution_update ui_status ui_working ui_widget ui_set_title ui_set_editor_text mcp_update client_update draft_update goodbye'.split(
      ' ',
    );
  for (const [type, { live }] of Object.entries(events)) expect({ type, live }).toEqual({ type, live: mayBeLive.includes(type) });
});

test('the list of commands that may be sent again is the observer column of the table', () => {
  const observers = rows.filter(([, row]) => row.role === 'observer').map(([type]) => type);
  expect([...observerCommands].sort()).toEqual(observers.sort());
  const taken = rows.filter(([, row]) => row.role === 'controller' && 'input_id' in row.payload.shape && 'text' in row.payload.shape);
  const submits = taken.map(([type]) => type).filter((type) => !type.endsWith('_queued'));
  expect([...inputCommands].sort()).toEqual(submits.sort());
});
