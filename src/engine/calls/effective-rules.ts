import type { OpenCall, SessionState } from '../../core/session.js';
import type { Rule, RuleProblem, RuleSources, SourcedRule, WorkspaceConfig } from '../../policy/port.js';
import { limits } from '../../protocol/limits.js';
import type { TrustParams, UiMethod } from '../../protocol/requests/requests.js';
import { sayRule } from '../../protocol/rule-words.js';
import { makeVisible } from '../../protocol/sanitize.js';
import type { ReadStore } from '../../store/store.js';
import type { Requests } from './requests.js';
import type { StepContext } from '../run/step-context.js';

interface Deps {
  store: ReadStore;
  sources: RuleSources;
  requests: Requests;
  attended(sessionId: string, method: UiMethod): boolean;
  /** Why nothing could ever match a rule, as far as what it takes to know is loaded. */
  findProblem(rule: Rule, workspace: string | undefined): RuleProblem | undefined;
}

/** How the question about a workspace's config is waited for. */
type Waiting = Pick<StepContext, 'signal' | 'withoutSlot'>;

/** All rules that count for a session: of the config, of the store, and of a workspace whose config is trusted. */
export function createEffectiveRules({ store, sources, requests, attended, findProblem }: Deps) {
  const asking = new Map<string, Promise<void>>();

  function stored(workspace: string, sessionId: string): SourcedRule[] {
    return store.permissions.inForce(workspace, sessionId).map(({ rule, sessionId: session, workspace: where }) => {
      const source = session !== null ? 'said in this session' : where !== null ? 'said for this workspace' : 'said for every workspace';
      return { ...rule, source };
    });
  }

  /** What counts without asking anybody. */
  function known(workspace: string, sessionId: string): SourcedRule[] {
    const own = sources.inWorkspace(workspace);
    const trusted = own && store.permissions.isTrusted(workspace, own.digest) === true ? own.rules : [];
    return [
      ...sources.configured().map((rule) => ({ ...rule, source: 'config.json' })),
      ...trusted.map((rule) => ({ ...rule, source: "the workspace's config" })),
      ...stored(workspace, sessionId),
    ];
  }

  function warningsOf(file: string, rules: readonly Rule[], workspace?: string): string[] {
    const warnings = rules.flatMap((rule, i) => {
      const problem = findProblem(rule, workspace);
      return problem ? [`${file}: permissions.rules.${i}.${problem.field}: this rule never matches: ${problem.message}`] : [];
    });
    const more = warnings.length - limits.ruleWarningsMax;
    if (more <= 0) return warnings;
    return [...warnings.slice(0, limits.ruleWarningsMax), `${file}: permissions.rules: ${more} more rules never match`];
  }

  /** Asks once, however many calls of the session want to know. */
  function askTrust(state: SessionState, call: OpenCall, own: WorkspaceConfig, workspace: string, waiting: Waiting): Promise<void> {
    const key = `${state.id} ${own.digest}`;
    const asked = asking.get(key) ?? putTrust(state, call, own, workspace, waiting).finally(() => asking.delete(key));
    asking.set(key, asked);
    return asked;
  }

  async function putTrust(state: SessionState, call: OpenCall, own: WorkspaceConfig, workspace: string, waiting: Waiting): Promise<void> {
    const address = {
      sessionId: state.id,
      runId: state.run?.id ?? '',
      turnId: state.run?.turn?.id ?? '',
      toolCallId: call.id,
      askKey: `trust ${own.digest}`,
    };
    // The answer takes effect in the commit that acknowledges it (core/requests.ts).
    const request = { params: toTrustParams(own, workspace, warningsOf(own.path, own.rules, workspace)), timeoutMs: null };
    await waiting.withoutSlot(() => requests.ask(address, request, waiting.signal, false));
  }

  return {
    known,
    /** Rules of config.json, and of a workspace's own config, that can never match. */
    configWarnings: (): string[] => warningsOf('config.json', sources.configured()),
    workspaceWarnings: (own: WorkspaceConfig, workspace: string): string[] => warningsOf(own.path, own.rules, workspace),
    /** The same, once a person has said whether the workspace's own config counts. Nobody there to ask: it does not, and is asked later. */
    async rulesFor(state: SessionState, call: OpenCall, waiting: Waiting, workspace: string): Promise<SourcedRule[]> {
      const own = sources.inWorkspace(workspace);
      const isNew = own?.problem === undefined && own !== undefined && store.permissions.isTrusted(workspace, own.digest) === undefined;
      if (isNew && attended(state.id, 'confirm')) await askTrust(state, call, own, workspace, waiting);
      return known(workspace, state.id);
    },
  };
}

function toTrustParams({ path, digest, rules }: WorkspaceConfig, workspace: string, warnings: string[]): TrustParams {
  const said = rules.map(sayRule);
  const message = [
    `${path} says:`,
    ...said.map((line) => `  ${line}`),
    ...warnings,
    'It counts only if you trust it. You are asked again when it changes.',
  ];
  return {
    kind: 'trust',
    title: `Trust the config of ${makeVisible(workspace)}?`,
    what: 'workspace_config',
    path: makeVisible(path),
    digest,
    content: makeVisible(said.join('\n')),
    warnings: warnings.map(makeVisible),
    workspace,
    message: makeVisible(message.join('\n')),
  };
}
