/** Every bound of the daemon, each with its unit in its name. `hello` tells clients those that concern them. */
export const limits = {
  // The wire
  lineBytesMax: 4 * 1024 * 1024,
  lineDepthMax: 64,
  /** Members of objects and arrays in a line that a client sends, all together. */
  lineMembersMax: 10_000,
  envelopeIdCharsMax: 256,
  /** A message whose content is larger is sent cut, with an artifact to page the rest from. */
  messageInlineBytesMax: 1024 * 1024,
  /** A model that says more than this in one message is stopped with `length`. */
  messageTextUnitsMax: 8 * 1024 * 1024,
  /** Small: every reader that is behind has a line of its own in flight. */
  deltaUnitsMax: 32 * 1024,
  toolOutputTailUnitsMax: 64 * 1024,
  socketPathBytesMax: 107,
  // Connections
  connectionsMax: 1024,
  /** Where few files may be open. */
  connectionsMin: 4,
  /** Descriptors that connections leave for the store, models and tools. */
  reservedDescriptorsMin: 80,
  pipelinedWaitingMax: 1024,
  v1SilenceMs: 50,
  v1EndedRunMs: 2_000,
  stalledReaderMs: 300_000,
  /** Of all connections together. The oldest unfinished line may grow to a whole line besides. */
  unfinishedLinesBytesMax: 4 * 1024 * 1024,
  /** An unfinished line that is shorter needs no room of the others. */
  unfinishedLineFreeBytes: 4 * 1024,
  /** A line that was begun and does not grow for this long is given up, and its connection closed. */
  unfinishedLineMs: 30_000,
  /** Replies that clients have not read, of all connections together. Beyond it, commands that only read wait for room. */
  unreadRepliesBytesMax: 32 * 1024 * 1024,
  /** What a connection leaves unread up to this is not counted. */
  unreadReplyFreeBytes: 16 * 1024,
  /** A client that takes none of its replies for this long while others wait for room is disconnected. */
  unreadReplyMs: 1_000,
  goodbyeMs: 1_000,
  detachedGraceMs: 30_000,
  uiSignalsPerSessionMax: 64,
  signalledSessionsMax: 256,
  // Reading
  pageRowsMax: 500,
  pageRowsDefault: 100,
  pageBytesMax: 3 * 1024 * 1024,
  replyMarginBytes: 4096,
  pageEndsMax: 256,
  eventPageRowsMax: 256,
  eventPageBytesMax: 256 * 1024,
  eventTailBytesMax: 256 * 1024,
  /** Of events that were read from the store a moment ago, for others who are at the same place. */
  eventCacheBytesMax: 1024 * 1024,
  /** A longer event is written piece by piece: a client that does not read keeps one of them. */
  eventPieceBytes: 32 * 1024,
  waitedEventsMax: 1_000,
  waitedEventsBytesMax: 2 * 1024 * 1024,
  artifactPageBytesMax: 512 * 1024,
  treeNodesMax: 10_000,
  pathEntriesMax: 1_000_000,
  snippetCharsMax: 80,
  searchTextCharsMax: 64 * 1024,
  searchQueryCharsMax: 1_000,
  // Clients
  /** Of an attached view. Older messages are left out and can be loaded again. */
  viewMessagesMax: 5_000,
  /** Of the texts of those messages, in UTF-16 units. */
  viewTextUnitsMax: 32 * 1024 * 1024,
  /** Messages that an attached view loads at once. */
  viewPageRowsDefault: 200,
  /** Inputs that clients keep on disk until a daemon has taken them, of all sessions. */
  outboxInputsMax: 200,
  outboxBytesMax: 16 * 1024 * 1024,
  /** Files of the outbox that cannot be read and were set aside. */
  outboxDamagedMax: 10,
  /** An input that was kept for longer is given back to the person instead of being sent. */
  outboxSendMaxMs: 24 * 3600 * 1000,
  /** And deleted after this if nobody came back for it. */
  outboxFileMaxMs: 30 * 24 * 3600 * 1000,
  /** Inputs whose state an attached client remembers. */
  sentInputsMax: 200,
  // Queues and runs
  queuedInputsMax: 200,
  queuedTextBytesMax: 4 * 1024 * 1024,
  inputIdCharsMax: 128,
  /** A longer first text of an input has a row of its own. */
  inputRowCharsMax: 500,
  titleCharsMax: 200,
  statusTextCharsMax: 500,
  answerCharsMax: 256 * 1024,
  errorTextCharsMax: 4_096,
  pathBytesMax: 4096,
  activeToolsMax: 256,
  toolsMax: 256,
  /** Name, description and JSON Schema of the parameters of one tool. All of them go to the model with every request. */
  toolSpecBytesMax: 64 * 1024,
  runsAtOnceMax: 8,
  turnsPerRunMax: 1_000,
  toolCallsPerMessageMax: 64,
  /** Texts, thoughts and calls of one answer. Each costs every reader and every checkpoint a look. */
  messageBlocksMax: 1_024,
  toolArgumentsBytesMax: 256 * 1024,
  toolResultBytesMax: 256 * 1024,
  contextMessagesMax: 2_000,
  contextBytesMax: 16 * 1024 * 1024,
  /** Of the histories that runs in progress keep between two requests. */
  runHistoriesBytesMax: 32 * 1024 * 1024,
  recoveryAttemptsMax: 3,
  // Permissions
  judgedTextCharsMax: 100_000,
  /** Of a path that is judged, and of all that its links lead through. */
  pathNamesMax: 512,
  pathStepsMax: 1_024,
  approvalRoundsMax: 5,
  ruleTextCharsMax: 4_096,
  rulesMax: 1_000,
  /** How many rules of a file that can never match are named one by one. */
  ruleWarningsMax: 20,
  configFileBytesMax: 4 * 1024 * 1024,
  workspaceConfigBytesMax: 256 * 1024,
  auditRowsMax: 100_000,
  auditTextCharsMax: 2_000,
  todoTextCharsMax: 500,
  /** A tool call or the reason why it failed, in one line. */
  headlineCharsMax: 400,
  /** Words of somebody in a notice that only mentions them. */
  quoteCharsMax: 80,
  todoItemsMax: 50,
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
  // Store
  busyTimeoutMs: 100,
  checkpointMs: 250,
  walBytesMax: 4 * 1024 * 1024,
  walFileBytesMax: 8 * 1024 * 1024,
  walCommitsMax: 96,
  /** Commits between two looks at its length. */
  walUnseenMax: 16,
  commitRetryMinMs: 100,
  commitRetryMaxMs: 5_000,
  logEventsMax: 500_000,
  logAgeMs: 30 * 24 * 3600 * 1000,
  pruneEveryEvents: 5_000,
  pruneBatchRows: 2_000,
  sweepBatchRows: 500,
  /** How long words wait for others before they are added to the search. */
  searchDelayMs: 1_000,
  searchBatchRows: 50,
  searchBatchCharsMax: 128 * 1024,
  vacuumPagesMax: 500,
  // Daemon
  stopMs: 4_000,
  startMs: 10_000,
  /** A daemon that leaves a client without an answer for this long is reported. */
  answerMs: 3_000,
  /** And given up after this, unless it is stopped: then at once. */
  unansweredMs: 12_000,
  connectRetryMinMs: 10,
  /** How often an attached client starts a daemon that died, unless it lived for a while in between. */
  reviveAttemptsMax: 3,
  reviveAgainMs: 60_000,
  connectRetryMaxMs: 250,
  spareDescriptorsMin: 48,
  /** Of both halves of V8's young generation. */
  youngGenerationBytesMax: 8 * 1024 * 1024,
  /** A daemon copies its program only where this much stays free. */
  programCopySpareBytesMin: 64 * 1024 * 1024,
  // Keys of providers
  authFileBytesMax: 1024 * 1024,
  /** A lock of the file of keys that is older was left by a process that died. */
  authLockMs: 5_000,
  // Files that tools read, search and write
  fileChunkBytes: 256 * 1024,
  /** A text that is larger is read in parts and never edited. */
  textFileBytesMax: 10 * 1024 * 1024,
  readLinesDefault: 2_000,
  readLineCharsMax: 2_000,
  readTextBytesMax: 50 * 1024,
  /** How long a far line is looked for. */
  readScanMs: 3_000,
  /** Base64 of this is what APIs take at most. */
  imageBytesMax: 3_932_160,
  imageSidePixelsMax: 8_000,
  readMarksPerSessionMax: 1_000,
  readMarkSessionsMax: 256,
  linkHopsMax: 40,
  editsPerCallMax: 100,
  diffBytesMax: 48 * 1024,
  /** Of a diff, what the model is told. */
  diffToldBytesMax: 8 * 1024,
  diffLinesMax: 2_000,
  diffMs: 50,
  alikeLinesMax: 20_000,
  listedEntriesDefault: 500,
  listedEntriesMax: 5_000,
  directoryEntriesMax: 100_000,
  walkedEntriesMax: 1_000_000,
  walkMs: 10_000,
  ignoreFileBytesMax: 256 * 1024,
  globAlternativesMax: 256,
  globResultsMax: 200,
  /** Files that are compared to find the newest. */
  globMatchesMax: 10_000,
  grepMatchesDefault: 200,
  grepMatchesMax: 2_000,
  grepContextLinesMax: 20,
  grepLineBytesMax: 500,
  grepTextBytesMax: 50 * 1024,
  grepFileBytesMax: 64 * 1024 * 1024,
  grepMs: 20_000,
  // Programs that tools start
  bubblewrapProofMs: 10_000,
  bubblewrapRetryMs: 60_000,
  bubblewrapReasonCharsMax: 300,
  sandboxTmpBytesMax: 1024 * 1024 * 1024,
  sandboxShmBytesMax: 256 * 1024 * 1024,
  sandboxRunBytesMax: 1024 * 1024,
  /** How much of the writable directories is looked through before a command, the nearest first. */
  autorunEntriesMax: 20_000,
  /** A directory that takes more is read piece by piece. */
  autorunFolderBytesMax: 256 * 1024,
  autorunPathsMax: 300,
  /** How many sockets of other programs are covered up for a command. */
  hiddenSocketsMax: 1_000,
  autorunToldPathsMax: 20,
  commandProcessesMax: 2_048,
  /** A quarter of the machine's memory where that is more. */
  commandMemoryBytesMin: 2 * 1024 * 1024 * 1024,
  /** How often it is looked what commands take. */
  commandCountMs: 50,
  commandMemoryMs: 200,
  commandBytesMax: 100_000,
  /** What a stopped command has to clean up before it is killed. */
  killGraceMs: 300,
  killPollMs: 5,
  /** What the kernel cannot end within this is not waited for. */
  killPatienceMs: 5_000,
  killRoundsMax: 200,
  /** What comes out of a pipe after its command has ended, if somebody else still holds it. */
  outputDrainMs: 250,
  outputChunkBytes: 64 * 1024,
  outputHeadBytes: 16 * 1024,
  outputTailBytes: 16 * 1024,
  outputLineCharsMax: 2_000,
  outputFileBytesMax: 64 * 1024 * 1024,
  /** Of all outputs that are kept, of all sessions. Beyond it the oldest are deleted. */
  keptOutputsBytesMax: 512 * 1024 * 1024,
  liveOutputMs: 50,
  liveOutputBytesMax: 64 * 1024,
  bashTimeoutDefaultMs: 120_000,
  bashTimeoutMaxMs: 300_000,
  backgroundCommandsMax: 8,
  outputPageBytesMax: 32 * 1024,
  outputPageBytesDefault: 16 * 1024,
  outputSearchCharsMax: 1_000,
  outputSearchLineCharsMax: 16 * 1024,
  outputSearchContextMax: 20,
  outputSearchMatchesMax: 200,
  /** A pattern that takes longer than this over a piece is given up. */
  outputSearchSliceMs: 40,
  // Shell commands that are judged
  shellTextCharsMax: 64 * 1024,
  shellDepthMax: 24,
  shellNestsMax: 32,
  shellPartsMax: 2_000,
  shellBracesMax: 256,
  /** Of the places in a word where a path may begin. */
  shellReadsMax: 16,
  /** Of one command, where some may not be named. */
  shellPathsMax: 2_000,
} as const;
