-- Who is told elsewhere of an action: the callback that its proposal names, and the trace that it belongs to.
ALTER TABLE actions ADD COLUMN callback TEXT;
ALTER TABLE actions ADD COLUMN traceparent TEXT;

-- What a callback is told: one row a change, written in its transaction. Sent again and again until it arrives, for a day.
CREATE TABLE callbacks (
    workspace   TEXT NOT NULL,
    -- Of the change.
    revision    INTEGER NOT NULL,
    -- The receiver's, the same however often it is sent.
    id          TEXT NOT NULL,
    -- Of the table in the configuration.
    name        TEXT NOT NULL,
    action      TEXT NOT NULL,
    status      TEXT NOT NULL,
    -- Who decided.
    who         TEXT,
    at          INTEGER NOT NULL,
    traceparent TEXT,
    -- Begun; each under a lease of its own.
    tries       INTEGER NOT NULL DEFAULT 0,
    -- When it is sent next; while somebody sends it, until when it is theirs. NULL: it is over.
    next_at     INTEGER,
    -- Of the last try. Over and without one: it arrived.
    error       TEXT,
    ended_at    INTEGER,
    PRIMARY KEY (workspace, revision)
) STRICT, WITHOUT ROWID;

CREATE INDEX callbacks_due ON callbacks (name, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX callbacks_waiting ON callbacks (at) WHERE next_at IS NOT NULL;
CREATE INDEX callbacks_over ON callbacks (ended_at) WHERE ended_at IS NOT NULL;
