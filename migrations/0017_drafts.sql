-- What people have begun to write, one for each frontend and session. The position tells the newest where the clock does not.
CREATE TABLE draft (
  session_id TEXT NOT NULL REFERENCES session (id),
  id TEXT NOT NULL,
  position INTEGER NOT NULL,
  -- Name and connection of the client that stored it last.
  said_by TEXT NOT NULL,
  client_id TEXT NOT NULL,
  text TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (session_id, id)
) STRICT, WITHOUT ROWID;
