-- The events of a run lie in its session between its start and its end, where event_session finds them. An index of their own was one more
-- page to write with nearly every commit.
DROP INDEX event_run;
