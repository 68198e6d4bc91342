import { createHash } from 'node:crypto';
import { toVerdict } from '../core/requests.js';
import { endCalls, startCall, stopForDenial, type CallResult } from '../core/runs.js';
import type { OpenCall, SessionState } from '../core/session.js';
import { utf8Bytes, wholeUnits } from '../protocol/content.js';
import { limits } from '../protocol/limits.js';
import type { ContentBlock } from '../protocol/messages.js';
import type { ApprovalNeed, Question, Tool } from '../tools/port.js';
import { unlessAborted } from './abortable.js';
import type { Asks } from './asks.js';
import type { PatientCommit } from './patience.js';
import type { FaultPoint } from './fault-points.js';
import type { LiveTools } from './live-tools.js';

interface Deps {
  commit: PatientCommit;
  asks: Asks;
  liveTools: LiveTools;
  tools: ReadonlyMap<string, Tool>;
  /** Monotonic milliseconds. */
  clock(): number;
  fault(point: FaultPoint): void;
}

export interface RunHands {
  signal: AbortSignal;
  /** Runs `work` without holding one of the slots for running sessions: a person may take days. */
  withoutSlot<T>(work: () => Promise<T>): Promise<T>;
}

/** The calls that run now. */
interface Group extends RunHands {
  ids: string[];
  /** A response's first calls always get their chance; later ones that only wait for approval give way to a steer. */
  mayGiveWay: boolean;
}

type Prepared = { tool: Tool; args: unknown; title: string; need: ApprovalNeed | undefined } | { problem: string };

/** Runs the open calls of a turn: one after the other, the leading read-only ones side by side. */
export function createToolCalls({ commit, asks, liveTools, tools, clock, fault }: Deps) {
  function prepare(state: SessionState, call: OpenCall): Prepared {
    const tool = tools.get(call.name);
    if (!tool) return { problem: `There is no tool named ${JSON.stringify(call.name)}.` };
    if (state.activeTools && !state.activeTools.includes(call.name)) return { problem: `${call.name} is not active in this session.` };
    if (call.problem !== null) return { problem: call.problem };
    try {
      const parsed = tool.parameters.safeParse(call.args);
      if (parsed.success) {
        const need = state.approvalMode === 'full' ? undefined : tool.approval?.(parsed.data);
        return { tool, args: parsed.data, title: tool.title(parsed.data), need };
      }
      const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`);
      return { problem: `The arguments do not fit ${call.name}: ${issues.join('; ')}` };
    } catch (error) {
      return { problem: brokenTool(error) };
    }
  }

  async function finish({ id, run }: SessionState, callId: string, result: CallResult, group: Group): Promise<void> {
    await commit.decideForRun(id, run?.id ?? '', (state, fresh) => endCalls(state, [{ id: callId, result }], fresh, group.ids));
  }

  /** False when the call must not run: its end is committed, or the run is over. */
  async function isApproved(state: SessionState, call: OpenCall, need: ApprovalNeed, group: Group): Promise<boolean> {
    const address = { ...addressOf(state, call), askKey: 'approval' };
    const question = approvalQuestion(call, need);
    const answered = await group.withoutSlot(() => asks.ask(address, question, group.signal, group.mayGiveWay));
    if (!answered || answered.outcome === 'steered' || answered.outcome === 'aborted') return false;
    const verdict = toVerdict(answered.result);
    if (verdict.allow) return true;
    if (verdict.reason === undefined && answered.outcome !== 'denied') {
      await commit.decideForRun(state.id, state.run?.id ?? '', (now, fresh) => stopForDenial(now, `${call.name} was denied`, fresh));
      return false;
    }
    await finish(state, call.id, failed(`Denied: ${verdict.reason ?? 'nobody was there to approve it.'}`, true), group);
    return false;
  }

  async function execute(state: SessionState, call: OpenCall, group: Group): Promise<void> {
    const prepared = prepare(state, call);
    if ('problem' in prepared) return finish(state, call.id, failed(prepared.problem, false), group);
    const { tool, args, title, need } = prepared;
    if (!call.started) {
      if (need && !(await isApproved(state, call, need, group))) return;
      const begun = await commit.decideForRun(state.id, state.run?.id ?? '', (now) => startCall(now, call.id, title));
      if (!begun.ok) return;
    }
    fault('tool.started');
    const result = await run(state, call, tool, args, group);
    fault('tool.ending');
    // Aborted: whoever settles the run closes this call with the others.
    if (!group.signal.aborted) await finish(state, call.id, result, group);
  }

  async function run(state: SessionState, call: OpenCall, tool: Tool, args: unknown, hands: RunHands): Promise<CallResult> {
    const startedMs = clock();
    const at = addressOf(state, call);
    const live = liveTools.begin({ ...at, toolName: call.name, args: call.args });
    const ask = async (askKey: string, question: Question): Promise<unknown> => {
      const answered = await hands.withoutSlot(() => asks.ask({ ...at, askKey }, question, hands.signal, false));
      return answered?.result ?? null;
    };
    try {
      const context = { ...at, cwd: state.cwd, signal: hands.signal, output: (text: string) => liveTools.output(live, text), ask };
      const result = await unlessAborted(hands.signal, tool.run(args, context));
      if (!result) return failed('Stopped.', false);
      const { content, isError } = result;
      return { content: clipResult(content), isError, skipped: false, durationMs: Math.round(clock() - startedMs) };
    } catch (error) {
      // A tool that breaks fails its own call and nothing else.
      return { ...failed(brokenTool(error), false), durationMs: Math.round(clock() - startedMs) };
    } finally {
      liveTools.end(live);
    }
  }

  return {
    /** Runs what can run now; the caller looks at the rows again afterwards. */
    async runNext(state: SessionState, hands: RunHands): Promise<void> {
      const calls = state.run?.calls ?? [];
      const [first] = calls;
      if (!first) return;
      const isReadOnly = (call: OpenCall): boolean => tools.get(call.name)?.readOnly === true;
      const firstOther = calls.findIndex((call) => !isReadOnly(call));
      const together = isReadOnly(first) ? calls.slice(0, firstOther === -1 ? calls.length : firstOther) : [first];
      const group = { ...hands, ids: together.map(({ id }) => id), mayGiveWay: together.every(({ place }) => place > 0) };
      await Promise.all(together.map((call) => execute(state, call, group)));
    },
  };
}
export type ToolCalls = ReturnType<typeof createToolCalls>;

function addressOf(state: SessionState, call: OpenCall): { sessionId: string; runId: string; turnId: string; toolCallId: string } {
  return { sessionId: state.id, runId: state.run?.id ?? '', turnId: state.run?.turn?.id ?? '', toolCallId: call.id };
}

function brokenTool(error: unknown): string {
  return `The tool broke: ${error instanceof Error ? error.message : String(error)}`;
}

function failed(why: string, skipped: boolean): CallResult {
  return { content: [{ type: 'text', text: why }], isError: true, skipped, durationMs: null };
}

function approvalQuestion(call: OpenCall, need: ApprovalNeed): Question {
  return {
    method: 'select',
    timeoutMs: null,
    params: {
      kind: 'approval',
      title: need.title,
      message: need.message,
      tool_name: call.name,
      args: call.args,
      digest: createHash('sha256')
        .update(JSON.stringify([call.name, call.args]))
        .digest('hex'),
      sandboxed: false,
      options: [
        { value: 'allow_once', label: 'Allow once' },
        { value: 'deny', label: 'Deny, and stop the run' },
      ],
    },
  };
}

/** A result is bounded: the rest of a long text is named, not kept. */
function clipResult(content: ContentBlock[]): ContentBlock[] {
  let left = limits.toolResultBytesMax;
  return content.map((block) => {
    if (block.type !== 'text') return block;
    const bytes = utf8Bytes(block.text);
    if (bytes <= left) {
      left -= bytes;
      return block;
    }
    // A unit is at most three bytes.
    const kept = block.text.slice(0, wholeUnits(block.text, Math.floor(left / 3)));
    left = 0;
    return { ...block, text: `${kept}\n[${block.text.length - kept.length} more characters were cut]` };
  });
}
