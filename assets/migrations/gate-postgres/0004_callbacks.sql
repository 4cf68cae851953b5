-- Who is told elsewhere of an action: the callback that its proposal names, and the trace that it belongs to.
ALTER TABLE actions ADD COLUMN callback TEXT COLLATE "C";
ALTER TABLE actions ADD COLUMN traceparent TEXT COLLATE "C";

-- What a callback is told: one row a change, written in its transaction. Sent again and again until it arrives, for a day.
CREATE TABLE callbacks (
    workspace   TEXT COLLATE "C" NOT NULL,
    -- Of the change.
    revision    BIGINT NOT NULL,
    -- The receiver's, the same however often it is sent.
    id          TEXT COLLATE "C" NOT NULL,
    -- Of the table in the configuration.
    name        TEXT COLLATE "C" NOT NULL,
    action      TEXT COLLATE "C" NOT NULL,
    status      TEXT COLLATE "C" NOT NULL,
    -- Who decided.
    who         TEXT COLLATE "C",
    at          BIGINT NOT NULL,
    traceparent TEXT COLLATE "C",
    -- Begun; each under a lease of its own.
    tries       BIGINT NOT NULL DEFAULT 0,
    -- When it is sent next; while somebody sends it, until when it is theirs. NULL: it is over.
    next_at     BIGINT,
    -- Of the last try. Over and without one: it arrived.
    error       TEXT COLLATE "C",
    ended_at    BIGINT,
    PRIMARY KEY (workspace, revision)
);

CREATE INDEX callbacks_due ON callbacks (name, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX callbacks_waiting ON callbacks (at) WHERE next_at IS NOT NULL;
CREATE INDEX callbacks_over ON callbacks (ended_at) WHERE ended_at IS NOT NULL;
