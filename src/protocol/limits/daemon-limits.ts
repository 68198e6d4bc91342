/** The store and the process. */
export const daemonLimits = {
  // Store
  busyTimeoutMs: 100,
  checkpointMs: 250,
  walBytesMax: 4 * 1024 * 1024,
  walFileBytesMax: 8 * 1024 * 1024,
  walCommitsMax: 96,
  /** A WAL of this length is warned of: another program keeps it from being checkpointed. */
  walWarnBytesMax: 64 * 1024 * 1024,
  /** Commits between two looks at its length. */
  walUnseenMax: 16,
  commitRetryMinMs: 100,
  commitRetryMaxMs: 5_000,
  logEventsMax: 500_000,
  logAgeMs: 30 * 24 * 3600 * 1000,
  pruneEveryEvents: 5_000,
  pruneBatchRows: 2_000,
  /** How often the age of what is kept is looked at, while there is work. */
  retentionCheckMs: 24 * 3600 * 1000,
  retainedDaysMax: 36_500,
  retainedEventsMin: 1_000,
  retainedEventsMax: 10_000_000,
  retainedArtifactsMbMax: 1024 * 1024,
  sweepBatchRows: 500,
  sweepBatchBytes: 4 * 1024 * 1024,
  /** How long words wait for others before they are added to the search. */
  searchDelayMs: 1_000,
  searchBatchRows: 50,
  searchBatchCharsMax: 128 * 1024,
  vacuumPagesMax: 500,
  /** A store up to this size is checked whole at each start. */
  checkedBytesMax: 32 * 1024 * 1024,
  /** Copies that are kept of stores from before a migration. */
  migrationCopiesMax: 2,
  /** A disk with less free space is warned of. */
  freeBytesMin: 50 * 1024 * 1024,
  /** How much a backup copies at once. */
  backupPagesMax: 256,
  // Daemon
  /** A log that is longer or older is rotated. */
  logFileBytesMax: 4 * 1024 * 1024,
  logFileAgeMs: 7 * 24 * 3600 * 1000,
  /** How many rotated logs are kept beside the one that is written, and for how long. */
  olderLogFilesMax: 4,
  olderLogAgeMs: 30 * 24 * 3600 * 1000,
  /** Of each text in a line of the log. */
  loggedTextCharsMax: 8_000,
  /** Keys of providers that are redacted in the log, the newest of them, also after another took their place. */
  earlierSecretsMax: 500,
  /** A file that is watched is read when nothing has happened to it for so long: an editor writes in several steps. */
  fileSettleMs: 100,
  /** Of what an event says about a config that cannot be used. */
  configProblemCharsMax: 2_000,
  stopMs: 4_000,
  /** The longest delay of setTimeout: a signed 32-bit integer. */
  timerMaxMs: 2 ** 31 - 1,
  startMs: 10_000,
  /** How long a message to the service manager may take. */
  serviceNotifyMs: 10_000,
  /** How long systemd may take to start or stop the service. */
  serviceJobMs: 90_000,
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
} as const;
