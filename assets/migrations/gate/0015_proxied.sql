-- People whom a proxy in front of the gate names: they have no token. What they may do stands in the configuration and in the proxy's
-- headers, not here: nobody is let in by a row of this table. No revision and no audit, as of a token's use.
CREATE TABLE proxied (
    workspace   TEXT NOT NULL,
    subject     TEXT NOT NULL,
    name        TEXT,
    -- As they were seen last. Words with one blank between.
    groups      TEXT NOT NULL,
    scopes      TEXT NOT NULL,
    -- To within a minute.
    seen_at     INTEGER NOT NULL,
    PRIMARY KEY (workspace, subject)
) STRICT, WITHOUT ROWID;
