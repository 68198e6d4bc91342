import type { SessionState } from '../../core/session.js';
import { addRule, removeRule, setTrust, type KeptRule } from '../../core/permissions.js';
import { limits } from '../../protocol/limits.js';
import type { PermissionView } from '../../protocol/permissions.js';
import { stateFor, type HandlerContext } from '../handler-context.js';
import { accepted, refused, refusedWith, reply, sessionNotFound, type Answer, type Handlers } from '../handler.js';
import { fitting } from '../pages.js';
import { byOf, type Client } from '../clients.js';

type PermissionCommands = 'list_permissions' | 'add_permission' | 'remove_permission' | 'get_ruling' | 'set_trust' | 'list_decisions';

type Policy = NonNullable<ReturnType<HandlerContext['engine']['policy']>>;

interface Where {
  cwd: string;
  state: SessionState | undefined;
}

export function createPermissionHandlers(deps: HandlerContext): Pick<Handlers, PermissionCommands> {
  const { engine, sessionDefaults } = deps;
  const { store, commit, effectiveRules, ruleSources } = engine;

  /** The directory of a permission command: the one it names, else the session's, else the default of new sessions. */
  function whereOf(named: { session_id?: string | undefined; cwd?: string | undefined }, client: Client): Where | Answer {
    const state = named.cwd !== undefined && named.session_id === undefined ? undefined : stateFor(deps, named.session_id, client);
    if (named.session_id !== undefined && !state) return sessionNotFound(named.session_id);
    return { cwd: named.cwd ?? state?.cwd ?? sessionDefaults().cwd, state };
  }

  /** `prepareFor` has loaded the policy, unless that failed with EMFILE, or the program was replaced while the daemon ran. */
  function withPolicy(answer: (policy: Policy) => Answer): Answer {
    const policy = engine.policy();
    return policy
      ? answer(policy)
      : refusedWith(
          'overloaded',
          'the permission rules could not be loaded: too many files are open, or the program was replaced while the daemon ran; try again, or restart it with berth daemon stop',
        );
  }

  /** A stored rule. The rules of a deleted session do not count, even before their rows are swept. */
  function findRemovableRule(no: number): KeptRule | undefined {
    const row = store.permissions.get(no);
    return row && (row.sessionId === null || store.sessions.exists(row.sessionId)) ? row : undefined;
  }

  const modeOf = (where: Where): SessionState['approvalMode'] => where.state?.approvalMode ?? sessionDefaults().approval_mode ?? 'ask';

  return {
    list_permissions(payload, client) {
      const where = whereOf(payload, client);
      if ('ok' in where) return where;
      return withPolicy((policy) => {
        const workspace = policy.workspaceOf(where.cwd);
        const own = ruleSources.inWorkspace(workspace);
        const trusted = own ? store.permissions.isTrusted(workspace, own.digest) : undefined;
        const rows = payload.all ? store.permissions.all() : store.permissions.inForce(workspace, where.state?.id ?? '');
        const fromFile = (source: string, rule: PermissionView['rule']): PermissionView => ({
          permission_id: '',
          source,
          workspace: null,
          session_id: null,
          rule,
          said_by: '',
          at: null,
        });
        const permissions = [
          ...ruleSources.configured().map((rule) => fromFile('config.json', rule)),
          ...(own && trusted === true ? own.rules.map((rule) => fromFile(own.path, rule)) : []),
          ...rows.map((row) => ({
            permission_id: String(row.no),
            source: row.sessionId !== null ? 'session' : row.workspace !== null ? 'workspace' : 'everywhere',
            workspace: row.workspace,
            session_id: row.sessionId,
            rule: row.rule,
            said_by: row.by,
            at: new Date(row.atMs).toISOString(),
          })),
        ];
        const shown = fitting(permissions);
        return reply<'list_permissions'>('permissions', {
          permissions: shown,
          has_more: shown.length < permissions.length,
          workspace,
          mode: modeOf(where),
          no_sandbox: policy.noSandbox() ?? null,
          warnings: fitting([...effectiveRules.configWarnings(), ...(own ? effectiveRules.workspaceWarnings(own, workspace) : [])]),
          workspace_config: own ? { path: own.path, digest: own.digest, trusted: trusted ?? null, problem: own.problem ?? null } : null,
        });
      });
    },
    add_permission({ rule, scope, ...named }, client) {
      const where = whereOf(named, client);
      if ('ok' in where) return where;
      return withPolicy((policy) => {
        const problem = engine.findRuleProblem(rule, scope === 'everywhere' ? undefined : policy.workspaceOf(where.cwd));
        if (problem) return refusedWith('invalid_payload', `rule.${problem.field}: ${problem.message}`, { field: `rule.${problem.field}` });
        if (scope === 'session' && !where.state) return sessionNotFound(named.session_id);
        const workspace = scope === 'workspace' ? policy.workspaceOf(where.cwd) : null;
        const sessionId = scope === 'session' ? (where.state?.id ?? null) : null;
        const outcome = commit.decideShared(() => addRule({ workspace, sessionId }, rule, byOf(client), store.permissions));
        if (!outcome.ok) return refused(outcome.refusal);
        return accepted<'add_permission'>(outcome, {
          command: 'add_permission',
          permission_id: String(outcome.reply),
          workspace,
          session_id: sessionId,
        });
      });
    },
    remove_permission({ permission_id }, client) {
      const no = /^\d{1,15}$/.test(permission_id) ? Number(permission_id) : 0;
      const outcome = commit.decideShared(() => removeRule(permission_id, findRemovableRule(no), byOf(client)));
      return accepted<'remove_permission'>(outcome, { command: 'remove_permission', permission_id });
    },
    get_ruling({ tool, command, path, mode, network, unsandboxed, ...named }, client) {
      const where = whereOf(named, client);
      if ('ok' in where) return where;
      return withPolicy((policy) => {
        if (command === undefined && path === undefined) {
          return refusedWith('invalid_payload', 'command: give a command or a path', { field: 'command' });
        }
        const kind = engine.tools.find(tool)?.entry.readOnly === true || tool === 'read' ? 'read' : 'write';
        const accesses = [
          ...(command === undefined ? [] : [{ kind: 'command', command, network, unsandboxed } as const]),
          ...(path === undefined ? [] : [{ kind, path } as const]),
        ];
        const used = mode ?? modeOf(where);
        const rules = effectiveRules.rulesInForce(policy.workspaceOf(where.cwd), where.state?.id ?? '');
        const readOnly = engine.tools.find(tool)?.entry.readOnly === true;
        const ruling = policy.judge({ toolName: tool, accesses, readOnly, mode: used, cwd: where.cwd, rules });
        return reply<'get_ruling'>('ruling', {
          action: ruling.action,
          why: ruling.why,
          parts: fitting(ruling.parts),
          sandboxed: command !== undefined && ruling.reach.confinement.kind === 'sandbox',
          network: ruling.reach.confinement.network,
          notes: ruling.notes,
          rules: ruling.remember,
          mode: used,
          workspace: ruling.reach.workspace,
        });
      });
    },
    set_trust({ digest, trusted, ...named }, client) {
      const where = whereOf(named, client);
      if ('ok' in where) return where;
      return withPolicy((policy) => {
        const workspace = policy.workspaceOf(where.cwd);
        const own = ruleSources.inWorkspace(workspace);
        if (!own) return refusedWith('invalid_payload', `cwd: ${workspace} has no config of its own`, { field: 'cwd' });
        if (digest !== undefined && digest !== own.digest) {
          return refusedWith(
            'invalid_payload',
            `digest: ${own.path} has changed since it was read; read it again and send its new digest`,
            { field: 'digest' },
          );
        }
        const outcome = commit.decideShared(() => setTrust({ workspace, digest: own.digest, trusted, by: byOf(client) }));
        return accepted<'set_trust'>(outcome, { command: 'set_trust', workspace, digest: own.digest, trusted });
      });
    },
    list_decisions({ session_id, cursor, limit }) {
      if (session_id !== undefined && !store.sessions.exists(session_id)) return sessionNotFound(session_id);
      const before = cursor === undefined ? undefined : Number(cursor);
      if (before !== undefined && !Number.isSafeInteger(before)) {
        return refusedWith('invalid_payload', 'cursor: must be the cursor of a reply to list_decisions', { field: 'cursor' });
      }
      const size = limit ?? limits.pageRowsDefault;
      const rows = store.audit.page(session_id, before, size + 1);
      const shown = fitting(rows.slice(0, size));
      const has_more = rows.length > shown.length;
      return reply<'list_decisions'>('decisions', {
        decisions: shown.map(({ view }) => view),
        has_more,
        cursor: has_more ? String(shown.at(-1)?.no ?? '') : null,
      });
    },
  };
}
