import type { Policy, Rule, RuleProblem, RuleSources } from '../policy/port.js';
import type { UiMethod } from '../protocol/requests/requests.js';
import { accept, type Decision, type Fresh } from '../core/decision.js';
import type { DurableEvent } from '../protocol/events.js';
import { noSession } from '../protocol/ids.js';
import type { SessionState } from '../core/session.js';
import { limits } from '../protocol/limits.js';
import type { Providers } from '../providers/port.js';
import type { StoreFault } from '../store/faults.js';
import { toReadStore, type Store } from '../store/store.js';
import { isOfferedTo, type FileFinder, type ToolEntry, type ToolFacts } from '../tools/port.js';
import type { SystemPrompt } from '../context/port.js';
import { createArtifactFiles, type ArtifactFiles } from './calls/artifact-files.js';
import { createRequests } from './calls/requests.js';
import { createAttempts, type RetrySettings } from './run/attempts.js';
import { createCheckpoint } from './door/checkpoint.js';
import type { FaultPoint } from './door/fault-points.js';
import { createCommit, type Bookkeeping, type Commit, type Outcome, type StatePlace } from './door/commit.js';
import { createCompactions } from './run/compactions.js';
import { createDrainers, type Drainers } from './run/drainers.js';
import { createHousekeeping, type Housekeeping, type Retention } from './door/housekeeping.js';
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
import { createFileSearch } from './calls/file-search.js';
import { createRunHistories } from './run/run-history.js';
import { createRunLoop } from './run/run-loop.js';
import { createSlots } from './run/slots.js';
import { createToolCalls } from './calls/tool-calls.js';
import { createToolRegistry, type ToolChange } from './calls/tool-registry.js';
import { createWakes } from './door/wakes.js';

export interface EngineDeps {
  store: Store;
  place: StatePlace;
  /** Called for each use, never cached: a reload of the config replaces the providers. */
  providers(): Providers;
  systemPrompt: SystemPrompt;
  summaryInstructions: string;
  retries(): RetrySettings;
  compactAtPercent(): number | undefined;
  /** Berth's own tools, which cannot be removed. */
  tools: ToolEntry[];
  /** Lazy: the policy is loaded with the first call that needs it. */
  loadPolicy(): Promise<Policy>;
  /** Undefined until `loadPolicy` has resolved. */
  policy(): Policy | undefined;
  ruleSources: RuleSources;
  /** Undefined until the modules of the tools are loaded. */
  fileFinder(): FileFinder | undefined;
  /** Timeout of an approval; null waits for ever. */
  approvalTimeoutMs(): number | null;
  /** Directory of the artifact files. */
  artifactsDir: string;
  /** Ends every process that a run has started; resolves when none is left. */
  endProcesses(runId: string): Promise<void>;
  /** Called for each use, never cached: a reload of the config changes it. */
  retention(): Retention;
  runsAtOnceMax: number;
  /** Wall clock, milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  clock(): number;
  newId: Fresh['id'];
  attended(sessionId: string, method: UiMethod): boolean;
  /** Fault injection: the crash suite kills the daemon at these points. */
  fault(point: FaultPoint): void;
  /** A fatal fault of the store, as a failed fsync or StoreDisplaced. Does not return. */
  onFatal(error: unknown): never;
  /** An unexpected exception. Does not return. */
  onBug(error: unknown): never;
}

/** Runs, turns, tool calls and requests to people. State changes through `commit` only. */
export function createEngine(deps: EngineDeps) {
  const { providers, now, clock, newId, attended, fault, onFatal, onBug } = deps;
  const store = toReadStore(deps.store);
  const tools = createToolRegistry({ own: deps.tools, onChange: announceTool });
  const pendingToolChanges = new Map<string, ToolChange>();
  const wakes = createWakes();
  const commitListeners = new Set<(events: readonly DurableEvent[]) => void>();
  const stopRetrying = new AbortController();
  let isClosed = false;
  /**
   * Wakes for streamed text, which only subscribers read. They are flushed in process.nextTick, which runs before further reads of the
   * provider's socket: setImmediate would add latency to every delta.
   */
  const liveWakes = createWakes((flush) => process.nextTick(flush));
  const live = createLiveMessages({ wake: liveWakes.wake });
  const liveTools = createLiveTools({ wake: liveWakes.wake });
  const signals = createLiveSignals({ wake: liveWakes.wake, now });
  const commit = createRetryingCommit({
    commit: createCommit({
      store: deps.store,
      place: deps.place,
      fresh: () => ({ nowMs: now(), id: newId, contentOf: store.inputs.contentOf }),
      onCommitted: (events) => commitListeners.forEach((listener) => listener(events)),
      wake: wakes.wake,
      onDeleted: () => housekeeping.schedule(),
      onRules: rulesChanged,
      fault,
      onFatal,
    }),
    onParked: setStoreStatus,
    stopped: stopRetrying.signal,
  });
  const { decide, create, decideShared, maintain, tryMaintain, attemptMaintain, maintainWithRetry } = commit;
  const checkpoint = createCheckpoint({ store, bookkeeping: commit, live, fault });
  const housekeeping: Housekeeping = createHousekeeping({
    store,
    commit,
    retention: deps.retention,
    now,
    expireFiles: () => artifacts.expire(),
    dropFiles: (id) => artifacts.drop(id),
  });
  const artifacts: ArtifactFiles = createArtifactFiles({
    store,
    bookkeeping: commit,
    dir: deps.artifactsDir,
    now,
    newId,
    retention: deps.retention,
  });
  const requests = createRequests({ store, commit, wakes, now, attended });
  const findRuleProblem = (rule: Rule, workspace: string | undefined): RuleProblem | undefined =>
    deps.policy()?.findRuleProblem(rule, { ...toolNames(), workspace });
  const effectiveRules = createEffectiveRules({ store, sources: deps.ruleSources, requests, attended, findProblem: findRuleProblem });
  const anchors = createAnchors({ store, bookkeeping: commit, requests });
  const fileSearch = createFileSearch({
    store,
    policy: deps.policy,
    fileFinder: deps.fileFinder,
    rulesInForce: effectiveRules.rulesInForce,
    directoryOf: anchors.directoryOf,
  });
  const authorizer = createCallAuthorizer({
    loadPolicy: deps.loadPolicy,
    requests,
    verifyDirectory: anchors.verify,
    rulesFor: effectiveRules.rulesFor,
    rulesInForce: effectiveRules.rulesInForce,
    modeOf: (sessionId) => store.sessions.load(sessionId)?.approvalMode,
    timeoutMs: deps.approvalTimeoutMs,
  });
  const attempt = createAttempts({ commit, settings: deps.retries, random: Math.random, now, setModelStatus });
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
  const toolCalls = createToolCalls({ commit, requests, liveTools, signals, authorizer, artifactsOf: artifacts.of, tools, clock, fault });
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

  /** Wakes every session with an open request, to judge the calls that wait for an approval again. */
  function rulesChanged(): void {
    for (const sessionId of store.requests.askingSessions()) wakes.wake(sessionId);
  }

  function toolNames(): { toolNames: string[]; harmlessTools: string[] } {
    const entries = tools.list();
    const harmless = entries.filter(({ touchesNothing }) => touchesNothing === true);
    return { toolNames: entries.map(({ name }) => name), harmlessTools: harmless.map(({ name }) => name) };
  }

  /** Whether a tool is offered to a session's model: only an offered tool can be called. */
  function isOffered(tool: ToolFacts, { activeTools, model }: Pick<SessionState, 'activeTools' | 'model'>): boolean {
    return isOfferedTo(model, tool) && (activeTools === null || activeTools.includes(tool.name));
  }

  function isResumable(toolName: string): boolean {
    return tools.find(toolName)?.entry.resumable === true;
  }

  /** Commits a `tools_update` event. While the store takes no writes, the newest change of each tool is queued and retried in order. */
  function announceTool(op: ToolChange, name: string): void {
    if (isClosed) return;
    const waits = pendingToolChanges.size > 0;
    if (!waits && !isStoreFault(commit.decideShared(() => toolsUpdate(op, name)))) return;
    pendingToolChanges.delete(name);
    pendingToolChanges.set(name, op);
    if (!waits) announcePendingTools().catch(onBug);
  }

  async function announcePendingTools(): Promise<void> {
    for (let [next] = pendingToolChanges; next && !isClosed; [next] = pendingToolChanges) {
      const [name, op] = next;
      await commit.decideSharedWithRetry(() => toolsUpdate(op, name));
      // A tool that has changed again meanwhile is at the end of the queue.
      if (pendingToolChanges.get(name) === op) pendingToolChanges.delete(name);
    }
  }

  function setModelStatus(sessionId: string, text: string): void {
    signals.set(sessionId, 'status:model', { type: 'ui_status', payload: { session_id: sessionId, params: { key: 'model', text } } });
  }

  function setStoreStatus(sessionId: string, fault: StoreFault | undefined): void {
    const text =
      fault === 'storage_full'
        ? 'the disk is full: free some space, the run waits'
        : fault
          ? 'the database is locked by another program: the run waits'
          : '';
    signals.set(sessionId, 'status:store', { type: 'ui_status', payload: { session_id: sessionId, params: { key: 'store', text } } });
  }

  return {
    store,
    commit: { decide, create, decideShared } satisfies Commit,
    bookkeeping: { maintain, tryMaintain, attemptMaintain, maintainWithRetry } satisfies Bookkeeping & Partial<RetryingCommit>,
    /** Calls a listener with the events of every commit before any session is woken: a cache, for what is missed is in the log. */
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
    effectiveRules,
    findRuleProblem,
    /** To be called when rules changed without a commit, as by a reload of the config. */
    rulesChanged,
    anchors,
    fileSearch,
    ruleSources: deps.ruleSources,
    housekeeping,
    running: drainers.running,
    waitsForSlot: slots.isWaiting,
    nextCalls: toolCalls.next,
    isStopping: drainers.isStopping,
    /** Crash recovery: settles the runs that the last daemon left, resumes those that waited for a person. Call once, before listening. */
    recover() {
      artifacts.sweep();
      const recovered = recoverRuns({ store, commit, resumable: isResumable });
      for (const { sessionId } of store.runs.allActive()) wakes.wake(sessionId);
      housekeeping.schedule();
      housekeeping.note();
      return recovered;
    },
    /** Ends all timers and wakes: the store may be closed afterwards. */
    close(): void {
      isClosed = true;
      housekeeping.stop();
      checkpoint.stop();
      wakes.close();
      liveWakes.close();
    },
    /** Interrupts all runs and waits until they are settled; commits are retried for a bounded time. */
    async stop(): Promise<void> {
      const timer = setTimeout(() => stopRetrying.abort(), limits.stopMs / 2);
      await drainers.stop();
      clearTimeout(timer);
      stopRetrying.abort();
    },
  };
}
export type Engine = ReturnType<typeof createEngine>;

/** The engine for the server: commands of clients are decided, so bookkeeping is left out. */
export type ServedEngine = Omit<Engine, 'bookkeeping'>;

function toolsUpdate(op: ToolChange, toolName: string): Decision {
  return accept([{ type: 'tools_update', payload: { session_id: noSession, op, tool_name: toolName } }], undefined);
}

/** A transient fault: the disk is full, or the database is locked. */
function isStoreFault(outcome: Outcome<unknown>): boolean {
  return !outcome.ok && outcome.fault !== undefined;
}
