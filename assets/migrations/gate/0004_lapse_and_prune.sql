-- The fourth storey: approvals that nobody takes lapse, settled actions are pruned, a stream may be about one mission.

-- When this version first opened the database: an approval from before has its whole time from then on.
CREATE TABLE begun (
    what TEXT NOT NULL PRIMARY KEY,
    at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO begun VALUES ('lapse', CAST(unixepoch('subsec') * 1000 AS INTEGER));

-- Approved, and never claimed.
CREATE INDEX actions_unclaimed ON actions (resolved_at) WHERE status = 'approved' AND fence = 0;
CREATE INDEX actions_by_mission ON actions (workspace, mission) WHERE status = 'pending' AND mission IS NOT NULL;
-- Settled for good, in the order in which they were.
CREATE INDEX actions_settled ON actions (workspace, revision)
    WHERE status IN ('rejected', 'executed', 'failed', 'expired', 'withdrawn', 'superseded');

-- The revision under which actions were pruned last; 0: never. Changes from before it cannot be told.
ALTER TABLE heads ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
