import { setImmediate as nextTurn } from 'node:timers/promises';
import { recorded, type AuditEntry } from '../../core/decision.js';
import { endCalls, startCall, stopForDenial, type CallResult } from '../../core/runs.js';
import type { OpenCall, SessionState } from '../../core/session.js';
import { clipDetails } from '../../protocol/clip.js';
import { isDeniedWithReason } from '../../protocol/requests/approval-answers.js';
import { utf8Bytes, wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { ContentBlock } from '../../protocol/messages.js';
import type { QuestionAnswer } from '../../protocol/requests/request-answers.js';
import { isOfferedTo, type Artifacts, type Question, type Reach } from '../../tools/port.js';
import { firstSignal, undefinedIfAborted } from '../run/abortable.js';
import type { Requests } from './requests.js';
import type { RetryingCommit } from '../door/retrying-commit.js';
import type { FaultPoint } from '../door/fault-points.js';
import type { LiveSignals } from '../live/live-signals.js';
import type { LiveTools } from '../live/live-tools.js';
import type { Authorization, CallAuthorizer, ReadyCall } from './authorize-call.js';
import type { StepContext } from '../run/step-context.js';
import type { KnownTool, ToolRegistry } from './tool-registry.js';
import { createToolUi } from './tool-ui.js';

interface Deps {
  commit: RetryingCommit;
  requests: Requests;
  liveTools: LiveTools;
  signals: LiveSignals;
  authorizer: CallAuthorizer;
  artifactsOf(sessionId: string): Artifacts;
  tools: ToolRegistry;
  /** Monotonic milliseconds. */
  clock(): number;
  fault(point: FaultPoint): void;
}

/** Tool calls that run in parallel. */
interface Group extends StepContext {
  ids: string[];
  /** The first calls of a response are never skipped; later ones that wait for an approval are skipped for a steer. */
  mayGiveWay: boolean;
}

/** A call, and the registered version of its tool. */
interface Prepared {
  ready: ReadyCall;
  registered: KnownTool;
}

interface Granted {
  reach: Reach;
  basis: string | undefined;
}

/** Runs the open tool calls of a turn: one after the other, the leading read-only ones in parallel. */
export function createToolCalls({ commit, requests, liveTools, signals, authorizer, artifactsOf, tools, clock, fault }: Deps) {
  async function prepare(state: SessionState, call: OpenCall): Promise<Prepared | { problem: string }> {
    const registered = tools.find(call.name);
    if (!registered || !isOfferedTo(state.model, registered.entry))
      return { problem: `There is no tool named ${JSON.stringify(call.name)}.` };
    if (state.activeTools && !state.activeTools.includes(call.name)) return { problem: `${call.name} is not active in this session.` };
    if (call.problem !== null) return { problem: call.problem };
    try {
      const tool = await registered.entry.load();
      const parsed = tool.parameters.parse(call.args);
      if (parsed.ok) return { ready: { call, tool, args: parsed.args, title: clipTitle(tool.title(parsed.args)) }, registered };
      const issues = parsed.problems.map(({ field, message }) => `${field || 'arguments'}: ${message}`);
      return { problem: `The arguments do not fit ${call.name}: ${issues.join('; ')}` };
    } catch (error) {
      return { problem: toolException(error) };
    }
  }

  async function finish({ id, run }: SessionState, callId: string, result: CallResult, group: Group, audit?: AuditEntry): Promise<void> {
    await commit.decideForRun(id, run?.id ?? '', (state, fresh) =>
      recorded(endCalls(state, [{ id: callId, result }], fresh, group.ids), audit),
    );
  }

  /** Undefined when the call must not run: the result of the call is committed, or the run is over. */
  async function obtainGrant(state: SessionState, ready: ReadyCall, group: Group): Promise<Granted | undefined> {
    const { call, title } = ready;
    const authorization = await authorizer.authorize(state, ready, group);
    switch (authorization.kind) {
      case 'gone':
        return undefined;
      case 'refused':
        await finish(
          state,
          call.id,
          { ...failed(authorization.why, !call.started), ...deniedBy(authorization) },
          group,
          authorization.audit,
        );
        return undefined;
      case 'stopped':
        await commit.decideForRun(state.id, state.run?.id ?? '', (now, fresh) => stopForDenial(now, call.id, authorization.why, fresh));
        return undefined;
      case 'granted': {
        if (call.started) return authorization;
        const { audit, settledBy } = authorization;
        const begun = await commit.decideForRun(state.id, state.run?.id ?? '', (now) =>
          recorded(startCall(now, call.id, title, settledBy), audit),
        );
        return begun.ok ? authorization : undefined;
      }
    }
  }

  async function execute(state: SessionState, call: OpenCall, group: Group): Promise<void> {
    const prepared = await prepare(state, call);
    if ('problem' in prepared) return finish(state, call.id, failed(prepared.problem, false), group);
    const { ready, registered } = prepared;
    let granted: Granted | undefined;
    const waiting = firstSignal(group.signal, registered.outdated);
    try {
      granted = await obtainGrant(state, ready, { ...group, signal: waiting.signal });
    } catch (error) {
      if (!group.signal.aborted) await finish(state, call.id, failed(toolException(error), false), group);
      return;
    } finally {
      waiting.release();
    }
    if (!granted) {
      // The call of a tool that was changed, not removed, stays open: the next step prepares it with the new version.
      if (!registered.removed.aborted || group.signal.aborted) return;
      return finish(state, call.id, failed(`Not run: the tool ${call.name} was removed before this call began.`, !call.started), group);
    }
    fault('tool.started');
    const running = firstSignal(group.signal, registered.removed);
    const result = await run(state, ready, granted, { ...group, signal: running.signal });
    running.release();
    fault('tool.ending');
    // Aborted: the commit that settles the run closes this call, too.
    if (!group.signal.aborted) await finish(state, call.id, result, group);
  }

  async function run(
    state: SessionState,
    { call, tool, args, title }: ReadyCall,
    granted: Granted,
    step: StepContext,
  ): Promise<CallResult> {
    const startedMs = clock();
    const at = addressOf(state, call);
    const live = liveTools.begin({ ...at, toolName: call.name, title, args: call.args });
    const { end: endUi, ...ui } = createToolUi(signals, { sessionId: state.id, toolName: call.name });
    const ask = async (askKey: string, question: Question): Promise<QuestionAnswer> => {
      const answered = await step.withoutSlot(() => requests.ask({ ...at, askKey }, question, step.signal, false));
      const answer = answered?.result ?? null;
      return isDeniedWithReason(answer) ? null : answer;
    };
    try {
      const context = {
        ...at,
        cwd: state.cwd,
        signal: step.signal,
        reach: granted.reach,
        basis: granted.basis,
        artifacts: artifactsOf(state.id),
        output: (text: string) => liveTools.output(live, text),
        ui,
        ask,
      };
      const result = await undefinedIfAborted(step.signal, tool.run(args, context));
      const durationMs = Math.round(clock() - startedMs);
      // The tool was removed; the result of an aborted run is discarded.
      if (!result)
        return {
          ...failed(`The tool ${call.name} was removed while this call ran. What it did until then is not known.`, false),
          durationMs,
        };
      const { content, isError, details } = result;
      return { content: clipResult(content), isError, skipped: false, durationMs, ...(details ? { details: clipDetails(details) } : {}) };
    } catch (error) {
      // An exception of a tool fails its own call and nothing else.
      return { ...failed(toolException(error), false), durationMs: Math.round(clock() - startedMs) };
    } finally {
      endUi();
      // Subscribers read the end of the output before the live tool is removed.
      await nextTurn();
      liveTools.end(live);
    }
  }

  /** The open calls to run in parallel: the first, or the leading read-only ones. */
  function next(calls: readonly OpenCall[]): readonly OpenCall[] {
    const firstOther = calls.findIndex((call) => tools.find(call.name)?.entry.readOnly !== true);
    return calls.slice(0, firstOther === -1 ? calls.length : Math.max(1, firstOther));
  }

  return {
    next,
    /** Runs one group of calls; the caller reads the rows for the next step. */
    async runNext(state: SessionState, step: StepContext): Promise<void> {
      const together = next(state.run?.calls ?? []);
      if (together.length === 0) return;
      const group = { ...step, ids: together.map(({ id }) => id), mayGiveWay: together.every(({ place }) => place > 0) };
      await Promise.all(together.map((call) => execute(state, call, group)));
    },
  };
}
export type ToolCalls = ReturnType<typeof createToolCalls>;

function addressOf(state: SessionState, call: OpenCall): { sessionId: string; runId: string; turnId: string; toolCallId: string } {
  return { sessionId: state.id, runId: state.run?.id ?? '', turnId: state.run?.turn?.id ?? '', toolCallId: call.id };
}

function deniedBy({ settledBy, why }: Authorization & { kind: 'refused' }): Pick<CallResult, 'denied'> {
  return settledBy ? { denied: { by: settledBy, why } } : {};
}

function toolException(error: unknown): string {
  return `The tool failed with an exception: ${error instanceof Error ? error.message : String(error)}`;
}

function failed(why: string, skipped: boolean): CallResult {
  return { content: [{ type: 'text', text: why }], isError: true, skipped, durationMs: null };
}

function clipTitle(title: string): string {
  return title.slice(0, wholeUnits(title, limits.toolTitleCharsMax));
}

/** Truncates the text of a result to `toolResultBytesMax`. */
function clipResult(content: ContentBlock[]): ContentBlock[] {
  let left = limits.toolResultBytesMax;
  return content.map((block) => {
    if (block.type !== 'text') return block;
    const bytes = utf8Bytes(block.text);
    if (bytes <= left) {
      left -= bytes;
      return block;
    }
    // A UTF-16 unit is at most three bytes of UTF-8.
    const kept = block.text.slice(0, wholeUnits(block.text, Math.floor(left / 3)));
    left = 0;
    return { ...block, text: `${kept}\n[${block.text.length - kept.length} more characters were truncated]` };
  });
}
