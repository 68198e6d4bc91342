/** What clients keep, and how they reach a daemon. */
export const clientLimits = {
  // Clients
  /** Of an attached view. Older messages are left out and can be loaded again. */
  viewMessagesMax: 5_000,
  /** Of the texts of those messages, in UTF-16 units. */
  viewTextUnitsMax: 32 * 1024 * 1024,
  /** Messages that an attached view loads at once. */
  viewPageRowsDefault: 200,
  /** How often an older page is asked for again because the view began elsewhere when it came. */
  olderPageAttemptsMax: 5,
  /** Of the output of a call that runs: kept to find the place in its result where it ended. */
  viewOutputTailUnitsMax: 2_000,
  /** Events that wait for the program that reads them before the stream is paused. */
  unreadEventsMax: 256,
  attachRetryMinMs: 25,
  attachRetryMaxMs: 1_000,
  /** The pause before a command that only reads is sent again. */
  callRetryMs: 50,
  /** What a daemon that does not start may say about it. */
  startErrorCharsMax: 16_384,
  /** Inputs that clients keep on disk until a daemon has taken them, of all sessions. */
  outboxInputsMax: 200,
  outboxBytesMax: 16 * 1024 * 1024,
  /** Files of the outbox that cannot be read and were set aside. */
  outboxDamagedMax: 10,
  /** An input that was kept for longer is given back to the person instead of being sent. */
  outboxSendMaxMs: 24 * 3600 * 1000,
  /** And deleted after this if nobody came back for it. */
  outboxFileMaxMs: 30 * 24 * 3600 * 1000,
  outboxRetryMinMs: 50,
  outboxRetryMaxMs: 1_000,
  /** Inputs whose state an attached client remembers. */
  sentInputsMax: 200,
  // A daemon of another machine
  /** Of a stream through a relay, in each direction: bytes that were sent and not read yet. Part of the framing. */
  relayWindowBytesMax: 256 * 1024,
  /** Streams through one relay at once. */
  relayStreamsMax: 32,
  /** Of the header of a frame: a line. */
  relayHeaderBytesMax: 4096,
  /** What a shell may print before the first line of a relay. */
  relayNoiseBytesMax: 64 * 1024,
  /** A relay with more than this to be written reads no further frames. */
  relayUnsentBytesMax: 1024 * 1024,
  /** An ssh that has not connected is ended; one that may ask for a password or a host key gets longer. */
  sshConnectMs: 30_000,
  sshAskMs: 120_000,
  /** A host that does not answer at all, and a connection over which nothing comes any more. */
  sshTcpMs: 15_000,
  sshAliveMs: 15_000,
  sshAliveAttemptsMax: 3,
  /** The pause before a lost ssh is started again; it grows while that fails. */
  sshRetryMinMs: 250,
  sshRetryMaxMs: 10_000,
  /** An ssh that carries no stream is kept for so long. */
  sshIdleMs: 2_000,
  /** What ssh says on standard error: the end of it. */
  sshSaidCharsMax: 4096,
  hostCharsMax: 255,
  /** Hosts of config.json. */
  hostsMax: 50,
  /** A host that is asked for its sessions together with others counts as away after so long. */
  hostAnswerMs: 10_000,
  // The terminal frontend
  /** Of the output of a command that a person runs and shares with a message. */
  sharedOutputUnitsMax: 100_000,
  /** A program that reads the clipboard is not waited for longer. */
  clipboardMs: 2_000,
  /** Events of an absence that are read to sum it up and to play it again. */
  replayedEventsMax: 20_000,
  /** Of the file with what screens remember. */
  screenFileBytesMax: 256 * 1024,
  /** Keys of config.json that are bound to actions of frontends: how many, and of what length. */
  boundActionsMax: 500,
  actionNameCharsMax: 100,
  keysPerActionMax: 16,
  boundKeyCharsMax: 64,
  // The command line
  listedSessionsDefault: 100,
  listedDecisionsDefault: 50,
  logLinesDefault: 50,
  /** So much of the end of the log file is looked through for lines. */
  logTailBytesMax: 16 * 1024 * 1024,
  /** Ids are shown with so many characters, or with more where two begin alike. */
  shownIdCharsMin: 10,
  /** A shorter word is not taken for the beginning of a session's id. */
  sessionPrefixCharsMin: 3,
  /** Lines that a person typed and can get back. */
  typedHistoryMax: 200,
  /** A line of output that does not end is held back while a person types, up to this. */
  heldLineCharsMax: 2_000,
  /** More than any key; the rest of an input that has no end is not waited for. */
  typedKeyUnitsMax: 64 * 1024,
} as const;
