-- What people allowed, asked for or denied: everywhere (both NULL), in one workspace, or in one session.
CREATE TABLE permission (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace TEXT,
  session_id TEXT,
  rule TEXT NOT NULL,
  said_by TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX permission_once ON permission (coalesce(workspace, ''), coalesce(session_id, ''), rule);
CREATE INDEX permission_session ON permission (session_id) WHERE session_id IS NOT NULL;

-- A workspace's own config counts only where a person trusted exactly this content.
CREATE TABLE trust (
  workspace TEXT NOT NULL,
  digest TEXT NOT NULL,
  trusted INTEGER NOT NULL,
  said_by TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (workspace, digest)
) STRICT, WITHOUT ROWID;

-- Every decision about a call: by a rule, a mode or a person. Kept when the session is gone.
CREATE TABLE audit (
  no INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  subject TEXT NOT NULL,
  action TEXT NOT NULL,
  decided_by TEXT NOT NULL,
  why TEXT NOT NULL
) STRICT;

CREATE TABLE todo (
  session_id TEXT PRIMARY KEY REFERENCES session (id),
  items TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Start times count from the start of the machine; descendants that got away carry the marker.
ALTER TABLE process ADD COLUMN machine_boot_id TEXT NOT NULL DEFAULT '';
ALTER TABLE process ADD COLUMN marker TEXT NOT NULL DEFAULT '';
