-- The source's label for everything but the input, as it was on the review sheet; NULL where there was none.
ALTER TABLE item ADD COLUMN terms TEXT;
