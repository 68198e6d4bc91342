import { evolve, emptySession, type ActiveRun, type LastRun, type SessionState } from '../core/session.js';
import type { EventPayload, Fact, WireEvent } from '../protocol/events.js';
import type { ContentBlock, Message, Role } from '../protocol/messages.js';
import type { StateView } from '../protocol/views.js';

/** A block of a streaming message. Its text is not sanitized. */
export interface ViewBlock {
  kind: 'text' | 'thinking' | 'tool_call';
  text: string;
  toolName: string | undefined;
}

/** A message that is still streaming. */
export interface OpenMessage {
  id: string;
  role: Role;
  blocks: ViewBlock[];
}

export interface RunningToolView {
  id: string;
  name: string;
  title: string;
  output: string;
  /** The offset of `output` in the whole output. */
  offset: number;
}

/** A client's view of a session: the daemon's own fold of events, and the messages. */
export interface SessionView {
  state: SessionState;
  messages: Message[];
  /** There are older messages than the first of `messages`. */
  hasMore: boolean;
  /** The number of messages on the path, with those before `messages`; null when unknown. */
  pathCount: number | null;
  open: OpenMessage[];
  tools: RunningToolView[];
  status: Record<string, string>;
  /** Lines of persistent widgets, by key. */
  widgets: Record<string, string[]>;
  /** What goes on right now, as a tool tells it; empty when nothing is told. */
  working: string;
  /** The window title that a tool has set; empty when none has. */
  title: string;
  /** The newest folded durable event. */
  seq: number;
  /** The session moved to a branch without messages in this view: attach again. */
  stale: boolean;
}

export interface Snapshot {
  seq: number;
  state: StateView;
  messages: Message[];
  has_more: boolean;
  path_count?: number | undefined;
}

export function emptyView(sessionId: string): SessionView {
  return {
    state: emptySession(sessionId),
    messages: [],
    hasMore: false,
    pathCount: 0,
    open: [],
    tools: [],
    status: {},
    widgets: {},
    working: '',
    title: '',
    seq: 0,
    stale: false,
  };
}

/** The view of an `attached` snapshot. */
export function viewOf({ seq, state, messages, has_more, path_count }: Snapshot): SessionView {
  return {
    ...emptyView(state.session_id),
    state: toSessionState(state),
    messages,
    hasMore: has_more,
    pathCount: path_count ?? (has_more ? null : messages.length),
    open: openIn(state),
    tools: runningIn(state),
    status: state.ui.status,
    widgets: toWidgets(state.ui.widgets),
    working: state.ui.working,
    title: state.ui.title,
    seq,
  };
}

/** Folds an event into a view. Idempotent for durable events. */
export function applyEvent(view: SessionView, event: WireEvent): SessionView {
  if (event.seq !== undefined) {
    if (event.seq <= view.seq) return view;
    return { ...applyFact(view, event as unknown as Fact), seq: event.seq };
  }
  switch (event.type) {
    case 'message_update':
      return {
        ...view,
        open: view.open.map((message) => (message.id === event.payload.message_id ? withDelta(message, event.payload) : message)),
      };
    case 'tool_execution_update': {
      const { tool_call_id, offset, delta } = event.payload;
      return { ...view, tools: view.tools.map((tool) => (tool.id === tool_call_id ? withOutput(tool, offset, delta) : tool)) };
    }
    case 'ui_status': {
      const { key, text } = event.payload.params;
      const { [key]: _replaced, ...remaining } = view.status;
      return { ...view, status: text === '' ? remaining : { ...remaining, [key]: text } };
    }
    case 'ui_widget': {
      const { key, lines } = event.payload.params;
      const { [key]: _replaced, ...remaining } = view.widgets;
      return { ...view, widgets: lines.length === 0 ? remaining : { ...remaining, [key]: lines } };
    }
    case 'ui_working':
      return { ...view, working: event.payload.params.message };
    case 'ui_set_title':
      return { ...view, title: event.payload.params.title };
    default:
      return view;
  }
}

function applyFact(view: SessionView, fact: Fact): SessionView {
  const next = { ...view, state: evolve(view.state, fact) };
  switch (fact.type) {
    case 'message_start': {
      const { message_id: id, role } = fact.payload;
      return { ...next, open: [...view.open, { id, role, blocks: [] }] };
    }
    case 'message_end': {
      const { message_id, message } = fact.payload;
      const open = view.open.filter(({ id }) => id !== message_id);
      return { ...next, open, ...(message && withMessage(view, message)) };
    }
    case 'tool_execution_start': {
      const { tool_call_id: id, tool_name: name, title } = fact.payload;
      return { ...next, tools: [...view.tools, { id, name, title, output: '', offset: 0 }] };
    }
    case 'tool_execution_end':
      return { ...next, tools: view.tools.filter(({ id }) => id !== fact.payload.tool_call_id) };
    case 'compaction_end': {
      const { message } = fact.payload;
      return message ? { ...next, ...withMessage(view, message) } : next;
    }
    case 'session_update':
      return fact.payload.leaf_id === undefined ? next : { ...next, ...atLeaf(view, fact.payload.leaf_id, fact.payload.created === true) };
    default:
      return next;
  }
}

function withMessage({ messages, pathCount }: SessionView, message: Message): Pick<SessionView, 'messages' | 'pathCount'> {
  const remaining = messages.filter(({ id }) => id !== message.id);
  const isNew = remaining.length === messages.length;
  return { messages: [...remaining, message], pathCount: pathCount === null ? null : pathCount + Number(isNew) };
}

/** Truncates the messages at a new leaf; `stale` when the leaf is not in the view. */
function atLeaf(view: SessionView, leafId: string | null, created: boolean): Partial<SessionView> {
  if (leafId === null) return { messages: [], hasMore: false, pathCount: 0 };
  const { messages, pathCount } = view;
  const index = messages.findIndex(({ id }) => id === leafId);
  if (index === -1) return { stale: view.stale || !created || messages.length === 0 };
  const path = messages.slice(0, index + 1);
  return { messages: path, pathCount: pathCount === null ? null : pathCount - (messages.length - path.length) };
}

function withDelta(message: OpenMessage, payload: EventPayload<'message_update'>): OpenMessage {
  const { block, offset, delta, thinking_delta, tool_call_delta, tool_name } = payload;
  const text = delta ?? thinking_delta ?? tool_call_delta ?? '';
  const kind = delta !== undefined ? 'text' : thinking_delta !== undefined ? 'thinking' : 'tool_call';
  const blocks = [...message.blocks];
  while (blocks.length < block) blocks.push({ kind: 'text', text: '', toolName: undefined });
  const before = blocks[block];
  // A delta with a smaller offset overwrites the text from there.
  blocks[block] = { kind, text: (before?.text ?? '').slice(0, offset) + text, toolName: tool_name ?? before?.toolName };
  return { ...message, blocks };
}

function withOutput(tool: RunningToolView, offset: number, delta: string): RunningToolView {
  const at = offset - tool.offset;
  if (at < 0 || at > tool.output.length) return { ...tool, output: delta, offset };
  return { ...tool, output: tool.output.slice(0, at) + delta };
}

function toBlock(block: ContentBlock): ViewBlock {
  if (block.type === 'text') return { kind: 'text', text: block.text, toolName: undefined };
  if (block.type === 'thinking') return { kind: 'thinking', text: block.thinking, toolName: undefined };
  return { kind: 'tool_call', text: '', toolName: block.type === 'tool_call' ? block.name : undefined };
}

function toWidgets(widgets: StateView['ui']['widgets']): Record<string, string[]> {
  const entries = Object.entries(widgets).map(([key, lines]) => [key, linesOf(lines)] as const);
  return Object.fromEntries(entries.filter(([, lines]) => lines.length > 0));
}

function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'object' && value !== null && 'lines' in value ? linesOf(value.lines) : [];
}

/** The streaming message, with its text so far. */
function openIn({ run, partial }: StateView): OpenMessage[] {
  if (!run?.message) return [];
  const { message_id: id, role } = run.message;
  const content = partial.find(({ message_id }) => message_id === id)?.content ?? [];
  return [{ id, role, blocks: content.map(toBlock) }];
}

/** Started tool calls, with the tail of their output. */
function runningIn({ run, tools }: StateView): RunningToolView[] {
  const started = run?.calls.filter((call) => call.started) ?? [];
  return started.map(({ tool_call_id: id, tool_name: name, title }) => {
    const { output_tail: output = '', offset = 0 } = tools.find(({ tool_call_id }) => tool_call_id === id) ?? {};
    return { id, name, title: title ?? name, output, offset };
  });
}

/** Converts a `get_state` reply into the state of the fold. */
function toSessionState(state: StateView): SessionState {
  return {
    id: state.session_id,
    parentId: state.parent_id,
    title: state.title,
    cwd: state.cwd,
    model: state.model,
    thinking: state.thinking,
    steeringMode: state.steering_mode,
    followUpMode: state.follow_up_mode,
    approvalMode: state.approval_mode,
    whenDetached: state.when_detached,
    recovery: state.recovery,
    activeTools: state.active_tools,
    archived: state.archived,
    oneOff: state.one_off,
    // A session that is being deleted has no snapshot.
    deleting: false,
    deleted: false,
    leafId: state.leaf_id,
    paused: state.queue.paused,
    inputs: state.queue.inputs,
    run: state.run ? toRun(state.run) : null,
    lastRun: state.last_run && toLastRun(state.last_run),
    compaction: state.compaction
      ? { trigger: state.compaction.trigger, tokensBefore: state.compaction.tokens_before, instruction: state.compaction.instruction }
      : null,
    requests: state.requests,
    usage: state.usage,
    contextLeftPercent: state.context_left_percent,
  };
}

function toLastRun({ run_id: id, outcome, error, abandoned = false }: NonNullable<StateView['last_run']>): LastRun {
  return { id, outcome, error, abandoned };
}

function toRun(run: NonNullable<StateView['run']>): ActiveRun {
  const { run_id: id, aborting, abort_reason: abortReason, turns, turn, message, calls, usage_before: usageBefore } = run;
  return {
    id,
    aborting,
    abortReason,
    turns,
    turn: turn && {
      id: turn.turn_id,
      kind: turn.kind,
      inputIds: turn.input_ids,
      responded: turn.responded,
      callsMade: turn.calls_made,
    },
    message: message && { id: message.message_id, role: message.role },
    calls: calls.map(({ tool_call_id, place, tool_name: name, args, started, title, problem }) => ({
      id: tool_call_id,
      place,
      name,
      args,
      started,
      title,
      problem,
    })),
    usageBefore,
  };
}
