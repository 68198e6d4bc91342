-- What a call that has begun is called on screens, so that a client that comes later shows what the others do.
ALTER TABLE tool_call ADD COLUMN title TEXT;
