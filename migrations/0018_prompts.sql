-- What people have sent, by directory and newest first, for list_prompts. Filled behind the log with the words of the search: no commit waits
-- for it. `no` is that of the entry, which has the text.
CREATE TABLE prompt (
  no INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  cwd TEXT NOT NULL,
  -- The beginning of the text in lower case.
  folded TEXT NOT NULL
) STRICT;
INSERT INTO prompt (no, session_id, cwd, folded)
SELECT entry.no, entry.session_id, session.cwd, lower(substr(entry.text, 1, 4000))
FROM entry JOIN session ON session.id = entry.session_id AND session.deleted = 0
WHERE entry.role = 'user' AND trim(entry.text, char(32, 9, 10, 13)) <> ''
  AND entry.no <= (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'search_mark');
-- With all that a search reads: rows of one directory are far apart in the table.
CREATE INDEX prompt_cwd ON prompt (cwd, no, session_id, folded);
CREATE INDEX prompt_session ON prompt (session_id);
