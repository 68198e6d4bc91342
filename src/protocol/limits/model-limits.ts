/** Models, their keys and summaries. */
export const modelLimits = {
  // Models
  modelIdCharsMax: 200,
  modelAttemptsDefault: 8,
  /** What the config may set. */
  modelAttemptsMax: 100,
  modelRetryMinMs: 500,
  modelRetryMaxMs: 60_000,
  /** A provider that asks for more patience than this is not waited for. */
  modelRetryAfterMaxMs: 3_600_000,
  modelIdleMs: 300_000,
  modelCloseMs: 1_000,
  modelConnectMs: 10_000,
  modelHeaderBytesMax: 16 * 1024,
  /** A connection is kept for the next request for so long. */
  modelKeptConnectionMs: 4_000,
  modelKeptConnectionsMax: 8,
  /** Compressions of one body, one in the other. */
  modelContentCodingsMax: 4,
  /** Of a body that nobody reads yet, before its connection is paused. */
  modelBodyWaitingBytesMax: 64 * 1024,
  modelLineBytesMax: 32 * 1024 * 1024,
  /** As much of an answer is read at once; then everybody else has a turn. */
  modelTurnBytes: 16 * 1024,
  /** Of a stream of OpenAI's APIs: a piece is taken apart before the first of its events is told, so that small ones leave nobody waiting. */
  openAiPieceBytes: 2_048,
  modelErrorBytesMax: 64 * 1024,
  modelCauseCharsMax: 500,
  modelListMs: 5_000,
  modelListBytesMax: 8 * 1024 * 1024,
  modelsListedMax: 2_000,
  outputTokensDefault: 32_000,
  /** Of a count in what a provider says that it used; a larger one is an error of the provider. */
  reportedTokensMax: 1e12,
  /** The least that the Anthropic API takes as a budget of thinking. */
  anthropicThinkingTokensMin: 1_024,
  /** The least that the OpenAI Responses API takes as a bound of the answer. */
  openAiOutputTokensMin: 16,
  /** The longest name of a tool that all APIs take. */
  apiToolNameCharsMax: 64,
  keyCommandMs: 30_000,
  keyCommandBytesMax: 64 * 1024,
  systemPromptBytesMax: 256 * 1024,
  /** Of HEAD and of a file that names the git directory. */
  gitFileBytesMax: 4_096,
  /** Directories above the workspace in which a repository is looked for. */
  gitParentsMax: 64,
  branchCharsMax: 100,
  // Compaction, in tokens where not said otherwise
  compactAtPercentMin: 10,
  compactAtPercentDefault: 85,
  compactAtPercentMax: 99,
  compactKeptTokensMax: 20_000,
  compactKeptPercentMax: 20,
  compactGainTokensMin: 1_000,
  compactResultCharsMax: 4_000,
  /** Of the history that is summarised, where the window of the model is not known. */
  compactRecordTokensDefault: 100_000,
  /** How often a record that overflows the context window is halved. */
  compactHalvingsMax: 4,
  instructionCharsMax: 10_000,
  // Keys of providers
  authFileBytesMax: 1024 * 1024,
  keyCharsMax: 8_192,
  /** A shorter key is not searched for in texts to hide it. */
  secretCharsMin: 6,
  /** The same for the value of a header: a shorter one is a word such as `prod`, which occurs in ordinary sentences. */
  headerSecretCharsMin: 8,
  /** As much of a key as is shown beside the stars that hide the rest. */
  maskedSecretCharsMin: 3,
  /** A lock of the file of keys that is older was left by a process that died. */
  authLockMs: 5_000,
  // The offline guide
  offlineWordsPerSecondDefault: 100,
  offlineWordsMax: 1_000_000,
  offlineToolCallsMax: 20,
  /** A longer text is not read as a request. */
  offlinePhraseCharsMax: 200,
  offlineEchoedCharsMax: 300,
  offlineResultCharsMax: 200,
  /** Of a result that comes alone. */
  offlineLoneResultCharsMax: 1_000,
  offlineResultsNamedMax: 20,
  echoSecondsMax: 300,
  echoTitleCharsMax: 60,
  timeZoneCharsMax: 100,
} as const;
