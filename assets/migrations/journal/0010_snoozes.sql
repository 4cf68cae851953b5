-- What a reviewer does not want to see until a time. On this machine, whatever the source.
CREATE TABLE snooze (
    source  TEXT NOT NULL,
    action  TEXT NOT NULL,
    until   INTEGER NOT NULL,
    -- What the list said of its content, its risk and its terms: it is back when that is another one.
    label   TEXT NOT NULL,
    PRIMARY KEY (source, action)
) STRICT, WITHOUT ROWID;
