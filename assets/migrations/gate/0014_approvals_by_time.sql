-- Who approved of late, where more than one person must: counted for a lead.
CREATE INDEX approvals_by_time ON approvals (at);
