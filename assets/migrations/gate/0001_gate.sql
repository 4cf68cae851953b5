-- The gate's database. Moments are milliseconds since 1970-01-01T00:00Z.

-- One row per workspace. Every write transaction increments its revision, so revisions have no gaps and follow the order of commits.
CREATE TABLE heads (
    workspace TEXT NOT NULL PRIMARY KEY,
    revision  INTEGER NOT NULL,
    pending   INTEGER NOT NULL,
    -- Of the newest audit row.
    hash      BLOB,
    -- The revision of the newest prune, or 0. Changes before it cannot be listed.
    pruned    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The columns of a list. `payloads` has the rest, so that a long list reads no payloads.
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
    -- The subject of the token that proposed it. Subjects do not decide their own proposals.
    proposer          TEXT NOT NULL,
    tool              TEXT NOT NULL,
    title             TEXT NOT NULL,
    -- The short fields of the input, as JSON.
    brief             TEXT,
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
    resolved_via      TEXT CHECK (resolved_via IN ('screen', 'plain', 'shell', 'http')),
    reason            TEXT,
    -- Of the input after the edits. Compared again at dispatch.
    effective_digest  TEXT,
    decision_revision INTEGER,
    -- Grows with every dispatch. A result with an older fence is refused.
    fence             INTEGER NOT NULL DEFAULT 0,
    lease_until       INTEGER,
    -- The agent that claimed it; NULL while the gate itself runs it.
    lease_by          TEXT,
    error             TEXT,
    executed_at       INTEGER,
    revision          INTEGER NOT NULL,
    -- The terms of its approval (src/gate/terms.rs).
    approved_terms    TEXT,
    -- End of the renewed lease. `lease_until` stays as it was audited.
    renewed_until     INTEGER,
    -- The callback that its proposal names.
    callback          TEXT,
    traceparent       TEXT
) STRICT;

CREATE UNIQUE INDEX actions_by_revision ON actions (workspace, revision);
CREATE INDEX actions_by_status ON actions (workspace, status, seq);
CREATE INDEX actions_by_batch ON actions (workspace, batch);
CREATE INDEX actions_by_checkpoint ON actions (workspace, checkpoint) WHERE checkpoint IS NOT NULL;
CREATE INDEX actions_by_workspace ON actions (workspace);
CREATE INDEX actions_expiring ON actions (expires_at) WHERE status = 'pending' AND expires_at IS NOT NULL;
CREATE INDEX actions_to_run ON actions (seq) WHERE status = 'approved';
CREATE INDEX actions_running ON actions (lease_until) WHERE status = 'running';
-- Approved, and never claimed.
CREATE INDEX actions_unclaimed ON actions (resolved_at) WHERE status = 'approved' AND fence = 0;
CREATE INDEX actions_by_session ON actions (workspace, session) WHERE status = 'pending' AND session IS NOT NULL;
CREATE INDEX actions_by_mission ON actions (workspace, mission) WHERE status = 'pending' AND mission IS NOT NULL;
CREATE INDEX actions_outstanding ON actions (workspace, COALESCE(batch, id), seq) WHERE status = 'pending';
-- Decisions by time. A proposer who settles an action withdraws it, and is no reviewer.
CREATE INDEX actions_by_decision ON actions (workspace, resolved_at) WHERE resolved_by <> proposer;
-- Final actions, in the order in which they became final.
CREATE INDEX actions_settled ON actions (workspace, revision)
    WHERE status IN ('rejected', 'executed', 'failed', 'expired', 'withdrawn', 'superseded');
-- Runs of something else than what was approved, by time.
CREATE INDEX actions_ran_other ON actions (executed_at) WHERE error = 'something else ran than what was approved';
-- An agent's own id of a call, in its session.
CREATE INDEX actions_by_call ON actions (workspace, proposer, session, tool_call)
    WHERE session IS NOT NULL AND tool_call IS NOT NULL;
-- Lists of one mission, session, run, agent, tool or risk. These columns never change, so an index costs only the insert.
CREATE INDEX actions_of_mission ON actions (workspace, mission) WHERE mission IS NOT NULL;
CREATE INDEX actions_of_session ON actions (workspace, session) WHERE session IS NOT NULL;
CREATE INDEX actions_of_run ON actions (workspace, run) WHERE run IS NOT NULL;
CREATE INDEX actions_of_agent ON actions (workspace, agent) WHERE agent IS NOT NULL;
CREATE INDEX actions_of_tool ON actions (workspace, tool);
CREATE INDEX actions_of_risk ON actions (workspace, risk);

-- The exact bytes, as TEXT: never parsed into numbers, never reordered.
CREATE TABLE payloads (
    seq             INTEGER PRIMARY KEY REFERENCES actions (seq),
    input           TEXT NOT NULL,
    preview         TEXT,
    user_edits      TEXT,
    effective_input TEXT,
    result          TEXT,
    -- The target's state before, as the proposer read it.
    before          TEXT
) STRICT;

-- Approvals of an action that more than one person must approve. It stays pending until the last one.
CREATE TABLE approvals (
    seq              INTEGER NOT NULL REFERENCES actions (seq),
    -- Under which it was given.
    revision         INTEGER NOT NULL,
    -- Of the approver's token.
    subject          TEXT NOT NULL,
    at               INTEGER NOT NULL,
    -- Approvals with another digest or other terms do not count.
    effective_digest TEXT NOT NULL,
    terms            TEXT NOT NULL,
    -- The tool's policy at that time. Lists count approvals by it without reading the action.
    policy           TEXT NOT NULL,
    -- NULL: the approver changed nothing.
    edits            TEXT,
    PRIMARY KEY (seq, revision)
) STRICT, WITHOUT ROWID;

CREATE INDEX approvals_by_time ON approvals (at);

-- One row per revision, written in the transaction that it records. Its hash covers the row and the hash before it (src/gate/audit).
CREATE TABLE audit (
    workspace TEXT NOT NULL,
    revision  INTEGER NOT NULL,
    action    TEXT,
    kind      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    who       TEXT,
    details   TEXT,
    hash      BLOB NOT NULL,
    PRIMARY KEY (workspace, revision)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_by_action ON audit (action, revision) WHERE action IS NOT NULL;

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_never_cut BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

-- First answers to requests with an Idempotency-Key.
CREATE TABLE replies (
    workspace   TEXT NOT NULL,
    subject     TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    body        TEXT NOT NULL,
    at          INTEGER NOT NULL,
    -- The action that a proposal was recorded as. Its key is kept as long as the action, and as a tombstone after its prune.
    action      TEXT,
    pruned_at   INTEGER,
    PRIMARY KEY (workspace, subject, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX replies_by_age ON replies (at) WHERE action IS NULL;
CREATE INDEX replies_by_action ON replies (action) WHERE action IS NOT NULL;
CREATE INDEX replies_pruned ON replies (pruned_at) WHERE pruned_at IS NOT NULL;

-- Calls whose action was pruned: they must not be recorded a second time.
CREATE TABLE pruned_calls (
    workspace TEXT NOT NULL,
    proposer  TEXT NOT NULL,
    session   TEXT NOT NULL,
    tool_call TEXT NOT NULL,
    digest    TEXT NOT NULL,
    pruned_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, proposer, session, tool_call)
) STRICT, WITHOUT ROWID;

CREATE INDEX pruned_calls_by_age ON pruned_calls (pruned_at);

CREATE TABLE tokens (
    id           TEXT NOT NULL PRIMARY KEY,
    -- SHA-256 of the token, which is not kept.
    hash         BLOB NOT NULL UNIQUE,
    subject      TEXT NOT NULL,
    workspace    TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    revoked_at   INTEGER,
    expires_at   INTEGER,
    name         TEXT,
    -- One a line.
    groups       TEXT NOT NULL DEFAULT '',
    -- Updated now and then, and not audited.
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;

-- People whom a proxy in front of the gate names: they have no token. The configuration and the proxy's headers grant access; a row here
-- grants none. No revision and no audit.
CREATE TABLE proxied (
    workspace TEXT NOT NULL,
    subject   TEXT NOT NULL,
    name      TEXT,
    -- As last seen, one a line; names of a directory hold blanks.
    groups    TEXT NOT NULL,
    scopes    TEXT NOT NULL,
    -- To within a minute.
    seen_at   INTEGER NOT NULL,
    PRIMARY KEY (workspace, subject)
) STRICT, WITHOUT ROWID;

-- Who said "I'm on it": shown to others, never enforced. No revision and no audit.
CREATE TABLE claims (
    workspace TEXT NOT NULL,
    action    TEXT NOT NULL,
    who       TEXT NOT NULL,
    since     INTEGER NOT NULL,
    -- Five minutes after its holder was last heard of.
    until     INTEGER NOT NULL,
    PRIMARY KEY (workspace, action)
) STRICT, WITHOUT ROWID;

-- A paused workspace dispatches nothing; '*' is the whole gate.
CREATE TABLE pauses (
    workspace TEXT NOT NULL PRIMARY KEY,
    at        INTEGER NOT NULL,
    who       TEXT
) STRICT, WITHOUT ROWID;

-- The counts below are kept by src/gate/store/ops, so that a reader never counts the queue or the history.

-- Pending actions by batch; an action without one is a batch of its own.
CREATE TABLE outstanding (
    workspace TEXT NOT NULL,
    batch     TEXT NOT NULL,
    tool      TEXT NOT NULL,
    mission   TEXT,
    pending   INTEGER NOT NULL,
    -- `seq` of the oldest one.
    first_seq INTEGER NOT NULL,
    low       INTEGER NOT NULL,
    medium    INTEGER NOT NULL,
    critical  INTEGER NOT NULL,
    PRIMARY KEY (workspace, batch)
) STRICT, WITHOUT ROWID;

CREATE INDEX outstanding_by_age ON outstanding (workspace, first_seq);

-- Missions that cannot go on until a reviewer decides.
CREATE TABLE blocked (
    workspace TEXT NOT NULL,
    mission   TEXT NOT NULL,
    pending   INTEGER NOT NULL,
    PRIMARY KEY (workspace, mission)
) STRICT, WITHOUT ROWID;

-- Pending actions by agent and tool.
CREATE TABLE waiting (
    workspace TEXT NOT NULL,
    -- Empty where the action names none.
    agent     TEXT NOT NULL,
    tool      TEXT NOT NULL,
    pending   INTEGER NOT NULL,
    -- Those that are high-risk.
    high      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, agent, tool)
) STRICT, WITHOUT ROWID;

-- Actions by status; `heads` counts the pending ones.
CREATE TABLE states (
    workspace TEXT NOT NULL,
    status    TEXT NOT NULL,
    actions   INTEGER NOT NULL,
    PRIMARY KEY (workspace, status)
) STRICT, WITHOUT ROWID;

-- One row per minute in which something happened, by agent and tool. Kept for 48 hours (src/gate/reconcile.rs).
CREATE TABLE flows (
    workspace TEXT NOT NULL,
    -- Since 1970-01-01T00:00Z.
    minute    INTEGER NOT NULL,
    agent     TEXT NOT NULL,
    tool      TEXT NOT NULL,
    arrived   INTEGER NOT NULL,
    -- Including the edited ones.
    approved  INTEGER NOT NULL,
    edited    INTEGER NOT NULL,
    rejected  INTEGER NOT NULL,
    -- Expired, withdrawn, superseded.
    gone      INTEGER NOT NULL,
    executed  INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    unknown   INTEGER NOT NULL,
    PRIMARY KEY (workspace, minute, agent, tool)
) STRICT, WITHOUT ROWID;

-- What to tell callbacks: one row per change, written in its transaction and sent again until it arrives, for a day.
CREATE TABLE callbacks (
    workspace   TEXT NOT NULL,
    -- Of the change.
    revision    INTEGER NOT NULL,
    -- The same in every attempt.
    id          TEXT NOT NULL,
    -- Of the callback's table in the configuration.
    name        TEXT NOT NULL,
    action      TEXT NOT NULL,
    status      TEXT NOT NULL,
    -- Who decided.
    who         TEXT,
    at          INTEGER NOT NULL,
    traceparent TEXT,
    -- Attempts that began; each has a lease of its own.
    tries       INTEGER NOT NULL DEFAULT 0,
    -- Time of the next attempt, or the end of the current attempt's lease. NULL: finished.
    next_at     INTEGER,
    -- Of the last attempt. NULL in a finished row: it arrived.
    error       TEXT,
    ended_at    INTEGER,
    -- The receiver asked for this much time (Retry-After): until then, no message is sent to it.
    held_until  INTEGER,
    PRIMARY KEY (workspace, revision)
) STRICT, WITHOUT ROWID;

CREATE INDEX callbacks_due ON callbacks (name, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX callbacks_waiting ON callbacks (at) WHERE next_at IS NOT NULL;
CREATE INDEX callbacks_held ON callbacks (name, held_until) WHERE held_until IS NOT NULL;
CREATE INDEX callbacks_over ON callbacks (ended_at) WHERE ended_at IS NOT NULL;
