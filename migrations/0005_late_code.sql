-- What a crash keeps a command's daemon from putting aside, as JSON.
ALTER TABLE process ADD COLUMN late_code TEXT;
