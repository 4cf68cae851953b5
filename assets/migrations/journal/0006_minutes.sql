-- How actions came and went, as it was seen from here: so that the figures of the watch view do not begin with nothing after a restart.
-- Minutes since 1970; only those of the last 48 hours are kept. A minute without a row was not watched.
CREATE TABLE minute (
    source  TEXT    NOT NULL,
    minute  INTEGER NOT NULL,
    -- Milliseconds of it.
    watched INTEGER NOT NULL,
    PRIMARY KEY (source, minute)
) STRICT, WITHOUT ROWID;
CREATE INDEX minute_by_time ON minute (minute);

-- Queues in which something was pending or happened. `kind`: who proposes ('agent'), else what is proposed ('tool'), or all that were
-- too many to tell apart ('rest').
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
