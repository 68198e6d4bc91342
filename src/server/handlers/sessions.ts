import { isAbsolute } from 'node:path';
import { changeSettings, createSession, deleteSession, setLeaf, type SettingsChange } from '../../core/settings.js';
import type { Decision } from '../../core/decision.js';
import type { SessionState } from '../../core/session.js';
import { contextSize, percentLeft } from '../../engine/run/context-size.js';
import { limits } from '../../protocol/limits.js';
import type { Client } from '../clients.js';
import { sessionIdFor, stateFor, type HandlerContext } from '../handler-context.js';
import { accepted, refused, refusedWith, rejected, reply, sessionNotFound, type Answer, type Handlers } from '../handler.js';
import { changeFirstSettings, readFirstSettings, type FirstSettings } from '../first-settings.js';
import { fitting } from '../pages.js';
import { cursorAfter } from '../../store/rows/session-rows.js';
import { isInTree } from './tree.js';

type SessionCommands =
  | 'new_session'
  | 'switch_session'
  | 'branch_session'
  | 'set_leaf'
  | 'list_sessions'
  | 'update_session'
  | 'archive_session'
  | 'delete_session'
  | 'set_active_tools'
  | 'set_steering_mode'
  | 'set_follow_up_mode'
  | 'set_model';

export function createSessionHandlers(deps: HandlerContext): Pick<Handlers, SessionCommands> {
  const { engine, clients, newId, sessionDefaults } = deps;
  const { store, commit } = engine;

  /** Clients without a hello, of protocol version 1, open a connection for each command and share the daemon's active session. */
  function movesActive(client: Client): boolean {
    return !client.saidHello;
  }

  function activated(decision: Decision, client: Client, sessionId: string): Decision {
    return decision.ok && movesActive(client) ? { ...decision, activate: sessionId } : decision;
  }

  function hasNoSession(named: string | undefined, client: Client): boolean {
    return sessionIdFor(deps, named, client) === undefined;
  }

  /** `change` for settings that can be changed before there is a session. */
  function changeOrDefault(named: string | undefined, client: Client, what: FirstSettings, answer: (sessionId: string) => object): Answer {
    if (!hasNoSession(named, client)) return change(named, client, what, answer);
    const outcome = changeFirstSettings(engine, what);
    return outcome.ok ? { ok: true, type: 'accepted', payload: answer(''), seq: outcome.seq } : refused(outcome.refusal);
  }

  function change(named: string | undefined, client: Client, what: SettingsChange, answer: (sessionId: string) => object): Answer {
    const state = stateFor(deps, named, client);
    if (!state) return sessionNotFound(named);
    const outcome = commit.decide(state.id, (now) => changeSettings(now, what, contextLeftWith(now, what.model)));
    return outcome.ok ? { ok: true, type: 'accepted', payload: answer(state.id), seq: outcome.seq } : refused(outcome.refusal);
  }

  /** The percentage left of another model's context window; null when its size is unknown. */
  function contextLeftWith({ model, contextLeftPercent, leafId }: SessionState, next = model): number | null {
    const { contextWindow: before } = engine.providers().facts(model);
    const { contextWindow: after } = engine.providers().facts(next);
    if (before === after || contextLeftPercent === null) return contextLeftPercent;
    return percentLeft(contextSize(store.entries.history(leafId)), after);
  }

  function unknownProvider(model: string | undefined): Answer | undefined {
    const providers = engine.providers();
    if (model === undefined || providers.find(model)) return undefined;
    const names = providers.names().join(', ');
    return refusedWith('invalid_payload', `model: there is no provider ${model.split('/')[0] ?? ''}; there are ${names}`, {
      field: 'model',
    });
  }

  return {
    new_session(payload, client) {
      if (payload.cwd !== undefined && !isAbsolute(payload.cwd)) {
        return refusedWith('invalid_payload', 'cwd: must be an absolute path', { field: 'cwd' });
      }
      const problem = unknownProvider(payload.model);
      if (problem) return problem;
      const id = newId('ses');
      const defaults = sessionDefaults(payload.model);
      const isFirst = movesActive(client) && hasNoSession(undefined, client);
      const fields = {
        ...defaults,
        ...(isFirst ? readFirstSettings(engine) : {}),
        title: payload.title ?? '',
        cwd: payload.cwd ?? defaults.cwd,
        ...(payload.one_off ? { one_off: true } : {}),
      };
      const outcome = commit.create(id, () => {
        const decision = activated(createSession(id, fields), client, id);
        if (!decision.ok) return decision;
        return { ...decision, anchor: engine.anchors.find(fields.cwd), ...(isFirst ? { usesFirstSettings: true } : {}) };
      });
      if (!outcome.ok) return refused(outcome.refusal);
      clients.attach(client, id);
      return reply<'new_session'>('session', { session_id: id, active: movesActive(client) }, outcome.seq);
    },
    switch_session({ session_id: id }, client) {
      if (store.sessions.load(id)?.deleting) return sessionNotFound(id);
      const outcome = commit.decide(id, (state) => activated(changeSettings(state, {}), client, id));
      if (!outcome.ok) return refused(outcome.refusal);
      clients.attach(client, id);
      return reply<'switch_session'>('session', { session_id: id, active: movesActive(client) }, outcome.seq);
    },
    branch_session({ session_id: parentId, leaf_id }, client) {
      const parent = store.load(parentId);
      if (!parent || parent.deleting) return sessionNotFound(parentId);
      if (leaf_id !== undefined && !isInTree(engine, parentId, leaf_id)) return rejected('leaf_not_found');
      const id = newId('ses');
      const fields = {
        title: branchTitle(parent.title || store.sessions.firstUserText(parentId)),
        cwd: parent.cwd,
        model: parent.model,
        thinking: parent.thinking,
        steering_mode: parent.steeringMode,
        follow_up_mode: parent.followUpMode,
        approval_mode: parent.approvalMode,
        when_detached: parent.whenDetached,
        recovery: parent.recovery,
        active_tools: parent.activeTools,
        parent_id: parentId,
        leaf_id: leaf_id ?? parent.leafId,
      };
      const outcome = commit.create(id, () => activated(createSession(id, fields), client, id));
      if (!outcome.ok) return refused(outcome.refusal);
      clients.attach(client, id);
      return reply<'branch_session'>('session', { session_id: id, parent_id: parentId, active: movesActive(client) }, outcome.seq);
    },
    set_leaf({ leaf_id, session_id }, client) {
      const state = stateFor(deps, session_id, client);
      if (!state) return hasNoSession(session_id, client) ? rejected('leaf_not_found') : sessionNotFound(session_id);
      if (!isInTree(engine, state.id, leaf_id)) return rejected('leaf_not_found');
      const outcome = commit.decide(state.id, (now) => setLeaf(now, leaf_id));
      return outcome.ok ? reply<'set_leaf'>('leaf', { session_id: state.id, leaf_id }, outcome.seq) : refused(outcome.refusal);
    },
    list_sessions({ cwd, query, archived, one_off: oneOff, cursor, limit }) {
      const page = store.sessions.list({ cwd, query, archived, oneOff, cursor, limit: limit ?? limits.pageRowsDefault });
      const sessions = fitting(page.sessions);
      const next = sessions.length < page.sessions.length ? cursorAfter(sessions.at(-1)) : page.cursor;
      const active = store.meta.get('active_session') ?? '';
      return reply<'list_sessions'>('sessions', {
        sessions,
        has_more: next !== null,
        cursor: next,
        active: store.sessions.exists(active) ? active : '',
      });
    },
    update_session(payload, client) {
      const problem = unknownProvider(payload.model);
      if (problem) return problem;
      const { title, model, thinking, approval_mode, when_detached, recovery } = payload;
      const what = dropUndefined({ title, model, thinking, approval_mode, when_detached, recovery });
      return change(payload.session_id, client, what, (session_id) => ({ command: 'update_session', session_id }));
    },
    archive_session: ({ archived, session_id }, client) =>
      change(session_id, client, { archived }, (id) => ({ command: 'archive_session', session_id: id })),
    delete_session({ session_id }) {
      const outcome = commit.decide(session_id, deleteSession);
      return accepted<'delete_session'>(outcome, { command: 'delete_session', session_id });
    },
    set_active_tools({ tools, session_id }, client) {
      const unknown = tools.find((name) => !engine.tools.find(name));
      if (unknown !== undefined) return rejected('tool_not_registered', `there is no tool ${JSON.stringify(unknown)}`);
      const active_tools = [...new Set(tools)];
      return changeOrDefault(session_id, client, { active_tools }, (id) => ({
        command: 'set_active_tools',
        count: active_tools.length,
        session_id: id,
      }));
    },
    set_steering_mode: ({ mode, session_id }, client) =>
      changeOrDefault(session_id, client, { steering_mode: mode }, (id) => ({ command: 'set_steering_mode', mode, session_id: id })),
    set_follow_up_mode: ({ mode, session_id }, client) =>
      changeOrDefault(session_id, client, { follow_up_mode: mode }, (id) => ({ command: 'set_follow_up_mode', mode, session_id: id })),
    set_model({ model, thinking, session_id }, client) {
      const problem = unknownProvider(model);
      if (problem) return problem;
      return change(session_id, client, dropUndefined({ model, thinking }), (id) => ({ command: 'set_model', model, session_id: id }));
    },
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function dropUndefined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** The title of a branch: that of its parent, or the parent's first user message. */
function branchTitle(parent: string): string {
  const line = parent.replaceAll(/\s+/g, ' ').trim();
  if (line === '') return '';
  const end = ' (branch)';
  const room = limits.titleCharsMax - end.length;
  return `${line.length > room ? `${line.slice(0, room - 1)}…` : line}${end}`.toWellFormed();
}
