-- How much of an output came after what an artifact has room for.
ALTER TABLE artifact ADD COLUMN dropped_bytes INTEGER NOT NULL DEFAULT 0;
