/** What command lines wait for in scripts. */
export const scriptLimits = {
  // Scripts
  /** A line that was begun sooner after a question was shown does not answer it. */
  questionSettleMs: 400,
  /** How long a first ctrl-C of `berth run` waits for a second one, which stops the run. */
  interruptAgainMs: 2_000,
  /** `berth follow --as` acknowledges what it passes over at least after so many events. */
  followedEventsUnseenMax: 500,
  /** Of `berth wait`: what a timer can wait. */
  waitSecondsMax: 2_000_000,
  /** How long `berth run "text"` waits for the first byte of a standard input that is a socket, which may never end. */
  pipedInputWaitMs: 1_000,
  /** The longest pause of `berth replay`, unless a speed was chosen. */
  replayPauseMs: 1_000,
  /** What a completion may take: somebody waits with a finger on the tab key. */
  completionMs: 800,
} as const;
