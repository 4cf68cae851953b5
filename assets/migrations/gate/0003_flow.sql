-- The third storey: how actions come and go, counted minute by minute, so that all who watch see the same.

-- One row a minute in which something happened, by who proposes and what. Kept for 48 hours (src/gate/reconcile.rs).
CREATE TABLE flows (
    workspace TEXT NOT NULL,
    -- Since 1970-01-01T00:00Z.
    minute    INTEGER NOT NULL,
    -- Empty where the action names none.
    agent     TEXT NOT NULL,
    tool      TEXT NOT NULL,
    arrived   INTEGER NOT NULL,
    -- With those that were edited.
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

-- What waits now, by the same.
CREATE TABLE waiting (
    workspace TEXT NOT NULL,
    agent     TEXT NOT NULL,
    tool      TEXT NOT NULL,
    pending   INTEGER NOT NULL,
    PRIMARY KEY (workspace, agent, tool)
) STRICT, WITHOUT ROWID;

-- Who decided, newest first. Nobody decides their own proposal: who settles it is then no reviewer, but takes it back.
CREATE INDEX actions_by_decision ON actions (workspace, resolved_at) WHERE resolved_by <> proposer;

-- What happened is counted where it is written down: the audit has one row for it, with its moment by the gate's clock. The row
-- of the action has no moment for what became unknown, and says `approved` a second time of what is run again.
CREATE TRIGGER audit_is_counted AFTER INSERT ON audit WHEN NEW.action IS NOT NULL
    AND NEW.kind NOT IN ('dispatched', 'requeued')
BEGIN
    INSERT INTO flows
        SELECT NEW.workspace, NEW.at / 60000, COALESCE(agent, ''), tool,
               NEW.kind = 'created', NEW.kind = 'approved',
               NEW.kind = 'approved' AND COALESCE(effective_digest, digest) <> digest, NEW.kind = 'rejected',
               NEW.kind IN ('expired', 'withdrawn', 'superseded'),
               NEW.kind = 'executed' OR (NEW.kind = 'settled' AND status = 'executed'),
               NEW.kind = 'failed' OR (NEW.kind = 'settled' AND status = 'failed'),
               NEW.kind = 'lost'
        FROM actions WHERE id = NEW.action AND (NEW.kind <> 'settled' OR status <> 'approved')
    ON CONFLICT (workspace, minute, agent, tool) DO UPDATE SET
        arrived = arrived + excluded.arrived, approved = approved + excluded.approved,
        edited = edited + excluded.edited, rejected = rejected + excluded.rejected, gone = gone + excluded.gone,
        executed = executed + excluded.executed, failed = failed + excluded.failed,
        unknown = unknown + excluded.unknown;
END;

CREATE TRIGGER actions_wait AFTER INSERT ON actions WHEN NEW.status = 'pending'
BEGIN
    INSERT INTO waiting VALUES (NEW.workspace, COALESCE(NEW.agent, ''), NEW.tool, 1)
    ON CONFLICT (workspace, agent, tool) DO UPDATE SET pending = pending + 1;
END;

CREATE TRIGGER actions_wait_no_more AFTER UPDATE OF status ON actions
    WHEN OLD.status = 'pending' AND NEW.status <> 'pending'
BEGIN
    DELETE FROM waiting
    WHERE workspace = NEW.workspace AND agent = COALESCE(NEW.agent, '') AND tool = NEW.tool AND pending = 1;
    UPDATE waiting SET pending = pending - 1
    WHERE workspace = NEW.workspace AND agent = COALESCE(NEW.agent, '') AND tool = NEW.tool;
END;

INSERT INTO waiting
    SELECT workspace, COALESCE(agent, ''), tool, COUNT(*) FROM actions WHERE status = 'pending' GROUP BY 1, 2, 3;

-- The last 48 hours in which anything happened. A row of the audit says what a settled action was settled as; it may have gone on
-- since.
INSERT INTO flows
    SELECT h.workspace, h.at / 60000, COALESCE(a.agent, ''), a.tool,
           SUM(h.kind = 'created'), SUM(h.kind = 'approved'),
           SUM(h.kind = 'approved' AND COALESCE(a.effective_digest, a.digest) <> a.digest), SUM(h.kind = 'rejected'),
           SUM(h.kind IN ('expired', 'withdrawn', 'superseded')),
           SUM(h.kind = 'executed' OR (h.kind = 'settled' AND COALESCE(h.details, '') LIKE '{"status":"executed"%')),
           SUM(h.kind = 'failed' OR (h.kind = 'settled' AND COALESCE(h.details, '') LIKE '{"status":"failed"%')),
           SUM(h.kind = 'lost')
    FROM audit h JOIN actions a ON a.id = h.action
    WHERE h.at > (SELECT MAX(at) FROM audit) - 172800000 AND h.kind NOT IN ('dispatched', 'requeued')
    GROUP BY 1, 2, 3, 4;
