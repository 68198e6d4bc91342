import { createHash } from 'node:crypto';
import type { AuditEntry } from '../../core/decision.js';
import { toVerdict } from '../../core/requests.js';
import type { SettledBy } from '../../core/runs.js';
import type { OpenCall, SessionState } from '../../core/session.js';
import type { Policy, Ruling, SourcedRule } from '../../policy/port.js';
import { limits } from '../../protocol/limits.js';
import type { ApprovalNeed, Preparation, Reach, Tool } from '../../tools/port.js';
import { undefinedIfAborted } from '../run/abortable.js';
import type { Anchors } from '../run/anchors.js';
import { toApprovalParams } from './approval-params.js';
import type { Answered, PersonRequest, Requests } from './requests.js';
import type { StepContext } from '../run/step-context.js';

interface Deps {
  loadPolicy(): Promise<Policy>;
  requests: Requests;
  /** The rules in force for a session; asks a person to trust the workspace's config where nobody has decided yet. */
  rulesFor(state: SessionState, call: OpenCall, waiting: StepContext, workspace: string): Promise<SourcedRule[]>;
  /** The real path of the session's directory, if its inode is the one that the session was made in; otherwise the problem. */
  verifyDirectory: Anchors['verify'];
  /** The rules in force and the approval mode at this moment, without asking anybody. */
  rulesInForce(workspace: string, sessionId: string): SourcedRule[];
  modeOf(sessionId: string): SessionState['approvalMode'] | undefined;
  /** Timeout of an approval; null waits for ever. */
  timeoutMs(): number | null;
}

/** The approval mode and the rules that a call was judged by. */
interface RuleSnapshot {
  mode: SessionState['approvalMode'];
  rules: readonly SourcedRule[];
}

/** A call whose arguments were parsed. */
export interface ReadyCall {
  call: OpenCall;
  tool: Tool;
  args: unknown;
  title: string;
}

/** The step that a call waits for its approval in. */
export interface Waiting extends StepContext {
  mayGiveWay: boolean;
}

/** The ruling of the policy; `need` is the reason of a tool that always wants an approval. */
export type Judgement = Ruling & { need?: ApprovalNeed; ruleSnapshot: RuleSnapshot };

interface Examined {
  preparation: Preparation;
  ruling: Judgement;
  workspace: string;
}

/** Whether a call may run. An answer of a person has its `audit` row in the commit of the answer. */
export type Authorization =
  | { kind: 'granted'; reach: Reach; basis: string | undefined; audit: AuditEntry | undefined; settledBy?: SettledBy | undefined }
  /** The model reads `why` as the result; the turn goes on. */
  | { kind: 'refused'; why: string; audit: AuditEntry | undefined; settledBy?: SettledBy | undefined }
  /** A person denied without a reason: the run stops. */
  | { kind: 'stopped'; why: string }
  /** The run is over, or the call was skipped for a steer. */
  | { kind: 'gone' };

/** Authorizes tool calls: by the rules, the approval mode, or a person. */
export function createCallAuthorizer({ loadPolicy, requests, verifyDirectory, rulesFor, rulesInForce, modeOf, timeoutMs }: Deps) {
  /** Prepares a call and has the policy judge it; a string says why the call cannot be done at all. */
  async function examine(state: SessionState, ready: ReadyCall, waiting: StepContext): Promise<Examined | string> {
    const preparation = await undefinedIfAborted(waiting.signal, prepare(ready, state));
    if (preparation === undefined) return 'Stopped.';
    const isString = typeof preparation === 'string';
    // A call without file accesses and commands does not depend on the directory.
    const needsDirectory = isString || (preparation.accesses?.some(({ kind }) => kind !== 'effect') ?? false);
    const directory = needsDirectory
      ? await verifyDirectory(state, ready.call, waiting)
      : { workspace: (await loadPolicy()).workspaceOf(state.cwd) };
    if ('problem' in directory) return directory.problem;
    if (isString) return preparation;
    const { workspace } = directory;
    const ruling = await judge(state, ready, preparation, workspace, waiting);
    if (preparation.problem !== undefined && (await mayRead(state, ready, preparation, workspace, ruling.ruleSnapshot)))
      return preparation.problem;
    return { preparation, workspace, ruling };
  }

  /** Whether every read access of a call is allowed without asking: a problem may quote what was read. */
  async function mayRead(
    { cwd }: SessionState,
    { tool }: ReadyCall,
    { accesses = [] }: Preparation,
    workspace: string,
    { mode, rules }: RuleSnapshot,
  ): Promise<boolean> {
    const reads = accesses.filter(({ kind }) => kind === 'read');
    const asked = { toolName: tool.name, accesses: reads, readOnly: tool.readOnly, mode, cwd, workspace, rules };
    return (await loadPolicy()).judge(asked).action === 'allow';
  }

  async function judge(
    state: SessionState,
    ready: ReadyCall,
    preparation: Preparation,
    workspace: string,
    waiting: StepContext,
  ): Promise<Judgement> {
    const { call, tool, args } = ready;
    const { accesses } = preparation;
    const policy = await loadPolicy();
    const rules = await rulesFor(state, call, waiting, workspace);
    // The mode is read last: it may have changed while a person was asked about the directory or its config.
    const mode = modeNow(state);
    const asked = { toolName: tool.name, accesses, readOnly: tool.readOnly, mode, cwd: state.cwd, workspace, rules };
    const ruling = { ...policy.judge(asked), ruleSnapshot: { mode, rules } };
    const need = mode === 'full' ? undefined : tool.approval?.(args);
    if (!need || ruling.action === 'deny') return ruling;
    return { ...ruling, action: 'ask', remember: [], need };
  }

  function modeNow({ id, approvalMode }: SessionState): SessionState['approvalMode'] {
    return modeOf(id) ?? approvalMode;
  }

  /** Makes a check whether the mode or the rules differ from those that a call was judged by. */
  function createStaleCheck(state: SessionState, workspace: string, judgedBy: RuleSnapshot): () => boolean {
    const before = JSON.stringify(judgedBy);
    return () => {
      const now: RuleSnapshot = { mode: modeNow(state), rules: rulesInForce(workspace, state.id) };
      return JSON.stringify(now) !== before;
    };
  }

  async function ask(
    state: SessionState,
    request: PersonRequest,
    ready: ReadyCall,
    digest: string,
    waiting: Waiting,
    isStale: () => boolean,
  ): Promise<Answered | undefined> {
    const address = {
      sessionId: state.id,
      runId: state.run?.id ?? '',
      turnId: state.run?.turn?.id ?? '',
      toolCallId: ready.call.id,
      // The digest is in the key: an answer is valid only for what was shown.
      askKey: `approval ${digest}`,
    };
    return waiting.withoutSlot(() => requests.ask(address, request, waiting.signal, waiting.mayGiveWay, isStale));
  }

  return {
    /**
     * For a call that was begun before a restart, too: its old answer is found again if the digest is the same. While a person is asked, a
     * change of the mode or the rules has the call judged again, and an allow or deny of theirs resolves the request.
     */
    async authorize(state: SessionState, ready: ReadyCall, waiting: Waiting): Promise<Authorization> {
      let askedIn: SessionState['approvalMode'] | undefined;
      let answers = 0;
      while (answers < limits.approvalRoundsMax) {
        const examined = await examine(state, ready, waiting);
        if (waiting.signal.aborted) return { kind: 'gone' };
        if (typeof examined === 'string') return { kind: 'refused', why: examined, audit: undefined };
        const { preparation, ruling, workspace } = examined;
        const settledBy = askedIn === undefined ? undefined : askedIn === ruling.ruleSnapshot.mode ? 'rule' : 'mode';
        const about = auditOf(state, ready);
        if (ruling.action === 'deny') {
          const why = `Not allowed: ${ruling.why}`;
          return { kind: 'refused', why, audit: { ...about, action: 'deny', by: 'policy', why: ruling.why }, settledBy };
        }
        if (ruling.action === 'allow') {
          const audit = { ...about, action: 'allow', by: 'policy', why: ruling.why } as const;
          return { kind: 'granted', reach: ruling.reach, basis: preparation.basis, audit, settledBy };
        }
        const digest = approvalDigest(ready, state, preparation, ruling);
        const request = { params: toApprovalParams(state, ready, preparation, ruling, digest), timeoutMs: timeoutMs() };
        askedIn ??= ruling.ruleSnapshot.mode;
        const answered = await ask(state, request, ready, digest, waiting, createStaleCheck(state, workspace, ruling.ruleSnapshot));
        if (answered?.outcome === 'reconsider') continue;
        answers++;
        if (!answered || answered.outcome === 'steered' || answered.outcome === 'aborted') return { kind: 'gone' };
        const verdict = toVerdict(answered.result);
        if (!verdict.allow) {
          if (verdict.reason !== undefined) return { kind: 'refused', why: `Denied: ${verdict.reason}`, audit: undefined };
          const audit = { ...about, action: 'deny', by: answered.by, why: `it was ${answered.outcome}` } as const;
          if (answered.outcome === 'denied') return { kind: 'refused', why: 'Denied: nobody was there to approve it.', audit };
          if (answered.outcome === 'timeout') return { kind: 'refused', why: 'Denied: nobody answered in time.', audit };
          const isNo = answered.outcome === 'answered';
          return { kind: 'stopped', why: isNo ? 'Denied by the person.' : 'Not run: the person gave no answer.' };
        }
        // TOCTOU: a file or a rule may have changed since the request was shown, so the call is judged again.
        const rejudged = await examine(state, ready, waiting);
        if (typeof rejudged === 'string' || rejudged.ruling.action === 'deny') continue;
        const { preparation: now, ruling: still } = rejudged;
        if (approvalDigest(ready, state, now, still) !== digest) continue;
        if (!verdict.network) return { kind: 'granted', reach: still.reach, basis: now.basis, audit: undefined };
        // The ruling that the call would have got if the model had asked for network access.
        const online = await judge(state, ready, withNetwork(now), rejudged.workspace, waiting);
        if (online.action === 'deny') continue;
        return { kind: 'granted', reach: online.reach, basis: now.basis, audit: undefined };
      }
      return {
        kind: 'refused',
        why: 'Not run: the files, arguments or rules of this call changed while each approval was open. Call the tool again.',
        audit: undefined,
      };
    },
  };
}
export type CallAuthorizer = ReturnType<typeof createCallAuthorizer>;

async function prepare({ tool, args }: ReadyCall, { id, cwd }: SessionState): Promise<Preparation | string> {
  if (!tool.prepare) return { accesses: undefined };
  return tool.prepare(args, { sessionId: id, cwd });
}

function auditOf(
  { run }: SessionState,
  { call, tool, title }: ReadyCall,
): Pick<AuditEntry, 'runId' | 'toolCallId' | 'toolName' | 'subject'> {
  return { runId: run?.id ?? '', toolCallId: call.id, toolName: tool.name, subject: title };
}

function withNetwork({ accesses, ...rest }: Preparation): Preparation {
  return { ...rest, accesses: accesses?.map((access) => (access.kind === 'command' ? { ...access, network: true } : access)) };
}

/** The digest that an approval is bound to: another digest needs another approval. */
function approvalDigest(
  { tool, call }: ReadyCall,
  { cwd }: SessionState,
  { accesses = [], diff, basis }: Preparation,
  { reach, paths }: Ruling,
): string {
  const { kind, network, writable } = reach.confinement;
  const effects = accesses.filter((access) => access.kind === 'effect');
  return createHash('sha256')
    .update(
      JSON.stringify([tool.name, call.args, cwd, diff ?? '', basis ?? '', reach.workspace, paths, kind, network, writable, ...effects]),
    )
    .digest('hex');
}
