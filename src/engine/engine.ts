import type { Policy, Rule, RuleProblem, RuleSources } from '../policy/port.js';
import type { UiMethod } from '../protocol/requests/requests.js';
import { accept, type Decision, type Fresh } from '../core/decision.js';
import { noSession, type DurableEvent } from '../protocol/events.js';
import type { SessionState } from '../core/session.js';
import { limits } from '../protocol/limits.js';
import type { Providers } from '../providers/port.js';
import type { StoreFault } from '../store/faults.js';
import { toReadStore, type Store } from '../store/store.js';
import { isOfferedTo, type ToolEntry, type ToolFacts } from '../tools/port.js';
import type { SystemPrompt } from '../context/port.js';
import { createArtifactFiles, type ArtifactFiles } from './calls/artifact-files.js';
import { createRequests } from './calls/requests.js';
import { createAttempts, type RetrySettings } from './run/attempts.js';
import { createCheckpoint } from './door/checkpoint.js';
import type { FaultPoint } from './door/fault-points.js';
import { createCommit, type Bookkeeping, type Commit, type Outcome } from './door/commit.js';
import { createCompactions } from './run/compactions.js';
import { createDrainers, type Drainers } from './run/drainers.js';
import { createHousekeeping, type Housekeeping } from './door/housekeeping.js';
import { createRetryingCommit, type RetryingCommit } from './door/retrying-commit.js';
import { createLiveMessages } from './live/live-messages.js';
import { createLiveSignals } from './live/live-signals.js';
import { createLiveTools } from './live/live-tools.js';
import { createModelRequests } from './run/model-requests.js';
import { recoverRuns } from './door/recover.js';
import { createRespond } from './run/respond.js';
import { createAnchors } from './run/anchors.js';
import { createCallAuthorizer } from './calls/authorize-call.js';
import { createEffectiveRules } from './calls/effective-rules.js';
import { createRunHistories } from './run/run-history.js';
import { createRunLoop } from './run/run-loop.js';
import { createSlots } from './run/slots.js';
import { createToolCalls } from './calls/tool-calls.js';
import { createToolRegistry, type ToolChange } from './calls/tool-registry.js';
import { createWakes } from './door/wakes.js';

export interface EngineDeps {
  store: Store;
  /** Asked for anew each time: the config may have been read again. */
  providers(): Providers;
  systemPrompt: SystemPrompt;
  summaryInstructions: string;
  retries(): RetrySettings;
  compactAtPercent(): number | undefined;
  /** Berth's own, which are always there. */
  tools: ToolEntry[];
  /** Loaded when it is first needed. */
  loadPolicy(): Promise<Policy>;
  /** Undefined as long as it was not loaded. */
  policy(): Policy | undefined;
  ruleSources: RuleSources;
  /** How long an approval waits; null is for ever. */
  approvalTimeoutMs(): number | null;
  /** Where long output is kept. */
  artifactsDir: string;
  /** Ends every process that a run has started; resolves when none is left. */
  endProcesses(runId: string): Promise<void>;
  runsAtOnceMax: number;
  /** Wall clock, milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  clock(): number;
  newId: Fresh['id'];
  attended(sessionId: string, method: UiMethod): boolean;
  /** Named places at which the crash suite kills the daemon. */
  fault(point: FaultPoint): void;
  /** The store cannot be trusted any more. Does not return. */
  onFatal(error: unknown): never;
  /** Something that no handling was written for. Does not return. */
  onBug(error: unknown): never;
}

/** Everything that happens: runs, turns, tools, questions. State changes through `commit` only. */
export function createEngine(deps: EngineDeps) {
  const { providers, now, clock, newId, attended, fault, onFatal, onBug } = deps;
  const store = toReadStore(deps.store);
  const tools = createToolRegistry({ own: deps.tools, onChange: tellTools });
  const untoldTools = new Map<string, ToolChange>();
  const wakes = createWakes();
  const commitListeners = new Set<(events: readonly DurableEvent[]) => void>();
  const giveUp = new AbortController();
  let isClosed = false;
  /**
   * Live text moves subscribers only; everything else looks when something was committed. It goes out as soon as all that came with it is
   * read: the end of the turn comes after more reads of the same socket, and readers would have nothing to do meanwhile.
   */
  const liveWakes = createWakes((flush) => process.nextTick(flush));
  const live = createLiveMessages({ wake: liveWakes.wake });
  const liveTools = createLiveTools({ wake: liveWakes.wake });
  const signals = createLiveSignals({ wake: liveWakes.wake, now });
  const commit = createRetryingCommit({
    commit: createCommit({
      store: deps.store,
      fresh: () => ({ nowMs: now(), id: newId, contentOf: store.inputs.contentOf }),
      onCommitted: (events) => commitListeners.forEach((listener) => listener(events)),
      wake: wakes.wake,
      onDeleted: () => housekeeping.schedule(),
      onRules: rulesChanged,
      fault,
      onFatal,
    }),
    onParked: tellParked,
    stopped: giveUp.signal,
  });
  const { decide, create, decideShared, maintain, tryMaintain, attemptMaintain, maintainWithRetry } = commit;
  const checkpoint = createCheckpoint({ store, bookkeeping: commit, live, fault });
  const housekeeping: Housekeeping = createHousekeeping({ store, bookkeeping: commit, now, dropFiles: (id) => artifacts.drop(id) });
  const artifacts: ArtifactFiles = createArtifactFiles({ store, bookkeeping: commit, dir: deps.artifactsDir, now, newId });
  const requests = createRequests({ store, commit, wakes, now, attended });
  const findRuleProblem = (rule: Rule, workspace: string | undefined): RuleProblem | undefined =>
    deps.policy()?.findRuleProblem(rule, { ...toolNames(), workspace });
  const ruleBook = createEffectiveRules({ store, sources: deps.ruleSources, requests, attended, findProblem: findRuleProblem });
  const anchors = createAnchors({ store, bookkeeping: commit, requests });
  const authorizer = createCallAuthorizer({
    loadPolicy: deps.loadPolicy,
    requests,
    holdDirectory: anchors.hold,
    rulesFor: ruleBook.rulesFor,
    knownRules: ruleBook.known,
    modeOf: (sessionId) => store.sessions.load(sessionId)?.approvalMode,
    timeoutMs: deps.approvalTimeoutMs,
  });
  const attempt = createAttempts({ commit, settings: deps.retries, random: Math.random, now, tellWaiting });
  const compactions = createCompactions({
    store,
    commit,
    providers,
    attempt,
    instructions: deps.summaryInstructions,
    compactAtPercent: deps.compactAtPercent,
  });
  const toRequest = createModelRequests({
    systemPrompt: deps.systemPrompt,
    toolSpecs: (state) => tools.specs((tool) => isOffered(tool, state)),
  });
  const respond = createRespond({
    store,
    commit,
    live,
    providers,
    toRequest,
    attempt,
    compactions,
    newId,
    fault,
    onFirstWords: checkpoint.begin,
  });
  const toolCalls = createToolCalls({ commit, requests, liveTools, authorizer, artifactsOf: artifacts.of, tools, clock, fault });
  const slots = createSlots(deps.runsAtOnceMax);
  const drive = createRunLoop({
    store,
    commit,
    live,
    slots,
    openHistory: createRunHistories(store),
    isResumable,
    toolCalls,
    respond,
    compact: compactions.compact,
    endProcesses: deps.endProcesses,
    isStopping: () => drainers.isStopping(),
  });
  const drainers: Drainers = createDrainers({ store, drive, onBug });

  wakes.listen((sessionId) => {
    drainers.wake(sessionId);
    housekeeping.note();
  });

  /** Whoever waits for an approval looks again whether it is still needed. */
  function rulesChanged(): void {
    for (const sessionId of store.requests.askingSessions()) wakes.wake(sessionId);
  }

  function toolNames(): { toolNames: string[]; harmlessTools: string[] } {
    const known = tools.list();
    const harmless = known.filter(({ touchesNothing }) => touchesNothing === true);
    return { toolNames: known.map(({ name }) => name), harmlessTools: harmless.map(({ name }) => name) };
  }

  /** Whether a session's model is told of a tool, and may call it. */
  function isOffered(tool: ToolFacts, { activeTools, model }: Pick<SessionState, 'activeTools' | 'model'>): boolean {
    return isOfferedTo(model, tool) && (activeTools === null || activeTools.includes(tool.name));
  }

  function isResumable(toolName: string): boolean {
    return tools.find(toolName)?.entry.resumable === true;
  }

  /** A tool counts from now on. What the store does not take now is told in order once it does; of each tool the newest change. */
  function tellTools(op: ToolChange, name: string): void {
    if (isClosed) return;
    const waits = untoldTools.size > 0;
    if (!waits && !isRefused(commit.decideShared(() => toolsUpdate(op, name)))) return;
    untoldTools.delete(name);
    untoldTools.set(name, op);
    if (!waits) tellUntoldTools().catch(onBug);
  }

  async function tellUntoldTools(): Promise<void> {
    for (let [next] = untoldTools; next && !isClosed; [next] = untoldTools) {
      const [name, op] = next;
      await commit.decideSharedWithRetry(() => toolsUpdate(op, name));
      // One that has changed again meanwhile stands at the end.
      if (untoldTools.get(name) === op) untoldTools.delete(name);
    }
  }

  function tellWaiting(sessionId: string, text: string): void {
    signals.set(sessionId, 'status:model', { type: 'ui_status', payload: { session_id: sessionId, params: { key: 'model', text } } });
  }

  function tellParked(sessionId: string, fault: StoreFault | undefined): void {
    const text = fault === 'storage_full' ? 'the disk is full: waiting for room' : fault ? 'the store is busy: waiting' : '';
    signals.set(sessionId, 'status:store', { type: 'ui_status', payload: { session_id: sessionId, params: { key: 'store', text } } });
  }

  return {
    store,
    commit: { decide, create, decideShared } satisfies Commit,
    bookkeeping: { maintain, tryMaintain, attemptMaintain, maintainWithRetry } satisfies Bookkeeping & Partial<RetryingCommit>,
    /** Hears the events of every commit before anyone is woken, to have them ready for readers. Whoever missed some reads the log. */
    onCommitted(listener: (events: readonly DurableEvent[]) => void): void {
      commitListeners.add(listener);
    },
    wakes,
    liveWakes,
    live,
    liveTools,
    signals,
    providers,
    compactions,
    tools,
    isOffered,
    artifacts,
    policy: deps.policy,
    ruleBook,
    findRuleProblem,
    /** To be called when rules changed other than by a commit. */
    rulesChanged,
    anchors,
    ruleSources: deps.ruleSources,
    housekeeping,
    running: drainers.running,
    waitsForSlot: slots.isWaiting,
    nextCalls: toolCalls.next,
    isStopping: drainers.isStopping,
    /** Settles what the last daemon left and goes on with what only waited for a person. Call once, before anyone connects. */
    recover() {
      artifacts.sweep();
      const recovered = recoverRuns({ store, commit, resumable: isResumable });
      for (const { sessionId } of store.runs.allActive()) wakes.wake(sessionId);
      housekeeping.schedule();
      housekeeping.note();
      return recovered;
    },
    /** Nothing touches the store after this. */
    close(): void {
      isClosed = true;
      housekeeping.stop();
      checkpoint.stop();
      wakes.close();
      liveWakes.close();
    },
    /** Interrupts what runs and waits until it is settled, for a bounded time when the store does not take commits. */
    async stop(): Promise<void> {
      const timer = setTimeout(() => giveUp.abort(), limits.stopMs / 2);
      await drainers.stop();
      clearTimeout(timer);
      giveUp.abort();
    },
  };
}
export type Engine = ReturnType<typeof createEngine>;

/** The engine for who serves clients: what they change is decided. */
export type ServedEngine = Omit<Engine, 'bookkeeping'>;

function toolsUpdate(op: ToolChange, toolName: string): Decision {
  return accept([{ type: 'tools_update', payload: { session_id: noSession, op, tool_name: toolName } }], undefined);
}

/** The store did not take it now, and may later. */
function isRefused(outcome: Outcome<unknown>): boolean {
  return !outcome.ok && outcome.fault !== undefined;
}
