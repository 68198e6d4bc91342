/** Models, their keys and summaries. */
export const modelLimits = {
  // Models
  modelAttemptsMax: 8,
  modelRetryMinMs: 500,
  modelRetryMaxMs: 60_000,
  /** A provider that asks for more patience than this is not waited for. */
  modelRetryAfterMaxMs: 3_600_000,
  modelIdleMs: 300_000,
  modelCloseMs: 1_000,
  modelLineBytesMax: 32 * 1024 * 1024,
  /** As much of an answer is read at once; then everybody else has a turn. */
  modelTurnBytes: 16 * 1024,
  modelErrorBytesMax: 64 * 1024,
  modelCauseCharsMax: 500,
  modelListMs: 5_000,
  modelListBytesMax: 8 * 1024 * 1024,
  modelsListedMax: 2_000,
  outputTokensDefault: 32_000,
  keyCommandMs: 30_000,
  keyCommandBytesMax: 64 * 1024,
  systemPromptBytesMax: 256 * 1024,
  // Compaction, in tokens where not said otherwise
  compactAtPercentDefault: 85,
  compactKeptTokensMax: 20_000,
  compactKeptPercentMax: 20,
  compactGainTokensMin: 1_000,
  compactResultCharsMax: 4_000,
  instructionCharsMax: 10_000,
  // Keys of providers
  authFileBytesMax: 1024 * 1024,
  /** A lock of the file of keys that is older was left by a process that died. */
  authLockMs: 5_000,
} as const;
