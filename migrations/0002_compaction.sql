-- A summary that is being made, or asked for: boot closes what a dead daemon left open.
ALTER TABLE session ADD COLUMN compaction TEXT;
-- What a summary stands for; NULL on every other entry.
ALTER TABLE entry ADD COLUMN compaction TEXT;
-- What the session had used when the run began: a run's own usage is the difference.
ALTER TABLE run ADD COLUMN usage_before TEXT;
