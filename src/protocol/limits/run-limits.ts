/** Queues, runs and what is kept of them. */
export const runLimits = {
  // Queues and runs
  queuedInputsMax: 200,
  queuedTextBytesMax: 4 * 1024 * 1024,
  inputIdCharsMax: 128,
  /** A longer first text of an input has a row of its own. */
  inputRowCharsMax: 500,
  titleCharsMax: 200,
  abortReasonCharsMax: 1_000,
  extensionCommandCharsMax: 200,
  statusTextCharsMax: 500,
  answerCharsMax: 256 * 1024,
  /** Why a client could not get an answer. */
  answerErrorCharsMax: 10_000,
  questionTitleCharsMax: 200,
  questionTextCharsMax: 10_000,
  questionOptionsMax: 50,
  /** How long a model may have a question wait. */
  questionSecondsMax: 7 * 24 * 3600,
  errorTextCharsMax: 4_096,
  pathBytesMax: 4096,
  activeToolsMax: 256,
  toolsMax: 256,
  toolNameCharsMax: 200,
  toolCallIdCharsMax: 200,
  /** Name, description and JSON Schema of the parameters of one tool. All of them go to the model with every request. */
  toolSpecBytesMax: 64 * 1024,
  runsAtOnceDefault: 8,
  /** What the config may set. */
  runsAtOnceMax: 256,
  /** Runs that wait for a person, or for another attempt, and so take none of those places. Each keeps its history in memory. */
  runsWaitingMax: 256,
  turnsPerRunMax: 1_000,
  toolCallsPerMessageMax: 64,
  /** Texts, thoughts and calls of one answer. Each costs every reader and every checkpoint a look. */
  messageBlocksMax: 1_024,
  toolArgumentsBytesMax: 256 * 1024,
  toolResultBytesMax: 256 * 1024,
  /** The title of a call for people. */
  toolTitleCharsMax: 500,
  /** Numbers that a tool result has beside its text, and their names. */
  resultCountsMax: 32,
  countNameCharsMax: 64,
  /** The name of the signal that ended a command. */
  signalNameCharsMax: 64,
  contextMessagesMax: 2_000,
  contextBytesMax: 16 * 1024 * 1024,
  /** Of the histories that runs in progress keep between two requests. */
  runHistoriesBytesMax: 32 * 1024 * 1024,
  recoveryAttemptsMax: 3,
} as const;
