-- A submission may be `held`: confirmed, and not sent before its time; the reviewer can still recall it. SQLite cannot change a CHECK,
-- so the table is made anew, and `item` with it: dropping `submission` first would take its rows along.
CREATE TABLE submission_held (
    id           TEXT    PRIMARY KEY,
    owner        TEXT    NOT NULL,
    reviewer     TEXT,
    state        TEXT    NOT NULL CHECK (state IN ('held', 'sent', 'open', 'done')),
    left_pending INTEGER NOT NULL,
    begun_at     INTEGER NOT NULL,
    finished_at  INTEGER
) STRICT;
INSERT INTO submission_held SELECT id, owner, reviewer, state, left_pending, begun_at, finished_at FROM submission;

CREATE TABLE item_held (
    submission TEXT    NOT NULL REFERENCES submission_held (id) ON DELETE CASCADE,
    nth        INTEGER NOT NULL,
    source     TEXT    NOT NULL,
    batch      TEXT,
    action     TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    decision   TEXT    NOT NULL,
    digest     TEXT    NOT NULL,
    effective  TEXT    NOT NULL,
    outcome    TEXT,
    terms      TEXT,
    PRIMARY KEY (submission, nth)
) STRICT, WITHOUT ROWID;
INSERT INTO item_held
SELECT submission, nth, source, batch, action, tool, title, decision, digest, effective, outcome, terms FROM item;

DROP TABLE item;
DROP TABLE submission;
ALTER TABLE submission_held RENAME TO submission;
ALTER TABLE item_held RENAME TO item;
CREATE INDEX submission_state ON submission (state, begun_at);
