import { describe, expect, test } from 'vitest';
import { requestShapes } from '../../src/protocol/requests/requests.js';
import { createAskUserTool } from '../../src/tools/talk/ask-user.js';
import { createTestEngine, type TestEngine } from '../support/engine.js';

/** What the first versions stored for each kind. */
const old = {
  approval: {
    kind: 'approval',
    title: 'touch notes.md',
    message: 'touch notes.md\nno rule allows "touch notes.md"',
    asked_by: { session_id: 'ses_x', title: 'notes', model: 'a/b' },
    tool_name: 'bash',
    args: { command: 'touch notes.md' },
    digest: 'd1',
    command: 'touch notes.md',
    network: false,
    sandboxed: true,
    workspace: '/w',
    rule: 'bash touch notes.md (exactly)',
    rules: [{ tool: 'bash', action: 'allow', command: 'touch notes.md', exact: true }],
    options: [
      { value: 'allow_once', label: 'Allow once', key: 'a' },
      { value: 'allow_always', label: 'Always allow in this workspace: bash touch notes.md (exactly)' },
      { value: 'deny', label: 'Deny, and stop the run' },
    ],
  },
  edit: {
    kind: 'approval',
    title: 'Edit a.txt',
    message: 'outside of the workspace',
    tool_name: 'edit',
    args: { path: 'a.txt', edits: [] },
    digest: 'd2',
    diff: '-a\n+b\n',
    diff_is_cut: true,
    sandboxed: false,
    workspace: '/w',
    options: [{ value: 'allow_once', label: 'Allow once' }],
  },
  trust: { kind: 'trust', title: 'Trust the config of /w?', message: 'It says: …', digest: 'd3', workspace: '/w' },
  directory: { kind: 'directory', title: 'Work in /w?', message: 'It moved.', anchor: { realPath: '/w', device: '1', inode: '2' } },
  question: { kind: 'question', title: 'Which?', options: [{ value: 'n', label: 'North' }, 'bare'] },
  none: { title: 'Your name?', default: 'Ada', placeholder: 'a name' },
};
const methods = { approval: 'select', edit: 'select', trust: 'confirm', directory: 'confirm', question: 'select', none: 'input' };
type Kind = keyof typeof old;

/** A session whose open request was stored by an earlier version, in its row and in the log. */
async function storeOld(berth: TestEngine, kind: Kind): Promise<{ session: string; request: string }> {
  const session = berth.session();
  berth.prompt(session);
  (await berth.model.next()).call('ask_user', { method: 'confirm', title: 'Sure?' }, 'c1').end();
  const request = await berth.asked(session);
  const { db } = berth.store;
  db.prepare('UPDATE ui_request SET method = ?, params = ? WHERE id = ?').run(methods[kind], JSON.stringify(old[kind]), request);
  const changed = db
    .prepare(`UPDATE event SET payload = json_set(payload, '$.method', ?, '$.params', json(?)) WHERE type = 'ui_request'`)
    .run(methods[kind], JSON.stringify(old[kind]));
  expect(changed.changes).toBe(1);
  return { session, request };
}

const valid = requestShapes.request_params();

describe('a request that an earlier version has stored', () => {
  test.each(Object.keys(old) as Kind[])('is read in the shape of today, from its row and from the log: %s', async (kind) => {
    await using berth = createTestEngine({ tools: [createAskUserTool()] });
    const { session } = await storeOld(berth, kind);
    const [row] = berth.store.requests.open(session);
    expect(valid.parse(row?.params)).toEqual(row?.params);
    const [event] = berth.events(session).filter(({ type }) => type === 'ui_request');
    expect(event?.payload).toEqual(row);
  });

  test('says what it said: an approval of a command', async () => {
    await using berth = createTestEngine({ tools: [createAskUserTool()] });
    const { session } = await storeOld(berth, 'approval');
    expect(berth.store.requests.open(session)[0]?.params).toMatchObject({
      ...old.approval,
      asked_by: { session_id: session, title: 'notes', model: 'a/b' },
      subject: { kind: 'command', command: 'touch notes.md' },
      sandbox: { kind: 'sandbox', network: false, writable: ['/w'] },
      why: 'no rule allows "touch notes.md"',
      remember: old.approval.rules,
      options: [{ key: 'a' }, { key: 'w' }, { key: 'd' }],
      deny_with_reason: { key: 'r' },
    });
  });

  test('says what it said: an edit, a question and one without a kind', async () => {
    const paramsOf = async (kind: Kind) => {
      await using berth = createTestEngine({ tools: [createAskUserTool()] });
      const { session } = await storeOld(berth, kind);
      return berth.store.requests.open(session)[0]?.params;
    };
    expect(await paramsOf('edit')).toMatchObject({
      subject: { kind: 'paths', paths: [{ access: 'write', path: 'a.txt' }] },
      sandbox: null,
      diff_is_cut: true,
      remember: [],
    });
    expect(await paramsOf('question')).toMatchObject({
      method: 'select',
      options: [
        { value: 'n', label: 'North' },
        { value: 'bare', label: 'bare' },
      ],
    });
    expect(await paramsOf('none')).toEqual({
      kind: 'question',
      method: 'input',
      title: 'Your name?',
      default: 'Ada',
      placeholder: 'a name',
    });
  });

  test('is answered after the upgrade, and the answer takes effect: an approval', async () => {
    await using before = createTestEngine({ tools: [createAskUserTool()] });
    const { request } = await storeOld(before, 'approval');
    await using berth = before.crash();
    expect(berth.answer(request, { result: 'allow_session' })).toMatchObject({ ok: false, refusal: { code: 'invalid_payload' } });
    expect(berth.answer(request, { result: 'allow_always' }).ok).toBe(true);
    expect(berth.store.permissions.inForce('/w', 'ses_other').map(({ rule }) => rule)).toEqual(old.approval.rules);
  });

  test('is answered after the upgrade, and the answer takes effect: trust', async () => {
    await using before = createTestEngine({ tools: [createAskUserTool()] });
    const { request } = await storeOld(before, 'trust');
    await using berth = before.crash();
    expect(berth.answer(request, { result: 'yes' })).toMatchObject({ ok: false, refusal: { details: { field: 'result' } } });
    expect(berth.answer(request, { result: true }).ok).toBe(true);
    expect(berth.store.permissions.isTrusted('/w', 'd3')).toBe(true);
  });
});
