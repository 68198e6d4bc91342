/** What clients keep, and how they reach a daemon. */
export const clientLimits = {
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
} as const;
