-- How much harm each decision could do, as it was on the review sheet. Decisions from before have none.
ALTER TABLE item ADD COLUMN risk TEXT;
