import type { ContentBlock, ResultDetails } from '../protocol/messages.js';
import type { QuestionAnswer } from '../protocol/requests/request-answers.js';
import type { QuestionParams } from '../protocol/requests/requests.js';
import type { AutorunKindOf } from '../sandbox/autorun/autorun-files.js';
import type { Confinement } from '../sandbox/port.js';

/** A question to a person. The answer is null when it was cancelled, expired or denied. */
export interface Question {
  params: QuestionParams;
  /** Milliseconds after which nobody answered; null waits for ever. */
  timeoutMs: number | null;
}

/**
 * A path, command or effect that a call is about to touch. `path` is absolute, with symlinks unresolved; `real` is the real path that the tool
 * found, so that the policy judges the same file that the tool prepared.
 */
export type Access =
  | { kind: 'read' | 'write'; path: string; real?: string }
  /** `network` and `unsandboxed` are requests of the model; the policy or a person decides. */
  | { kind: 'command'; command: string; network: boolean; unsandboxed: boolean }
  | Effect;

/** What an external tool does beyond files and commands of this machine: the policy judges the call itself. */
export interface Effect {
  kind: 'effect';
  /** The name of the tool on its server. */
  name: string;
  /** The id of the server that the tool belongs to. */
  server?: string;
  /** The effect changes nothing. Declare this for an external tool only with a reason to trust the claim. */
  readOnly: boolean;
}

/** What a call would do, computed without side effects. */
export interface Preparation {
  /** Everything that the call touches: an empty list for nothing, undefined for unknown. */
  accesses: Access[] | undefined;
  /** A unified diff, for the person who is asked. */
  diff?: string;
  /** The diff is truncated; the arguments of the call have all of it. */
  diffIsCut?: boolean;
  /**
   * Why the call would fail, when the reason reveals the content of a file. The model gets this text only when the reads among `accesses` are
   * allowed; otherwise the call is judged like one that would succeed.
   */
  problem?: string;
  /** The version that the call was prepared on, such as a digest of the file. An approval covers this basis alone: `run` must refuse another. */
  basis?: string;
}

/** What an approved call may reach, checked at the time of use. */
export interface Reach {
  /** The real path of the session's directory. */
  workspace: string;
  /** Why the session's directory is not a workspace, and what to do: sandboxed commands get a private, empty directory instead. */
  noWorkspace?: string | undefined;
  /** Why a real path may not be read or written; undefined when it may. */
  refuses(kind: 'read' | 'write', realPath: string): string | undefined;
  /** Classifies a directory entry: whether programs run or agents follow it automatically (autorun), and whether commands may write it. */
  autorunKind: AutorunKindOf;
  /** The umask of the person, for new files. The daemon's own umask is stricter. */
  umask: number;
  confinement: Confinement;
}

/** A search for paths below a directory, for completion. */
export interface FileSearch {
  sessionId: string;
  /** The real path of the session's directory. */
  root: string;
  refuses: Reach['refuses'];
  query: string;
  limit: number;
  /** Paths below the root that were used, and how long ago: 0 is the newest. */
  recent: ReadonlyMap<string, number>;
}

export interface FoundPaths {
  /** Best first. Paths are relative to the root; those of directories end in `/`. */
  files: { path: string; kind: 'file' | 'directory' }[];
  /** How many paths match, without those that were left out. */
  total: number;
  /** Not all of the directory was looked at. */
  truncated: boolean;
}

/** Finds paths by a part of their name. */
export interface FileFinder {
  find(search: FileSearch): Promise<FoundPaths>;
}

/** Storage for whole outputs outside of the message history, paged by id. */
export interface Artifacts {
  /** Reserves an id and a file path for a new artifact. The artifact can be read under its id after `keep`. */
  begin(): { id: string; path: string };
  /** Resolves when the artifact can be read: only then may a result name its id. `droppedBytes` counts the output beyond the size limit. */
  keep(artifact: { id: string; mimeType: string; bytes: number; droppedBytes?: number }): Promise<void>;
  /** Bytes of an artifact of the same session; undefined when there is none with this id. */
  read(id: string, offset: number, limit: number): { data: Buffer; totalBytes: number; droppedBytes?: number } | undefined;
}

/**
 * The screens of clients. Texts are bounded, and frontends sanitize them; an empty one removes what was shown before. Names are of the tool:
 * another tool has names of its own.
 */
export interface ToolUi {
  /** A field of the status line. */
  setStatus(name: string, text: string): void;
  /** Lines that stay on the screen, also after the call. */
  setWidget(name: string, lines: readonly string[]): void;
  /** What the call is doing, beside a progress indicator; removed at the end of the call. */
  setWorking(message: string): void;
  /** The title of the window. */
  setTitle(title: string): void;
  /** Offers a text to the person to edit and send, in the frontends that are attached now. */
  offerText(text: string): void;
}

/** What a running tool may use. Everything that the tool starts must end when `signal` aborts. */
export interface ToolContext {
  sessionId: string;
  runId: string;
  toolCallId: string;
  cwd: string;
  signal: AbortSignal;
  reach: Reach;
  /** The `basis` that was approved, if the tool prepared one. */
  basis: string | undefined;
  artifacts: Artifacts;
  /** Streams output live to attached clients. */
  output(text: string): void;
  ui: ToolUi;
  /**
   * Asks a person and waits. `key` makes this idempotent: a resumable tool that asks again after a restart gets the earlier request and its
   * answer.
   */
  ask(key: string, question: Question): Promise<QuestionAnswer>;
}

export interface ToolResult {
  content: ContentBlock[];
  isError: boolean;
  details?: ResultDetails;
}

/** Why a call must be approved first, in words for the person. */
export interface ApprovalNeed {
  title: string;
  message: string;
}

/** The session and working directory that a call is prepared for. */
export interface PrepareContext {
  sessionId: string;
  cwd: string;
}

/** A validation error of one argument. */
export interface ArgumentProblem {
  /** The path of the field, such as `edits.0.old_text`; empty for the arguments as a whole. */
  field: string;
  message: string;
}

export type ParsedArguments<Args> = { ok: true; args: Args } | { ok: false; problems: ArgumentProblem[] };

/** The arguments of a tool: a JSON Schema for models, and a validator that runs before `prepare`. */
export interface ToolParameters<Args> {
  /** A JSON Schema whose type is object. */
  jsonSchema: Record<string, unknown>;
  parse(args: unknown): ParsedArguments<Args>;
}

export interface Tool<Args = unknown> {
  name: string;
  /** At most 120 characters: the description is part of every model request. */
  description: string;
  parameters: ToolParameters<Args>;
  /** Read-only calls of one response run concurrently. */
  readOnly: boolean;
  /** Idempotent: the call only asks and computes, so that rerunning it after a crash repeats no side effect. */
  resumable: boolean;
  /** One line that says what this call does. */
  title(args: Args): string;
  /** Present when some calls need an approval even if the policy allows them. */
  approval?(args: Args): ApprovalNeed | undefined;
  /** Declares the accesses of a call; a string says why the call is impossible. A tool without `prepare` needs an approval for every call. */
  prepare?(args: Args, place: PrepareContext): Promise<Preparation | string>;
  run(args: Args, context: ToolContext): Promise<ToolResult>;
}

/** Metadata of a tool that needs no import of its module: an idle daemon has loaded no tool. */
export interface ToolFacts extends Pick<Tool, 'name' | 'description' | 'readOnly' | 'resumable'> {
  /** A demonstration tool: only the offline model gets its spec and may call it. */
  offlineOnly?: boolean;
  /** No call of the tool touches a file or runs a command, so that path and command rules never match. */
  touchesNothing?: boolean;
}

export interface ToolEntry extends ToolFacts {
  /** Imports the module of the tool, once. */
  load(): Promise<Tool>;
}

/** Whether a model, as `provider/name`, may use a tool. */
export function isOfferedTo(model: string, { offlineOnly }: ToolFacts): boolean {
  return offlineOnly !== true || model.startsWith('offline/');
}

/** The `prepare` of a tool that touches neither files nor processes nor the network. */
export function touchesNothing(): Promise<Preparation> {
  return Promise.resolve({ accesses: [] });
}

export function toolText(text: string, isError = false, details?: ResultDetails): ToolResult {
  return { content: [{ type: 'text', text }], isError, ...(details ? { details } : {}) };
}
