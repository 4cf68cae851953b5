-- How many actions are in each status but pending, which heads has: who asks for figures reads this and never counts the history.

CREATE TABLE states (
    workspace TEXT COLLATE "C" NOT NULL,
    status    TEXT COLLATE "C" NOT NULL,
    actions   BIGINT NOT NULL,
    PRIMARY KEY (workspace, status)
);

INSERT INTO states SELECT workspace, status, COUNT(*) FROM actions WHERE status <> 'pending' GROUP BY 1, 2;

-- Lists of everything that one mission, session, run, agent or tool proposed, or of one risk, newest first. What never changes of a row
-- costs only once, when it arrives.
CREATE INDEX actions_of_mission ON actions (workspace, mission, seq) WHERE mission IS NOT NULL;
CREATE INDEX actions_of_session ON actions (workspace, session, seq) WHERE session IS NOT NULL;
CREATE INDEX actions_of_run ON actions (workspace, run, seq) WHERE run IS NOT NULL;
CREATE INDEX actions_of_agent ON actions (workspace, agent, seq) WHERE agent IS NOT NULL;
CREATE INDEX actions_of_tool ON actions (workspace, tool, seq);
CREATE INDEX actions_of_risk ON actions (workspace, risk, seq);
