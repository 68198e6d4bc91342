export { connect, AttachRefused, type AttachOptions, type Berth, type ConnectOptions } from './connect.js';
export type { AttachedSession, Heard, OlderLoaded } from './attach.js';
export type { CallPayload, Reply } from './command-client.js';
export type { NewInput } from './delivery.js';
export {
  ConnectionLost,
  DaemonUnresponsive,
  HostUnreachable,
  NoDaemon,
  OtherDaemon,
  OutboxFull,
  ReadOnlyClient,
  StartFailed,
} from './errors.js';
export { SubscribeRefused, type EventStream, type SubscribeOptions } from './event-client.js';
export { HomeUnknown, meantDirs, resolvePaths, type MeantDirs, type PathFlags, type Paths } from '../machine/paths.js';
export { listSessions, resolveSession, SessionUnclear } from './resolve.js';
export { formatAge, formatDuration } from '../view/durations.js';
export { createMessageStream, type MessageStream, type StreamedKind } from '../view/message-stream.js';
export { messageNotes, messageParts, type MessageNote, type MessagePart } from '../view/message-text.js';
export { modeNames, modes, toMode, type Mode } from '../view/modes.js';
export { compactionNotice, noticesOf, resolvedNotice, statusNotice, waitingNotice, type Notice } from '../view/notices.js';
export { openCalls, type OpenCallView } from '../view/tools/open-calls.js';
export { keepNewest, olderPageOf, prependPage, type MessagePage, type PageBefore } from '../view/paging.js';
export { createPrintableStream, printable, printableJson, printableLine, type PrintableStream } from '../view/printable.js';
export type { CardPart } from '../view/approval.js';
export { describeAnswer, hintOf, isSecret, readAnswer, toCard, type Choice, type ReadAnswer, type RequestCard } from '../view/questions.js';
export { inputKindText, pauseText } from '../view/queue-text.js';
export { describeRefusal, refusalCode, type Remedies } from '../view/refusal-text.js';
export { ruleSentence, ruleSubject, ruleText } from '../view/rule-text.js';
export {
  describeEnding,
  describeError,
  findRun,
  resumeActionFor,
  type EndedRun,
  type RunEnding,
  type RunStanding,
} from '../view/run-outcome.js';
export { describeActivity, sessionTitle } from '../view/session-list.js';
export { applyToSent, type SentInput, type SentState } from '../view/sent-inputs.js';
export {
  applyEvent,
  emptyView,
  viewOf,
  type OpenMessage,
  type RunningToolView,
  type SessionView,
  type Snapshot,
  type ViewBlock,
} from '../view/session-view.js';
export type { LockHolder } from '../machine/lock-holder.js';
export type { StreamKind, Transport } from './transport.js';
export { HostRefused, type SshTarget } from './remote/ssh-command.js';
export { createSshTransport, type SshTransport, type SshTransportOptions } from './remote/ssh-transport.js';
export { createUnixTransport } from './unix-transport.js';
export { isShownId, matchIds, shortId, shortIds } from '../view/short-ids.js';
export { describeStatus } from '../view/status-text.js';
export { startedHeadline, toolHeadline } from '../view/tools/tool-headline.js';
export { createToolOutputs, type ToolOutputListener, type ToolOutputs } from '../view/tools/tool-output.js';
export { describeToolEnd, type ToolResult } from '../view/tools/tool-result.js';
export { usageText } from '../view/usage-text.js';
export type { CommandInput, CommandType, ReplyPayload } from '../protocol/commands/commands.js';
export type { EventPayload, EventType, QueuedImage, QueuedInput, QueueMode, RunError, RunOutcome, WireEvent } from '../protocol/events.js';
export { approvalAnswers, denyWithReason, type ApprovalChoice, type DeniedWithReason } from '../protocol/requests/approval-answers.js';
export type { ErrorCode, Refusal, RejectionWord } from '../protocol/errors.js';
export type { ContentBlock, Message, Role, StopReason, ToolCallBlock, TurnKind, Usage } from '../protocol/messages.js';
export { currentParams } from '../protocol/requests/old-requests.js';
export type { ClientView, ListedModel, ListedProvider, RunRow, RunState, SessionListRow, StateView } from '../protocol/views.js';
export type { ActiveRun, LastRun, OpenCall, SessionState } from '../core/session.js';
export type { RuleRow } from '../protocol/permissions.js';
export type { ApprovalAnswer, QuestionAnswer, UiAnswer } from '../protocol/requests/request-answers.js';
export type {
  ApprovalOption,
  ApprovalParams,
  ApprovalSubject,
  DirectoryParams,
  QuestionParams,
  RequestParams,
  TrustParams,
  UiMethod,
  UiRequest,
} from '../protocol/requests/requests.js';
