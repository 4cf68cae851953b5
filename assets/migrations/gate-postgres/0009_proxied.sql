-- People whom a proxy in front of the gate names: they have no token. What they may do stands in the configuration and in the proxy's
-- headers, not here: nobody is let in by a row of this table. No revision and no audit, as of a token's use.
CREATE TABLE proxied (
    workspace   TEXT COLLATE "C" NOT NULL,
    subject     TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C",
    -- As they were seen last. Words with one blank between.
    groups      TEXT COLLATE "C" NOT NULL,
    scopes      TEXT COLLATE "C" NOT NULL,
    -- To within a minute.
    seen_at     BIGINT NOT NULL,
    PRIMARY KEY (workspace, subject)
);
