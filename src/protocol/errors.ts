/** The closed set of error codes. */
export const errorCodes = [
  'invalid_command',
  'invalid_payload',
  'unsupported_version',
  'command_rejected',
  'session_not_found',
  'session_error',
  'provider_error',
  'cursor_expired',
  'storage_full',
  'store_busy',
  'timeout',
  'overloaded',
  'shutting_down',
  'internal_error',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** The closed set of words that a `command_rejected` says. */
export const rejectionWords = [
  'run_in_progress',
  'no_active_run',
  'leaf_not_found',
  'nothing_to_compact',
  'tool_not_registered',
  'extension_command_not_found',
  'empty_prompt',
  'input_conflict',
  'revision_conflict',
  'queue_full',
  'not_waiting',
  'already_resolved',
  'run_not_found',
  'read_only_client',
  'aborted',
] as const;
export type RejectionWord = (typeof rejectionWords)[number];

/** A refusal as a value: the error, and whether a retry may succeed. */
export interface Refusal {
  code: ErrorCode;
  message: string;
  cause?: string;
  retryable: boolean;
  details: Record<string, unknown>;
}

const retryable: ReadonlySet<ErrorCode> = new Set(['storage_full', 'store_busy', 'overloaded', 'timeout', 'shutting_down']);

export function refusal(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: string): Refusal {
  return { code, message, ...(cause === undefined ? {} : { cause }), retryable: retryable.has(code), details };
}
