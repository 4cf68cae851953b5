-- A desk is one reviewer's draft; a running inbox owns one, an inbox that is gone leaves its desk to the next.
CREATE TABLE desk (
    id       INTEGER PRIMARY KEY,
    owner    TEXT    NOT NULL,
    position INTEGER NOT NULL DEFAULT 0,
    used_at  INTEGER NOT NULL
) STRICT;

-- What each step of a draft did, one row an action. `before` and `after` are staged decisions as JSON.
CREATE TABLE change (
    desk   INTEGER NOT NULL REFERENCES desk (id) ON DELETE CASCADE,
    step   INTEGER NOT NULL,
    nth    INTEGER NOT NULL,
    source TEXT    NOT NULL,
    action TEXT    NOT NULL,
    before TEXT,
    after  TEXT,
    PRIMARY KEY (desk, step, nth)
) STRICT, WITHOUT ROWID;
CREATE INDEX change_action ON change (source, action);

CREATE TABLE edit_text (
    desk   INTEGER NOT NULL REFERENCES desk (id) ON DELETE CASCADE,
    source TEXT    NOT NULL,
    action TEXT    NOT NULL,
    text   TEXT    NOT NULL,
    of     TEXT    NOT NULL,
    PRIMARY KEY (desk, source, action)
) STRICT, WITHOUT ROWID;

-- What was on screen; shared by all desks, because it is about the person.
CREATE TABLE seen (
    source TEXT NOT NULL,
    action TEXT NOT NULL,
    digest TEXT NOT NULL,
    seen   TEXT NOT NULL,
    PRIMARY KEY (source, action)
) STRICT, WITHOUT ROWID;

-- `sent`: written before anything is sent. `open`: answered, but some outcomes are unknown. `done`: every outcome is final.
CREATE TABLE submission (
    id           TEXT    PRIMARY KEY,
    owner        TEXT    NOT NULL,
    reviewer     TEXT,
    state        TEXT    NOT NULL CHECK (state IN ('sent', 'open', 'done')),
    left_pending INTEGER NOT NULL,
    begun_at     INTEGER NOT NULL,
    finished_at  INTEGER
) STRICT;
CREATE INDEX submission_state ON submission (state, begun_at);

-- One row a decision, as it was sent. `outcome` is JSON; NULL until there is one.
CREATE TABLE item (
    submission TEXT    NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
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
    PRIMARY KEY (submission, nth)
) STRICT, WITHOUT ROWID;
