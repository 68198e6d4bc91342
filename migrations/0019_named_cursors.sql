-- How far those who follow the log under a name have acknowledged it.
CREATE TABLE named_cursor (
  name TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  used_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
