-- Whether the session was made for one prompt, as by `berth run`, and nobody has gone on with it: `.` passes it by.
ALTER TABLE session ADD COLUMN one_off INTEGER NOT NULL DEFAULT 0;
