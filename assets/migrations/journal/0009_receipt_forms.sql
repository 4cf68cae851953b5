-- Receipts of form 2 cover more of a decision. Those from before are of form 1, and their hashes stay as they are.
ALTER TABLE receipt ADD COLUMN form INTEGER NOT NULL DEFAULT 1;
ALTER TABLE receipt ADD COLUMN title TEXT;
ALTER TABLE receipt ADD COLUMN batch TEXT;
ALTER TABLE receipt ADD COLUMN risk TEXT;
-- The run that sent it; another may have taken its submission over since.
ALTER TABLE receipt ADD COLUMN owner TEXT;
ALTER TABLE receipt ADD COLUMN left_pending INTEGER;
