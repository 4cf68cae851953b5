-- What somebody typed as a reason, a comment or guidance; `decision` is which of them: reject, approve, retry.
CREATE TABLE reason_text (
    desk     INTEGER NOT NULL REFERENCES desk (id) ON DELETE CASCADE,
    source   TEXT    NOT NULL,
    action   TEXT    NOT NULL,
    decision TEXT    NOT NULL,
    text     TEXT    NOT NULL,
    PRIMARY KEY (desk, source, action, decision)
) STRICT, WITHOUT ROWID;
