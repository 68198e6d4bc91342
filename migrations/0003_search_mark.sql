-- Words are added to the search beside the log, in batches: up to which entry that was done.
INSERT INTO meta (key, value) SELECT 'search_mark', coalesce(max(no), 0) FROM entry;
