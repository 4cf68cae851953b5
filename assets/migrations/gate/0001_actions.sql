-- The gate's first storey. Append-only: a later change is another file.

-- One row a workspace, bumped in every write transaction: revisions have no gaps, and their order is the order of commits.
CREATE TABLE heads (
    workspace TEXT NOT NULL PRIMARY KEY,
    revision  INTEGER NOT NULL,
    pending   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a list shows. The payloads stand in a table of their own, so that a long queue is read without them.
CREATE TABLE actions (
    seq               INTEGER PRIMARY KEY,
    id                TEXT NOT NULL UNIQUE,
    workspace         TEXT NOT NULL,
    batch             TEXT,
    checkpoint        TEXT,
    mission           TEXT,
    session           TEXT,
    run               TEXT,
    tool_call         TEXT,
    agent             TEXT,
    requested_by      TEXT,
    -- The subject of the token that proposed it. Nobody decides their own proposal.
    proposer          TEXT NOT NULL,
    tool              TEXT NOT NULL,
    title             TEXT NOT NULL,
    summary           TEXT,
    risk              TEXT NOT NULL,
    effect            TEXT,
    size              INTEGER NOT NULL,
    digest            TEXT NOT NULL,
    status            TEXT NOT NULL,
    created_at        INTEGER NOT NULL,
    expires_at        INTEGER,
    resolved_at       INTEGER,
    resolved_by       TEXT,
    reason            TEXT,
    -- Of what the approval covers: the input after the edits. Compared again before it runs.
    effective_digest  TEXT,
    decision_revision INTEGER,
    -- Grows with every dispatch; a result that carries an older one is refused.
    fence             INTEGER NOT NULL DEFAULT 0,
    lease_until       INTEGER,
    -- The agent that claimed it; NULL while the gate itself runs it.
    lease_by          TEXT,
    error             TEXT,
    executed_at       INTEGER,
    revision          INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX actions_by_revision ON actions (workspace, revision);
CREATE INDEX actions_by_status ON actions (workspace, status, seq);
CREATE INDEX actions_by_batch ON actions (workspace, batch);
CREATE INDEX actions_expiring ON actions (expires_at) WHERE status = 'pending' AND expires_at IS NOT NULL;
CREATE INDEX actions_to_run ON actions (seq) WHERE status = 'approved';
CREATE INDEX actions_running ON actions (lease_until) WHERE status = 'running';

-- The exact bytes, as TEXT: never parsed into numbers, never reordered.
CREATE TABLE payloads (
    seq             INTEGER PRIMARY KEY REFERENCES actions (seq),
    input           TEXT NOT NULL,
    preview         TEXT,
    user_edits      TEXT,
    effective_input TEXT,
    result          TEXT
) STRICT;

-- The timeline of each action: one event a revision.
CREATE TABLE events (
    workspace TEXT NOT NULL,
    revision  INTEGER NOT NULL,
    action    TEXT NOT NULL,
    kind      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    who       TEXT,
    PRIMARY KEY (workspace, revision)
) STRICT, WITHOUT ROWID;

CREATE INDEX events_by_action ON events (action, revision);

-- First answers, for requests that carry an Idempotency-Key.
CREATE TABLE replies (
    workspace   TEXT NOT NULL,
    subject     TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    body        TEXT NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (workspace, subject, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX replies_by_age ON replies (at);

-- Who may do what. Of a token only the SHA-256 is kept.
CREATE TABLE tokens (
    id         TEXT NOT NULL PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE,
    subject    TEXT NOT NULL,
    workspace  TEXT NOT NULL,
    scopes     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
