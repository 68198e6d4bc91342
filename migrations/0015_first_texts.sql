-- The first text of an input that is short and has no other content: one page less to write before such an input is acknowledged. A long one
-- stays in input_text, where it is not written again each time that its input changes; so do texts of before this version, and all edits.
ALTER TABLE input ADD COLUMN first_text TEXT;
