-- An acknowledged input is one commit, and each page that it touches is written and synced: AUTOINCREMENT keeps its position in a table of
-- its own, and a table with a key that is not a number keeps an index for it. The log gives positions itself; inputs are kept in their key.

CREATE TABLE event_next (
  seq INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  run_id TEXT,
  type TEXT NOT NULL,
  version INTEGER NOT NULL,
  -- Small: bodies that never change (ended entries, texts of inputs) are referred to and joined when read.
  payload TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
INSERT INTO event_next SELECT seq, session_id, run_id, type, version, payload, at_ms FROM event ORDER BY seq;
-- Events that were deleted from the end keep their positions.
INSERT INTO meta (key, value)
SELECT 'log_floor', seq FROM sqlite_sequence WHERE name = 'event' AND seq > coalesce((SELECT max(seq) FROM event), 0)
ON CONFLICT (key) DO UPDATE SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER));
DROP TABLE event;
ALTER TABLE event_next RENAME TO event;
CREATE INDEX event_session ON event (session_id, seq);
CREATE INDEX event_run ON event (run_id, seq) WHERE run_id IS NOT NULL;

CREATE TABLE input_next (
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
  at_ms INTEGER NOT NULL,
  images TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO input_next
SELECT id, session_id, command, kind, state, position, revision, text_revision, hold, client, bytes, for_next_run, ack_run_id, ack_seq, run_id,
  at_ms, images
FROM input ORDER BY id;
CREATE TABLE input_text_next (
  input_id TEXT NOT NULL REFERENCES input_next (id),
  revision INTEGER NOT NULL,
  text TEXT NOT NULL,
  content TEXT,
  PRIMARY KEY (input_id, revision)
) STRICT, WITHOUT ROWID;
INSERT INTO input_text_next SELECT input_id, revision, text, content FROM input_text ORDER BY input_id, revision;
DROP TABLE input_text;
DROP TABLE input;
ALTER TABLE input_next RENAME TO input;
ALTER TABLE input_text_next RENAME TO input_text;
CREATE INDEX input_session ON input (session_id, state, position);
CREATE INDEX input_for_run ON input (ack_run_id) WHERE for_next_run = 1;
