-- Where more than one person must approve an action: those whose approvals it has, of one content. The action stays pending until the last.
CREATE TABLE approvals (
    seq              BIGINT NOT NULL REFERENCES actions (seq),
    -- Under which it was given.
    revision         BIGINT NOT NULL,
    -- Of the token of who approved.
    subject          TEXT COLLATE "C" NOT NULL,
    at               BIGINT NOT NULL,
    -- Of what would run, and what else was agreed to. One under other terms counts no more.
    effective_digest TEXT COLLATE "C" NOT NULL,
    terms            TEXT COLLATE "C" NOT NULL,
    -- Of the tool then: a list tells by it what counts, without reading the action.
    policy           TEXT COLLATE "C" NOT NULL,
    -- What of the input they changed; NULL: nothing.
    edits            TEXT COLLATE "C",
    PRIMARY KEY (seq, revision)
);
