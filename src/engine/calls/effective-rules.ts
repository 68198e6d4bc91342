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
  /** Why a rule can never match; undefined as long as the policy is not loaded. */
  findProblem(rule: Rule, workspace: string | undefined): RuleProblem | undefined;
}

/** The step that waits for a trust answer. */
type Waiting = Pick<StepContext, 'signal' | 'withoutSlot'>;

/** The permission rules in force for a session: from config.json, the store, and the config of a trusted workspace. */
export function createEffectiveRules({ store, sources, requests, attended, findProblem }: Deps) {
  const openTrustRequests = new Map<string, Promise<void>>();

  function stored(workspace: string, sessionId: string): SourcedRule[] {
    return store.permissions.inForce(workspace, sessionId).map(({ rule, sessionId: session, workspace: where }) => {
      const source = session !== null ? 'said in this session' : where !== null ? 'said for this workspace' : 'said for every workspace';
      return { ...rule, source };
    });
  }

  /** The rules in force without asking anybody. */
  function rulesInForce(workspace: string, sessionId: string): SourcedRule[] {
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

  /** Asks for trust once, however many calls of the session wait for the answer. */
  function askTrust(state: SessionState, call: OpenCall, own: WorkspaceConfig, workspace: string, waiting: Waiting): Promise<void> {
    const key = `${state.id} ${own.digest}`;
    const asked =
      openTrustRequests.get(key) ?? askTrustNow(state, call, own, workspace, waiting).finally(() => openTrustRequests.delete(key));
    openTrustRequests.set(key, asked);
    return asked;
  }

  async function askTrustNow(
    state: SessionState,
    call: OpenCall,
    own: WorkspaceConfig,
    workspace: string,
    waiting: Waiting,
  ): Promise<void> {
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
    rulesInForce,
    /** Warnings about rules of config.json, or of a workspace's config, that can never match. */
    configWarnings: (): string[] => warningsOf('config.json', sources.configured()),
    workspaceWarnings: (own: WorkspaceConfig, workspace: string): string[] => warningsOf(own.path, own.rules, workspace),
    /** The rules in force, after a person was asked to trust a new workspace config. Without a client attached, that config is ignored. */
    async rulesFor(state: SessionState, call: OpenCall, waiting: Waiting, workspace: string): Promise<SourcedRule[]> {
      const own = sources.inWorkspace(workspace);
      const isNew = own?.problem === undefined && own !== undefined && store.permissions.isTrusted(workspace, own.digest) === undefined;
      if (isNew && attended(state.id, 'confirm')) await askTrust(state, call, own, workspace, waiting);
      return rulesInForce(workspace, state.id);
    },
  };
}

function toTrustParams({ path, digest, rules }: WorkspaceConfig, workspace: string, warnings: string[]): TrustParams {
  const ruleLines = rules.map(sayRule);
  const message = [
    `${path} says:`,
    ...ruleLines.map((line) => `  ${line}`),
    ...warnings,
    'These rules count only if you trust this file. You are asked again when it changes.',
  ];
  return {
    kind: 'trust',
    title: `Trust the config of ${makeVisible(workspace)}?`,
    what: 'workspace_config',
    path: makeVisible(path),
    digest,
    content: makeVisible(ruleLines.join('\n')),
    warnings: warnings.map(makeVisible),
    workspace,
    message: makeVisible(message.join('\n')),
  };
}
