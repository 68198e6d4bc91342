/** What the daemon says and is told, connection by connection. */
export const wireLimits = {
  // The wire
  lineBytesMax: 4 * 1024 * 1024,
  lineDepthMax: 64,
  /** Members of objects and arrays in a line that a client sends, all together. */
  lineMembersMax: 10_000,
  envelopeIdCharsMax: 256,
  envelopeTypeCharsMax: 100,
  /** What a line may have beside the text that a client sends with it. */
  envelopeMarginBytes: 4096,
  /** Ids that clients repeat, and cursors and digests. */
  idCharsMax: 200,
  mimeTypeCharsMax: 100,
  /** Texts and images of one input. */
  inputPartsMax: 64,
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
  /** Of the key of a status field or widget. */
  uiKeyCharsMax: 100,
  widgetLinesMax: 50,
  /** A text that is offered to a person to edit. */
  offeredTextCharsMax: 64 * 1024,
  /** What a client says of itself: its name, its version, its kind. */
  clientNameCharsMax: 100,
  uiCapabilitiesMax: 16,
  signalledSessionsMax: 256,
  namedCursorsMax: 100,
  cursorNameCharsMax: 64,
  /** A named cursor that nobody has used for this long is removed. */
  namedCursorIdleMs: 90 * 24 * 3600 * 1000,
  /** Drafts of a session, and all of their texts. A draft beyond these limits deletes the oldest. */
  draftsPerSessionMax: 32,
  draftsBytesMax: 16 * 1024 * 1024,
  /** A query of list_files; a longer one is no part of a path. */
  fileQueryCharsMax: 1_000,
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
  /** No page can be shorter than a character of UTF-8. */
  artifactPageBytesMin: 4,
  treeNodesMax: 10_000,
  pathEntriesMax: 1_000_000,
  snippetCharsMax: 80,
  searchTextCharsMax: 64 * 1024,
  searchQueryCharsMax: 1_000,
  /** Of the text of a prompt, what list_prompts searches. */
  promptFoldedCharsMax: 4_000,
  /** A longer text is cut. */
  promptTextCharsMax: 128 * 1024,
  /** The newest prompts of a directory, and of all others, that are searched. */
  promptScanRowsMax: 10_000,
} as const;
