-- Whose a token is, for people to read, and the groups that it is counted under. Words of a group hold no blank; one blank between.
ALTER TABLE tokens ADD COLUMN name TEXT COLLATE "C";
ALTER TABLE tokens ADD COLUMN groups TEXT COLLATE "C" NOT NULL DEFAULT '';
-- Noted now and then, and in no audit: a token's use changes nothing.
ALTER TABLE tokens ADD COLUMN last_used_at BIGINT;
