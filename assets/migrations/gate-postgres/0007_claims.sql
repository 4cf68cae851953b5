-- Who said "I'm on it": shown to others, never enforced. No revision and no audit: a claim changes nothing of an action.
CREATE TABLE claims (
    workspace   TEXT COLLATE "C" NOT NULL,
    action      TEXT COLLATE "C" NOT NULL,
    who         TEXT COLLATE "C" NOT NULL,
    since       BIGINT NOT NULL,
    -- Five minutes after its holder was heard of last.
    until       BIGINT NOT NULL,
    PRIMARY KEY (workspace, action)
);
