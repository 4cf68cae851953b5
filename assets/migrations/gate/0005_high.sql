-- How many of what waits are high-risk, by who proposes and what: a status line reads this and never counts the queue.

ALTER TABLE waiting ADD COLUMN high INTEGER NOT NULL DEFAULT 0;

UPDATE waiting SET high = counted.high
    FROM (SELECT workspace, COALESCE(agent, '') AS agent, tool, SUM(risk NOT IN ('low', 'medium')) AS high
          FROM actions WHERE status = 'pending' GROUP BY 1, 2, 3) AS counted
    WHERE waiting.workspace = counted.workspace AND waiting.agent = counted.agent AND waiting.tool = counted.tool;

DROP TRIGGER actions_wait;
CREATE TRIGGER actions_wait AFTER INSERT ON actions WHEN NEW.status = 'pending'
BEGIN
    INSERT INTO waiting VALUES (NEW.workspace, COALESCE(NEW.agent, ''), NEW.tool, 1, NEW.risk NOT IN ('low', 'medium'))
    ON CONFLICT (workspace, agent, tool) DO UPDATE SET pending = pending + 1, high = high + excluded.high;
END;

DROP TRIGGER actions_wait_no_more;
CREATE TRIGGER actions_wait_no_more AFTER UPDATE OF status ON actions
    WHEN OLD.status = 'pending' AND NEW.status <> 'pending'
BEGIN
    DELETE FROM waiting
    WHERE workspace = NEW.workspace AND agent = COALESCE(NEW.agent, '') AND tool = NEW.tool AND pending = 1;
    UPDATE waiting SET pending = pending - 1, high = high - (NEW.risk NOT IN ('low', 'medium'))
    WHERE workspace = NEW.workspace AND agent = COALESCE(NEW.agent, '') AND tool = NEW.tool;
END;
