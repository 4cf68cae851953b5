-- The inbox's database. Times are milliseconds since 1970-01-01T00:00Z.

-- A desk is one reviewer's draft. A running inbox owns one; the next inbox takes over the desk of one that has ended.
CREATE TABLE desk (
    id       INTEGER PRIMARY KEY,
    owner    TEXT    NOT NULL,
    position INTEGER NOT NULL DEFAULT 0,
    used_at  INTEGER NOT NULL
) STRICT;

-- The steps of a draft, one row per action. `before` and `after` are staged decisions as JSON.
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

-- What was typed as a reason, a comment or guidance. `decision`: reject, approve or retry.
CREATE TABLE reason_text (
    desk     INTEGER NOT NULL REFERENCES desk (id) ON DELETE CASCADE,
    source   TEXT    NOT NULL,
    action   TEXT    NOT NULL,
    decision TEXT    NOT NULL,
    text     TEXT    NOT NULL,
    PRIMARY KEY (desk, source, action, decision)
) STRICT, WITHOUT ROWID;

-- What was on screen. All desks share it, because it is about the person.
CREATE TABLE seen (
    source   TEXT    NOT NULL,
    action   TEXT    NOT NULL,
    digest   TEXT    NOT NULL,
    seen     TEXT    NOT NULL,
    -- On screen in front of a reviewer who worked.
    dwell_ms INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (source, action)
) STRICT, WITHOUT ROWID;

-- Actions that a reviewer does not want to see until a time.
CREATE TABLE snooze (
    source TEXT    NOT NULL,
    action TEXT    NOT NULL,
    until  INTEGER NOT NULL,
    -- Covers the content, risk and terms that the list showed. The action is back when it changes.
    label  TEXT    NOT NULL,
    -- The action's terms, if they were known. The action is back when they change.
    terms  TEXT,
    PRIMARY KEY (source, action)
) STRICT, WITHOUT ROWID;

-- `held`: confirmed, sent later, and can be recalled until then. `sent`: written before anything is sent. `open`: answered, but some
-- outcomes are unknown or only accepted. `done`: every outcome is final.
CREATE TABLE submission (
    id           TEXT    PRIMARY KEY,
    owner        TEXT    NOT NULL,
    reviewer     TEXT,
    state        TEXT    NOT NULL CHECK (state IN ('held', 'sent', 'open', 'done')),
    left_pending INTEGER NOT NULL,
    begun_at     INTEGER NOT NULL,
    finished_at  INTEGER
) STRICT;
CREATE INDEX submission_state ON submission (state, begun_at);

-- One row per decision, as it was sent.
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
    -- JSON; NULL until there is one.
    outcome    TEXT,
    -- The source's label for everything but the input, as on the review sheet; NULL where it gives none.
    terms      TEXT,
    -- As on the review sheet.
    risk       TEXT    NOT NULL,
    -- The proposed input; NULL once an outcome is known, and in a held submission.
    input      TEXT,
    PRIMARY KEY (submission, nth)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_action ON item (source, action);

-- What was decided and its outcomes: written with the row that it is about, chained by hashes (src/journal/receipt.rs), and never changed.
-- `sent`: about to be sent. `answered`: its outcome, each time that it changed. `followed`: the outcome of an approved action.
CREATE TABLE receipt (
    seq          INTEGER PRIMARY KEY,
    kind         TEXT    NOT NULL CHECK (kind IN ('sent', 'answered', 'followed')),
    at           INTEGER NOT NULL,
    submission   TEXT    NOT NULL,
    source       TEXT    NOT NULL,
    action       TEXT    NOT NULL,
    client       TEXT    NOT NULL,
    reviewer     TEXT,
    login        TEXT,
    tool         TEXT,
    decision     TEXT,
    said         TEXT,
    digest       TEXT,
    effective    TEXT,
    terms        TEXT,
    seen         TEXT,
    dwell_ms     INTEGER,
    -- JSON.
    outcome      TEXT,
    hash         TEXT    NOT NULL,
    title        TEXT,
    batch        TEXT,
    risk         TEXT,
    -- The run that sent it. Another run may have taken its submission over.
    owner        TEXT,
    left_pending INTEGER,
    -- screen, plain or shell.
    via          TEXT
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

-- Minutes in which a source was watched, for the figures of the watch view after a restart. Kept for 48 hours.
CREATE TABLE minute (
    source  TEXT    NOT NULL,
    -- Since 1970-01-01T00:00Z.
    minute  INTEGER NOT NULL,
    -- Milliseconds of it.
    watched INTEGER NOT NULL,
    PRIMARY KEY (source, minute)
) STRICT, WITHOUT ROWID;
CREATE INDEX minute_by_time ON minute (minute);

-- Queues in which something was pending or happened. `kind`: an agent, else a tool, or the rest of too many queues.
CREATE TABLE minute_queue (
    source   TEXT    NOT NULL,
    minute   INTEGER NOT NULL,
    kind     TEXT    NOT NULL CHECK (kind IN ('agent', 'tool', 'rest')),
    queue    TEXT    NOT NULL,
    arrived  INTEGER NOT NULL,
    approved INTEGER NOT NULL,
    edited   INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    gone     INTEGER NOT NULL,
    executed INTEGER NOT NULL,
    failed   INTEGER NOT NULL,
    unknown  INTEGER NOT NULL,
    -- At its end.
    pending  INTEGER NOT NULL,
    PRIMARY KEY (source, minute, kind, queue),
    FOREIGN KEY (source, minute) REFERENCES minute (source, minute) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
