//! The tables of a gate's database, the same on SQLite and PostgreSQL.

#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// Its primary key. Rows are read and copied in this order, which is the same on both sides (text by bytes).
    pub(super) key: &'static str,
    pub(super) columns: &'static str,
}

/// All tables, each after those it refers to. `every_table_and_column_of_both_databases_is_carried` compares them with
/// the migrations.
pub(super) const TABLES: [Table; 17] = [
    Table { name: "heads", key: "workspace", columns: "workspace, revision, pending, hash, pruned" },
    Table {
        name: "actions",
        key: "seq",
        columns: "seq, id, workspace, batch, checkpoint, mission, session, run, tool_call, agent, requested_by, proposer, tool, \
                  title, summary, risk, effect, size, digest, status, created_at, expires_at, resolved_at, resolved_by, resolved_via, reason, \
                  effective_digest, decision_revision, fence, lease_until, lease_by, error, executed_at, revision, approved_terms, \
                  renewed_until, callback, traceparent",
    },
    Table {
        name: "payloads",
        key: "seq",
        columns: "seq, input, preview, user_edits, effective_input, result, before",
    },
    Table {
        name: "approvals",
        key: "seq, revision",
        columns: "seq, revision, subject, at, effective_digest, terms, policy, edits",
    },
    Table {
        name: "audit",
        key: "workspace, revision",
        columns: "workspace, revision, action, kind, at, who, details, hash",
    },
    Table {
        name: "replies",
        key: "workspace, subject, key",
        columns: "workspace, subject, key, fingerprint, body, at, action, pruned_at",
    },
    Table {
        name: "pruned_calls",
        key: "workspace, proposer, session, tool_call",
        columns: "workspace, proposer, session, tool_call, digest, pruned_at",
    },
    Table {
        name: "tokens",
        key: "id",
        columns: "id, hash, subject, workspace, scopes, created_at, revoked_at, expires_at, name, groups, last_used_at",
    },
    Table { name: "pauses", key: "workspace", columns: "workspace, at, who" },
    Table {
        name: "outstanding",
        key: "workspace, batch",
        columns: "workspace, batch, tool, mission, pending, first_seq, low, medium, critical",
    },
    Table { name: "states", key: "workspace, status", columns: "workspace, status, actions" },
    Table { name: "blocked", key: "workspace, mission", columns: "workspace, mission, pending" },
    Table {
        name: "waiting",
        key: "workspace, agent, tool",
        columns: "workspace, agent, tool, pending, high",
    },
    Table {
        name: "flows",
        key: "workspace, minute, agent, tool",
        columns: "workspace, minute, agent, tool, arrived, approved, edited, rejected, gone, executed, failed, unknown",
    },
    Table {
        name: "callbacks",
        key: "workspace, revision",
        columns: "workspace, revision, id, name, action, status, who, at, traceparent, tries, next_at, error, ended_at, held_until",
    },
    Table { name: "claims", key: "workspace, action", columns: "workspace, action, who, since, until" },
    Table {
        name: "proxied",
        key: "workspace, subject",
        columns: "workspace, subject, name, groups, scopes, seen_at",
    },
];

impl Table {
    pub(super) fn backwards(&self) -> String {
        self.key.split(", ").map(|column| format!("{column} DESC")).collect::<Vec<_>>().join(", ")
    }

    /// Returns one placeholder per key column.
    pub(super) fn places(&self) -> String {
        self.key.split(", ").map(|_| "?").collect::<Vec<_>>().join(", ")
    }
}
