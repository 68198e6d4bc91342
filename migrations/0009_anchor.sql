-- The directory that a session works in, as it was when the session was made. A name that leads elsewhere later is not followed.
CREATE TABLE anchor (
  session_id TEXT PRIMARY KEY REFERENCES session (id),
  real_path TEXT NOT NULL,
  device TEXT NOT NULL,
  inode TEXT NOT NULL
) STRICT, WITHOUT ROWID;
