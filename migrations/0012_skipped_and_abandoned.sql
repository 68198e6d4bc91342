-- That a call never ran, so that its result is shown later as it was shown live; NULL for all other messages.
ALTER TABLE entry ADD COLUMN skipped INTEGER;
-- That somebody said of a run that it is not to be resumed, so that nobody is advised to.
ALTER TABLE run ADD COLUMN abandoned INTEGER NOT NULL DEFAULT 0;
