-- The second storey: an audit that shows when it was tampered with, counts that cost nothing, pauses, terms.

-- One row a revision, in the same transaction as what it records: whatever happens in a workspace happens here. Each row's
-- hash covers the row and the hash before it (src/gate/audit has the formula). Rows from before the chain have none.
CREATE TABLE audit (
    workspace TEXT NOT NULL,
    revision  INTEGER NOT NULL,
    action    TEXT,
    kind      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    who       TEXT,
    details   TEXT,
    hash      BLOB,
    PRIMARY KEY (workspace, revision)
) STRICT, WITHOUT ROWID;

INSERT INTO audit (workspace, revision, action, kind, at, who)
    SELECT workspace, revision, action, kind, at, who FROM events;
DROP TABLE events;

CREATE INDEX audit_by_action ON audit (action, revision) WHERE action IS NOT NULL;

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_never_cut BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

-- Of the newest audit row.
ALTER TABLE heads ADD COLUMN hash BLOB;

-- What an approval was given under, besides the bytes; 'unbound' where it is older than this storey.
ALTER TABLE actions ADD COLUMN approved_terms TEXT;
UPDATE actions SET approved_terms = 'unbound' WHERE effective_digest IS NOT NULL;

CREATE INDEX actions_by_checkpoint ON actions (workspace, checkpoint) WHERE checkpoint IS NOT NULL;
CREATE INDEX actions_by_session ON actions (workspace, session) WHERE status = 'pending' AND session IS NOT NULL;
-- A list of everything, newest first.
CREATE INDEX actions_by_workspace ON actions (workspace);
CREATE INDEX actions_outstanding ON actions (workspace, COALESCE(batch, id), seq) WHERE status = 'pending';

ALTER TABLE tokens ADD COLUMN expires_at INTEGER;

-- Nothing is dispatched in a paused workspace; '*' is the whole gate.
CREATE TABLE pauses (
    workspace TEXT NOT NULL PRIMARY KEY,
    at        INTEGER NOT NULL,
    who       TEXT
) STRICT, WITHOUT ROWID;

-- What waits, by batch (an action without one is a batch of its own): a briefing reads this and never counts the queue.
-- Triggers keep it, so that no writer can forget to.
CREATE TABLE outstanding (
    workspace TEXT NOT NULL,
    batch     TEXT NOT NULL,
    tool      TEXT NOT NULL,
    mission   TEXT,
    pending   INTEGER NOT NULL,
    -- The place of the oldest one.
    first_seq INTEGER NOT NULL,
    low       INTEGER NOT NULL,
    medium    INTEGER NOT NULL,
    critical  INTEGER NOT NULL,
    PRIMARY KEY (workspace, batch)
) STRICT, WITHOUT ROWID;

CREATE INDEX outstanding_by_age ON outstanding (workspace, first_seq);

-- Missions that cannot go on until somebody decides.
CREATE TABLE blocked (
    workspace TEXT NOT NULL,
    mission   TEXT NOT NULL,
    pending   INTEGER NOT NULL,
    PRIMARY KEY (workspace, mission)
) STRICT, WITHOUT ROWID;

INSERT INTO outstanding
    SELECT workspace, COALESCE(batch, id), MIN(tool), MIN(mission), COUNT(*), MIN(seq),
           SUM(risk = 'low'), SUM(risk = 'medium'), SUM(risk = 'critical')
    FROM actions WHERE status = 'pending' GROUP BY workspace, COALESCE(batch, id);
INSERT INTO blocked
    SELECT workspace, mission, COUNT(*) FROM actions
    WHERE status = 'pending' AND mission IS NOT NULL GROUP BY workspace, mission;

CREATE TRIGGER actions_arrive AFTER INSERT ON actions WHEN NEW.status = 'pending'
BEGIN
    INSERT INTO outstanding VALUES (NEW.workspace, COALESCE(NEW.batch, NEW.id), NEW.tool, NEW.mission, 1, NEW.seq,
                                    NEW.risk = 'low', NEW.risk = 'medium', NEW.risk = 'critical')
    ON CONFLICT (workspace, batch) DO UPDATE SET
        pending = pending + 1, low = low + excluded.low, medium = medium + excluded.medium,
        critical = critical + excluded.critical;
    INSERT INTO blocked SELECT NEW.workspace, NEW.mission, 1 WHERE NEW.mission IS NOT NULL
    ON CONFLICT (workspace, mission) DO UPDATE SET pending = pending + 1;
END;

CREATE TRIGGER actions_leave AFTER UPDATE OF status ON actions WHEN OLD.status = 'pending' AND NEW.status <> 'pending'
BEGIN
    DELETE FROM outstanding
    WHERE workspace = NEW.workspace AND batch = COALESCE(NEW.batch, NEW.id) AND pending = 1;
    UPDATE outstanding SET
        pending = pending - 1, low = low - (NEW.risk = 'low'), medium = medium - (NEW.risk = 'medium'),
        critical = critical - (NEW.risk = 'critical'),
        first_seq = CASE WHEN first_seq <> NEW.seq THEN first_seq ELSE
            (SELECT MIN(seq) FROM actions WHERE workspace = NEW.workspace
             AND COALESCE(batch, id) = COALESCE(NEW.batch, NEW.id) AND status = 'pending') END
    WHERE workspace = NEW.workspace AND batch = COALESCE(NEW.batch, NEW.id);
    DELETE FROM blocked WHERE workspace = NEW.workspace AND mission = NEW.mission AND pending = 1;
    UPDATE blocked SET pending = pending - 1 WHERE workspace = NEW.workspace AND mission = NEW.mission;
END;
