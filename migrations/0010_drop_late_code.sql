-- Nothing is put aside after a crash any more.
ALTER TABLE process DROP COLUMN late_code;
