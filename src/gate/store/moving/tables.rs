//! The tables of a gate's database, the same on SQLite and PostgreSQL. Each side names their columns itself.

#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// Its primary key. Rows are read and copied in this order, which is the same on both sides (text by bytes).
    pub(super) key: &'static str,
}

/// All tables, each after those it refers to. `every_table_and_column_of_both_databases_is_carried` compares them with
/// the migrations.
pub(super) const TABLES: [Table; 17] = [
    Table { name: "heads", key: "workspace" },
    Table { name: "actions", key: "seq" },
    Table { name: "payloads", key: "seq" },
    Table { name: "approvals", key: "seq, revision" },
    Table { name: "audit", key: "workspace, revision" },
    Table { name: "replies", key: "workspace, subject, key" },
    Table { name: "pruned_calls", key: "workspace, proposer, session, tool_call" },
    Table { name: "tokens", key: "id" },
    Table { name: "pauses", key: "workspace" },
    Table { name: "outstanding", key: "workspace, batch" },
    Table { name: "states", key: "workspace, status" },
    Table { name: "blocked", key: "workspace, mission" },
    Table { name: "waiting", key: "workspace, agent, tool" },
    Table { name: "flows", key: "workspace, minute, agent, tool" },
    Table { name: "callbacks", key: "workspace, revision" },
    Table { name: "claims", key: "workspace, action" },
    Table { name: "proxied", key: "workspace, subject" },
];

impl Table {
    pub(super) fn backwards(&self) -> String {
        self.key.split(", ").map(|column| format!("{column} DESC")).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn places(&self) -> String {
        self.key.split(", ").map(|_| "?").collect::<Vec<_>>().join(", ")
    }
}
