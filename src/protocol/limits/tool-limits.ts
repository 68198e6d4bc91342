/** What tools read, write and start. */
export const toolLimits = {
  // Files that tools read, search and write
  fileChunkBytes: 256 * 1024,
  /** A text that is larger is read in parts and never edited. */
  textFileBytesMax: 10 * 1024 * 1024,
  readLinesDefault: 2_000,
  readLineCharsMax: 2_000,
  readTextBytesMax: 50 * 1024,
  /** Lines that were too long, named by number in the result. */
  cutLinesNamedMax: 20,
  /** How long a far line is looked for. */
  readScanMs: 3_000,
  /** Base64 of this is what APIs take at most. */
  imageBytesMax: 3_932_160,
  imageSidePixelsMax: 8_000,
  readMarksPerSessionMax: 1_000,
  readMarkSessionsMax: 256,
  /** More symbolic links than this are a loop, as they are for the kernel. */
  linkHopsMax: 40,
  editsPerCallMax: 100,
  /** Places of a text that occurs more than once, named by line. */
  editPlacesNamedMax: 10,
  /** Lines that are shown for a text that does not occur, because they are like it. */
  similarLinesMax: 3,
  similarLineCharsMax: 300,
  diffBytesMax: 48 * 1024,
  /** Of a diff, what the model is told. */
  diffToldBytesMax: 8 * 1024,
  diffLinesMax: 2_000,
  diffContextLinesMax: 3,
  diffMs: 50,
  alikeLinesMax: 20_000,
  listedEntriesDefault: 500,
  listedEntriesMax: 5_000,
  directoryEntriesMax: 100_000,
  walkedEntriesMax: 1_000_000,
  walkMs: 10_000,
  /** Paths of a session's directory that are kept for list_files, how long they are fresh, and of how many sessions they are kept. */
  indexedPathsMax: 50_000,
  indexedPathsMs: 10_000,
  indexedSessionsMax: 4,
  /** A search is answered after this with what was found until then. */
  fileSearchMs: 400,
  listedPathsDefault: 50,
  /** Messages that are looked through for paths, and the paths that are taken from them. */
  recentMessagesMax: 200,
  recentMessageBytesMax: 512 * 1024,
  recentPathsMax: 500,
  ignoreFileBytesMax: 256 * 1024,
  ignoreRulesMax: 1_000,
  ignoreRuleCharsMax: 256,
  globAlternativesMax: 256,
  globPatternCharsMax: 1_000,
  globResultsMax: 200,
  /** Files that are compared to find the newest. */
  globMatchesMax: 10_000,
  grepMatchesDefault: 200,
  grepMatchesMax: 2_000,
  grepContextLinesMax: 20,
  grepPatternCharsMax: 10_000,
  /** Of a line, where berth searches by itself for want of ripgrep. */
  grepComparedCharsMax: 64 * 1024,
  /** Of a path or a line in what ripgrep says; a longer one is left out. */
  grepFieldBytesMax: 64 * 1024,
  /** Of what ripgrep complains about. */
  grepProblemCharsMax: 2_000,
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
  commandProcessesDefault: 2_048,
  /** What the config may set, and the kernel has at most. */
  commandProcessesMin: 16,
  commandProcessesMax: 4_194_304,
  commandMemoryMbMin: 64,
  commandMemoryMbMax: 16_777_216,
  /** A quarter of the machine's memory where that is more. */
  commandMemoryBytesMin: 2 * 1024 * 1024 * 1024,
  /** How often it is looked what commands take. */
  commandCountMs: 50,
  commandMemoryMs: 200,
  commandBytesMax: 100_000,
  commandTitleCharsMax: 80,
  /** Of the id that a model gives: of an artifact, or of a background command. */
  toolIdCharsMax: 64,
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
  bashSecondsMin: 0.1,
  backgroundCommandsMax: 8,
  outputPageBytesMax: 32 * 1024,
  outputPageBytesDefault: 16 * 1024,
  outputSearchCharsMax: 1_000,
  outputSearchLineCharsMax: 16 * 1024,
  outputSearchContextMax: 20,
  outputSearchMatchesMax: 200,
  /** A pattern that takes longer than this over a piece is given up. */
  outputSearchSliceMs: 40,
} as const;
