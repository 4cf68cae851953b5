-- For how long the content was on screen in front of somebody who worked, in milliseconds.
ALTER TABLE seen ADD COLUMN dwell_ms INTEGER NOT NULL DEFAULT 0;

-- What was decided, and what came of it: written with the row that it is about, chained, and never changed. `sent`: about to be
-- sent. `answered`: what became of it, each time that this changed. `followed`: what became of what was approved.
-- Decisions from before this table have none.
CREATE TABLE receipt (
    seq        INTEGER PRIMARY KEY,
    kind       TEXT    NOT NULL CHECK (kind IN ('sent', 'answered', 'followed')),
    at         INTEGER NOT NULL,
    submission TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    client     TEXT    NOT NULL,
    reviewer   TEXT,
    login      TEXT,
    tool       TEXT,
    decision   TEXT,
    said       TEXT,
    digest     TEXT,
    effective  TEXT,
    terms      TEXT,
    seen       TEXT,
    dwell_ms   INTEGER,
    -- JSON.
    outcome    TEXT,
    hash       TEXT    NOT NULL
) STRICT;
CREATE INDEX receipt_action ON receipt (source, action, seq);
CREATE INDEX receipt_submission ON receipt (submission, seq);

CREATE TRIGGER receipts_are_never_changed BEFORE UPDATE ON receipt
BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;
CREATE TRIGGER receipts_are_never_cut BEFORE DELETE ON receipt
BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;
CREATE TRIGGER receipts_have_no_gaps BEFORE INSERT ON receipt
WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM receipt)
BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;
