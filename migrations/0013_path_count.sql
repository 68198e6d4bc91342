-- How many messages are on the path to the leaf, so that a client that has read a page can say how much there is beside it.
-- To count them when somebody attaches would mean to walk the whole path; message_count has messages of other paths, too.
ALTER TABLE session ADD COLUMN path_count INTEGER NOT NULL DEFAULT 0;
UPDATE session SET path_count = (
  WITH RECURSIVE path (id) AS (
    SELECT session.leaf_id WHERE session.leaf_id IS NOT NULL
    UNION ALL SELECT e.parent_id FROM path JOIN entry e ON e.id = path.id WHERE e.parent_id IS NOT NULL)
  SELECT count(*) FROM path)
WHERE deleted = 0;
