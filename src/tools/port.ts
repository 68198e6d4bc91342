import type { ResultDetails } from '../protocol/events.js';
import type { ContentBlock } from '../protocol/messages.js';
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
 * Something that a call is about to touch, as the model named it: absolute, not resolved. `real` is where the tool found it to lead, so that
 * what it prepared and what is judged are the same place.
 */
export type Access =
  | { kind: 'read' | 'write'; path: string; real?: string }
  /** `network` and `unsandboxed` are what the model asks for; whether it gets them is decided by the policy or a person. */
  | { kind: 'command'; command: string; network: boolean; unsandboxed: boolean }
  | Effect;

/** Something that a tool of others does, which is neither a file nor a command of this machine: the call itself is judged. */
export interface Effect {
  kind: 'effect';
  /** What is called, as its owner names it. */
  name: string;
  /** Whose it is, such as the id of a server. */
  server?: string;
  /** It changes nothing. Whoever declares that for others must have a reason to believe it. */
  readOnly: boolean;
}

/** What a call would do. Nothing has been changed yet. */
export interface Preparation {
  /** Everything that the call touches: empty when it touches nothing. Undefined when that is not known. */
  accesses: Access[] | undefined;
  /** A unified diff, for the person who is asked. */
  diff?: string;
  /** The diff is not whole: what it leaves out is in the arguments. */
  diffIsCut?: boolean;
  /**
   * Why the call would fail, where saying so tells what is in a file. It is for whoever may read that file: the model is told only when the
   * reads among `accesses` are allowed, and otherwise the call is judged like one that would work.
   */
  problem?: string;
  /** What the call was prepared on, such as a digest of the file. An approval holds for it alone: `run` gets it back and must refuse another. */
  basis?: string;
}

/** What an approved call may reach. It is asked at the moment of use. */
export interface Reach {
  /** The real path of the session's directory. */
  workspace: string;
  /** Why that is not a workspace, and what to do: nothing of it is there in the sandbox, where commands get a private, empty directory. */
  noWorkspace?: string | undefined;
  /** Why a real path may not be read or written; undefined when it may. */
  refuses(kind: 'read' | 'write', realPath: string): string | undefined;
  /** Whether programs run, or agents follow, an entry of a directory, and whether commands may write it all the same. */
  autorunKind: AutorunKindOf;
  /** The person's: what new files are not given. The daemon's own is stricter. */
  umask: number;
  confinement: Confinement;
}

/** Output that is kept whole outside of the history, and paged by its id. */
export interface Artifacts {
  /** Where a new artifact is to be written. The file appears under its id once `keep` was called. */
  begin(): { id: string; path: string };
  /** Resolves when the artifact can be read: only then may a result name it. `droppedBytes` is what came after it and was not kept. */
  keep(artifact: { id: string; mimeType: string; bytes: number; droppedBytes?: number }): Promise<void>;
  /** Bytes of an artifact of the same session; undefined when there is none with this id. */
  read(id: string, offset: number, limit: number): { data: Buffer; totalBytes: number; droppedBytes?: number } | undefined;
}

/** What a running tool may use. Everything it starts must end when `signal` fires. */
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
  /** Output as it comes, shown live to whoever watches. */
  output(text: string): void;
  /**
   * Asks a person and waits. Asked again with the same `key` (as a resumable tool does after a restart) it finds
   * the earlier request and its answer instead of asking twice.
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

/** Where a call is prepared. */
export interface Place {
  sessionId: string;
  cwd: string;
}

/** An argument that a tool cannot take. */
export interface ArgumentProblem {
  /** Where it is, such as `edits.0.old_text`; empty for the arguments as a whole. */
  field: string;
  message: string;
}

export type ParsedArguments<Args> = { ok: true; args: Args } | { ok: false; problems: ArgumentProblem[] };

/** What a tool is called with: described for models, and checked before a call is prepared. */
export interface ToolParameters<Args> {
  /** A JSON Schema whose type is object. */
  jsonSchema: Record<string, unknown>;
  parse(args: unknown): ParsedArguments<Args>;
}

export interface Tool<Args = unknown> {
  name: string;
  /** At most 120 characters: it goes to the model with every request. */
  description: string;
  parameters: ToolParameters<Args>;
  /** Read-only calls of one response run side by side. */
  readOnly: boolean;
  /** Only asks and computes, so that running it again after a crash repeats no side effect. */
  resumable: boolean;
  /** One line that says what this call does. */
  title(args: Args): string;
  /** Present when some calls need a person's yes whatever the policy says. */
  approval?(args: Args): ApprovalNeed | undefined;
  /** What the call would touch; a string says why it cannot be done at all. Without it, nobody knows, and a person is asked. */
  prepare?(args: Args, place: Place): Promise<Preparation | string>;
  run(args: Args, context: ToolContext): Promise<ToolResult>;
}

/** What is known of a tool without loading it: a daemon at rest has loaded none. */
export interface ToolFacts extends Pick<Tool, 'name' | 'description' | 'readOnly' | 'resumable'> {
  /** It demonstrates what tools do: only the offline guide is told of it, and may call it. */
  offlineOnly?: boolean;
  /** No call of it touches a file or runs a command, so that rules about paths or commands are never about it. */
  touchesNothing?: boolean;
}

export interface ToolEntry extends ToolFacts {
  /** Loaded when it is first needed. */
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
