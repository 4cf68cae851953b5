-- Who said "I'm on it": shown to others, never enforced. No revision and no audit: a claim changes nothing of an action.
CREATE TABLE claims (
    workspace   TEXT NOT NULL,
    action      TEXT NOT NULL,
    who         TEXT NOT NULL,
    since       INTEGER NOT NULL,
    -- Five minutes after its holder was heard of last.
    until       INTEGER NOT NULL,
    PRIMARY KEY (workspace, action)
) STRICT, WITHOUT ROWID;
