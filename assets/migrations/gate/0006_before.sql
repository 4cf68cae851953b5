-- What the target held before, as the proposer read it. An action without it keeps the record that it has.

ALTER TABLE payloads ADD COLUMN before TEXT;
