-- Agents that come back: leases that are renewed, calls that are known by their ids, keys that live as long as their action.

-- Until when its holder renewed the lease of a running action. `lease_until` stays what the audit has it to be.
ALTER TABLE actions ADD COLUMN renewed_until INTEGER;

-- An agent's own id of a call, in its session.
CREATE INDEX actions_by_call ON actions (workspace, proposer, session, tool_call)
    WHERE session IS NOT NULL AND tool_call IS NOT NULL;

-- The action that a proposal was recorded as: its key is kept as long as it, and as a tombstone for a while after it was pruned.
ALTER TABLE replies ADD COLUMN action TEXT;
ALTER TABLE replies ADD COLUMN pruned_at INTEGER;

-- The answer to a proposal is made of the action's id. Those that went already are tombstones from now on.
UPDATE replies SET action = json_extract(body, '$.pending_action_id'), body = ''
    WHERE body LIKE '{"status":"queued"%' AND json_valid(body);
UPDATE replies SET pruned_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)
    WHERE action IS NOT NULL AND NOT EXISTS (SELECT 1 FROM actions WHERE id = replies.action);

DROP INDEX replies_by_age;
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
