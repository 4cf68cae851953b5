-- Where more than one person must approve an action: those whose approvals it has, of one content. The action stays pending until the last.
CREATE TABLE approvals (
    seq              INTEGER NOT NULL REFERENCES actions (seq),
    -- Under which it was given.
    revision         INTEGER NOT NULL,
    -- Of the token of who approved.
    subject          TEXT NOT NULL,
    at               INTEGER NOT NULL,
    -- Of what would run, and what else was agreed to. One under other terms counts no more.
    effective_digest TEXT NOT NULL,
    terms            TEXT NOT NULL,
    -- Of the tool then: a list tells by it what counts, without reading the action.
    policy           TEXT NOT NULL,
    -- What of the input they changed; NULL: nothing.
    edits            TEXT,
    PRIMARY KEY (seq, revision)
) STRICT, WITHOUT ROWID;
