-- The log and the rows it projects to: one transaction writes both or neither.
-- AUTOINCREMENT: clients keep seq as a cursor, so a number is never reused, not even after pruning.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  run_id TEXT,
  type TEXT NOT NULL,
  version INTEGER NOT NULL,
  -- Small: bodies that never change (ended entries, texts of inputs) are referred to and joined when read.
  payload TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX event_session ON event (session_id, seq);
CREATE INDEX event_run ON event (run_id, seq) WHERE run_id IS NOT NULL;

-- log_id, log_floor, active_session.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  id TEXT PRIMARY KEY,
  parent_id TEXT,
  title TEXT NOT NULL,
  cwd TEXT NOT NULL,
  model TEXT NOT NULL,
  thinking TEXT NOT NULL,
  steering_mode TEXT NOT NULL,
  follow_up_mode TEXT NOT NULL,
  approval_mode TEXT NOT NULL,
  when_detached TEXT NOT NULL,
  recovery TEXT NOT NULL,
  active_tools TEXT,
  archived INTEGER NOT NULL DEFAULT 0,
  deleting INTEGER NOT NULL DEFAULT 0,
  deleted INTEGER NOT NULL DEFAULT 0,
  paused INTEGER NOT NULL DEFAULT 0,
  leaf_id TEXT REFERENCES entry (id),
  -- Where a branch left its parent: keeps the shared history alive when the leaf moves away or the parent is deleted.
  base_id TEXT REFERENCES entry (id),
  usage TEXT,
  context_left_percent INTEGER,
  message_count INTEGER NOT NULL DEFAULT 0,
  last_user_text TEXT NOT NULL DEFAULT '',
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX session_recent ON session (archived, updated_ms) WHERE deleted = 0;
CREATE INDEX session_leaf ON session (leaf_id);
CREATE INDEX session_base ON session (base_id);

-- An append-only tree: branches share their ancestors. `no` orders children after their parents.
CREATE TABLE entry (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL REFERENCES session (id),
  parent_id TEXT REFERENCES entry (id),
  role TEXT NOT NULL,
  run_id TEXT NOT NULL,
  turn_kind TEXT NOT NULL,
  -- NULL when the message is one plain text block: the text is the content.
  content TEXT,
  text TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  model TEXT,
  stop_reason TEXT,
  usage TEXT,
  tool_call_id TEXT,
  tool_name TEXT,
  is_error INTEGER,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX entry_session ON entry (session_id, no);
CREATE INDEX entry_parent ON entry (parent_id);

-- Contentless: the words of an entry, not a second copy of its text.
CREATE VIRTUAL TABLE entry_search USING fts5 (text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');

CREATE TABLE run (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES session (id),
  -- The daemon that drives it: after a crash, a run of another boot is a run that was left.
  boot_id TEXT NOT NULL,
  resumes TEXT,
  -- How many times in a row the daemon has continued this work by itself after a crash.
  attempts INTEGER NOT NULL,
  aborting INTEGER NOT NULL DEFAULT 0,
  turns INTEGER NOT NULL DEFAULT 0,
  turn TEXT,
  message_id TEXT,
  message_role TEXT,
  outcome TEXT,
  error TEXT,
  usage TEXT,
  started_seq INTEGER NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_seq INTEGER,
  ended_ms INTEGER
) STRICT;
-- One active run a session is a promise of core/; this index makes a broken promise fail the commit.
CREATE UNIQUE INDEX run_active ON run (session_id) WHERE ended_seq IS NULL;
CREATE INDEX run_session ON run (session_id, started_seq);
CREATE INDEX run_ended ON run (ended_ms) WHERE ended_ms IS NOT NULL;

-- Calls of the open turn that have no result yet.
CREATE TABLE tool_call (
  run_id TEXT NOT NULL REFERENCES run (id),
  id TEXT NOT NULL,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  args TEXT NOT NULL,
  problem TEXT,
  started INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, id)
) STRICT, WITHOUT ROWID;

-- The queue, and every input that was ever acknowledged: a retry with the same id is answered the same.
CREATE TABLE input (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES session (id),
  command TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'taken', 'removed', 'dropped')),
  position INTEGER NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1,
  -- The revision whose text is the current one: holding and releasing make no new copy.
  text_revision INTEGER NOT NULL DEFAULT 1,
  hold INTEGER NOT NULL DEFAULT 0,
  client TEXT,
  bytes INTEGER NOT NULL,
  for_next_run INTEGER NOT NULL DEFAULT 0,
  -- What it was acknowledged with; the run that took it may be another.
  ack_run_id TEXT NOT NULL,
  ack_seq INTEGER NOT NULL,
  run_id TEXT,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX input_session ON input (session_id, state, position);
CREATE INDEX input_for_run ON input (ack_run_id) WHERE for_next_run = 1;

-- Never rewritten: events name an input and a revision.
CREATE TABLE input_text (
  input_id TEXT NOT NULL REFERENCES input (id),
  revision INTEGER NOT NULL,
  text TEXT NOT NULL,
  content TEXT,
  PRIMARY KEY (input_id, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE ui_request (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES session (id),
  run_id TEXT NOT NULL REFERENCES run (id),
  turn_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  ask_key TEXT NOT NULL,
  method TEXT NOT NULL,
  params TEXT NOT NULL,
  expires_ms INTEGER,
  outcome TEXT,
  resolved_by TEXT,
  result TEXT,
  at_ms INTEGER NOT NULL,
  resolved_ms INTEGER
) STRICT;
-- A call asks each of its questions once, however often it has to run. Models use the same call id again in later turns:
-- an answer is never another call's.
CREATE UNIQUE INDEX ui_request_key ON ui_request (run_id, turn_id, tool_call_id, ask_key);
CREATE INDEX ui_request_open ON ui_request (session_id) WHERE outcome IS NULL;

-- What open messages have said so far. Append-only, and gone in the commit that ends the message.
CREATE TABLE partial (
  message_id TEXT NOT NULL,
  block INTEGER NOT NULL,
  "offset" INTEGER NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (message_id, block, "offset")
) STRICT, WITHOUT ROWID;

-- Things too long for a line: a message's whole text, or a file under artifacts/.
CREATE TABLE artifact (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES session (id),
  entry_id TEXT REFERENCES entry (id),
  file TEXT,
  mime_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  CHECK ((entry_id IS NULL) <> (file IS NULL))
) STRICT;
CREATE INDEX artifact_session ON artifact (session_id);
CREATE INDEX artifact_entry ON artifact (entry_id);

-- Children that a crash may leave behind. The start time tells a child from a stranger with a reused pid.
CREATE TABLE process (
  pid INTEGER NOT NULL,
  start_time INTEGER NOT NULL,
  boot_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  PRIMARY KEY (pid, start_time)
) STRICT, WITHOUT ROWID;
