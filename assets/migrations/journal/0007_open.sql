-- A submission stays open while a decision in it is accepted and not settled, too. Only retries are done with that.
UPDATE submission SET state = 'open' WHERE state = 'done' AND EXISTS (
    SELECT 1 FROM item
    WHERE item.submission = submission.id AND item.outcome = '"accepted"' AND item.decision NOT LIKE '{"retry"%'
);
-- Decisions are looked for by their action.
CREATE INDEX item_action ON item (source, action);
