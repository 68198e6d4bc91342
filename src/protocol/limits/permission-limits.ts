/** What is allowed and who said so. */
export const permissionLimits = {
  // Permissions
  judgedTextCharsMax: 100_000,
  /** Of a path that is judged, and of all that its links lead through. */
  pathNamesMax: 512,
  pathStepsMax: 1_024,
  approvalRoundsMax: 5,
  /** How long the config may have an approval wait. */
  approvalSecondsMax: 30 * 24 * 3600,
  ruleToolCharsMax: 100,
  ruleTextCharsMax: 4_096,
  rulesMax: 1_000,
  /** Directories of the config that commands may write beside the workspace. */
  writableRootsMax: 100,
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
  // Shell commands that are judged
  shellTextCharsMax: 64 * 1024,
  shellDepthMax: 24,
  shellNestsMax: 32,
  shellPartsMax: 2_000,
  /** Of all parts, counted again for each wrapper such as sudo: analysing a word takes some microseconds of the only thread. */
  shellWordsMax: 8_000,
  shellBracesMax: 256,
  /** Of the places in a word where a path may begin. */
  shellReadsMax: 16,
  /** Of one command, where some may not be named. */
  shellPathsMax: 2_000,
} as const;
