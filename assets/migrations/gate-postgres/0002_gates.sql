-- The gates that serve on this database, each with digests of what its tools come to: a difference is told (src/gate/heartbeat.rs). Nothing
-- that is decided or run depends on it. A gate writes its row again every few seconds; one that was silent for long is gone.
CREATE TABLE gates (
    -- Of one gate from its start to its end.
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- Host and port, for people.
    name       TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    -- JSON, of src/gate/policies.rs.
    policies   TEXT COLLATE "C" NOT NULL
);
