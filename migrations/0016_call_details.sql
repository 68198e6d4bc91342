-- What the events of a call tell beside its result (diff, exit code, duration), as JSON: events are pruned, and a client that attaches after
-- the end of a call shows what the others do. NULL for all other messages, and for results of before this version.
ALTER TABLE entry ADD COLUMN details TEXT;
