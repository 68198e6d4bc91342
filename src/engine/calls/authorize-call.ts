import { createHash } from 'node:crypto';
import type { AuditEntry } from '../../core/decision.js';
import { toVerdict } from '../../core/requests.js';
import type { SettledBy } from '../../core/runs.js';
import type { OpenCall, SessionState } from '../../core/session.js';
import type { Policy, Ruling, SourcedRule } from '../../policy/port.js';
import { limits } from '../../protocol/limits.js';
import type { ApprovalNeed, Preparation, Reach, Tool } from '../../tools/port.js';
import { unlessAborted } from '../run/abortable.js';
import type { Anchors } from '../run/anchors.js';
import { toApprovalParams } from './approval-params.js';
import type { Answered, PersonRequest, Requests } from './requests.js';
import type { StepContext } from '../run/step-context.js';

interface Deps {
  loadPolicy(): Promise<Policy>;
  requests: Requests;
  /** What counts for a session now; asks about the workspace's own config where nobody has decided about it yet. */
  rulesFor(state: SessionState, call: OpenCall, waiting: StepContext, workspace: string): Promise<SourcedRule[]>;
  /** The real path of the session's directory, if it is still the one that the session was made in; otherwise why nothing may be done. */
  holdDirectory: Anchors['hold'];
  /** The rules and the mode at this moment, without asking anybody. */
  knownRules(workspace: string, sessionId: string): SourcedRule[];
  modeOf(sessionId: string): SessionState['approvalMode'] | undefined;
  /** How long an approval waits; null is for ever. */
  timeoutMs(): number | null;
}

/** What a call was judged by. */
interface Counted {
  mode: SessionState['approvalMode'];
  rules: readonly SourcedRule[];
}

/** A call whose arguments are good. */
export interface ReadyCall {
  call: OpenCall;
  tool: Tool;
  args: unknown;
  title: string;
}

/** How a call waits for its answer. */
export interface Waiting extends StepContext {
  mayGiveWay: boolean;
}

/** What the policy says; a tool that always wants a person's yes says so in its own words. */
export type Judgement = Ruling & { need?: ApprovalNeed; counted: Counted };

interface Examined {
  preparation: Preparation;
  ruling: Judgement;
  workspace: string;
}

/** What became of a call. What a person said has its `audit` in the commit of the answer. */
export type Authorization =
  | { kind: 'granted'; reach: Reach; basis: string | undefined; audit: AuditEntry | undefined; settledBy?: SettledBy | undefined }
  /** Told to the model; the turn goes on. */
  | { kind: 'refused'; why: string; audit: AuditEntry | undefined; settledBy?: SettledBy | undefined }
  /** A person said no and nothing else: the run stops. */
  | { kind: 'stopped'; why: string }
  /** The run is over, or a steer took the call's place. */
  | { kind: 'gone' };

/** Finds out whether a call may run: from the rules, the mode, or a person. */
export function createCallAuthorizer({ loadPolicy, requests, holdDirectory, rulesFor, knownRules, modeOf, timeoutMs }: Deps) {
  /** What a call would do now, and what the policy says of it; a string says why it cannot be done at all. */
  async function examine(state: SessionState, ready: ReadyCall, waiting: StepContext): Promise<Examined | string> {
    const preparation = await unlessAborted(waiting.signal, prepare(ready, state));
    if (preparation === undefined) return 'Stopped.';
    const isString = typeof preparation === 'string';
    // A call that touches no files and runs no command is none of the directory's business.
    const touches = isString || (preparation.accesses?.some(({ kind }) => kind !== 'effect') ?? false);
    const held = touches ? await holdDirectory(state, ready.call, waiting) : { workspace: (await loadPolicy()).workspaceOf(state.cwd) };
    if ('problem' in held) return held.problem;
    if (isString) return preparation;
    const { workspace } = held;
    const ruling = await judge(state, ready, preparation, workspace, waiting);
    if (preparation.problem !== undefined && (await mayRead(state, ready, preparation, workspace, ruling.counted)))
      return preparation.problem;
    return { preparation, workspace, ruling };
  }

  /** Whether all that a call reads may be read without asking anybody. */
  async function mayRead(
    { cwd }: SessionState,
    { tool }: ReadyCall,
    { accesses = [] }: Preparation,
    workspace: string,
    { mode, rules }: Counted,
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
    // Read last: it may have been changed while a person was asked about the directory or its config.
    const mode = modeNow(state);
    const asked = { toolName: tool.name, accesses, readOnly: tool.readOnly, mode, cwd: state.cwd, workspace, rules };
    const ruling = { ...policy.judge(asked), counted: { mode, rules } };
    const need = mode === 'full' ? undefined : tool.approval?.(args);
    if (!need || ruling.action === 'deny') return ruling;
    return { ...ruling, action: 'ask', remember: [], need };
  }

  function modeNow({ id, approvalMode }: SessionState): SessionState['approvalMode'] {
    return modeOf(id) ?? approvalMode;
  }

  /** Sees whether mode or rules are others than those that a call was judged by. */
  function createStaleCheck(state: SessionState, workspace: string, judgedBy: Counted): () => boolean {
    const before = JSON.stringify(judgedBy);
    return () => {
      const now: Counted = { mode: modeNow(state), rules: knownRules(workspace, state.id) };
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
      // Another text is another question: an answer holds for what was shown.
      askKey: `approval ${digest}`,
    };
    return waiting.withoutSlot(() => requests.ask(address, request, waiting.signal, waiting.mayGiveWay, isStale));
  }

  return {
    /**
     * For a call that was begun before a restart, too: the answer of then is found again if it is still about the same. While a person is
     * asked, another mode or other rules have the call judged again, and an answer of theirs resolves the question.
     */
    async authorize(state: SessionState, ready: ReadyCall, waiting: Waiting): Promise<Authorization> {
      let askedIn: SessionState['approvalMode'] | undefined;
      let answers = 0;
      while (answers < limits.approvalRoundsMax) {
        const examined = await examine(state, ready, waiting);
        if (waiting.signal.aborted) return { kind: 'gone' };
        if (typeof examined === 'string') return { kind: 'refused', why: examined, audit: undefined };
        const { preparation, ruling, workspace } = examined;
        const settledBy = askedIn === undefined ? undefined : askedIn === ruling.counted.mode ? 'rule' : 'mode';
        const about = auditOf(state, ready);
        if (ruling.action === 'deny') {
          const why = `Not allowed: ${ruling.why}`;
          return { kind: 'refused', why, audit: { ...about, action: 'deny', by: 'policy', why: ruling.why }, settledBy };
        }
        if (ruling.action === 'allow') {
          const audit = { ...about, action: 'allow', by: 'policy', why: ruling.why } as const;
          return { kind: 'granted', reach: ruling.reach, basis: preparation.basis, audit, settledBy };
        }
        const digest = digestOf(ready, state, preparation, ruling);
        const request = { params: toApprovalParams(state, ready, preparation, ruling, digest), timeoutMs: timeoutMs() };
        askedIn ??= ruling.counted.mode;
        const answered = await ask(state, request, ready, digest, waiting, createStaleCheck(state, workspace, ruling.counted));
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
        // What was approved is what is there now: a file or a rule may have changed while a person thought.
        const reauthorize = await examine(state, ready, waiting);
        if (typeof reauthorize === 'string' || reauthorize.ruling.action === 'deny') continue;
        const { preparation: now, ruling: still } = reauthorize;
        if (digestOf(ready, state, now, still) !== digest) continue;
        if (!verdict.network) return { kind: 'granted', reach: still.reach, basis: now.basis, audit: undefined };
        // The same as if the model had asked for the network and a person had approved that.
        const online = await judge(state, ready, withNetwork(now), reauthorize.workspace, waiting);
        if (online.action === 'deny') continue;
        return { kind: 'granted', reach: online.reach, basis: now.basis, audit: undefined };
      }
      return { kind: 'refused', why: 'Not run: what it is about kept changing while it was approved.', audit: undefined };
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

/** Everything that an approval is bound to. */
function digestOf(
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
