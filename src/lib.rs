//! placet: a terminal inbox where people approve, edit or exclude what AI agents propose to write, before it lands.
//!
//! The modules ("rooms") are layered in floors; each imports lower floors only (`tests/fast/tidy.rs`, ARCHITECTURE.md).
//! They are private, so the compiler finds unused code. The binary needs only [`run`].
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

// Floor 0: rules (no I/O, clock, async or serde), kill points for tests, private files.
mod domain;
mod fault;
mod private;
// Floor 1: building blocks that do not import each other.
mod clock;
mod config;
mod contract;
mod net;
mod program;
mod schema;
mod sqlite;
mod text;
// Floor 2: backends and databases.
mod gate;
mod journal;
mod sources;
// Floor 3: reviewing without a screen; the agent's side.
mod agent;
mod inbox;
// Floor 4: user interfaces that do not import each other.
mod cli;
mod tui;
// Floor 5: startup.
mod start;
// Outside the floors: seeds for randomised tests.
#[cfg(test)]
mod rounds;
// For tests and fuzzers only.
#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use start::run;

/// Items for `tests/` and `benches/`, without any promise. Listed items count as used, so list items, not modules.
#[doc(hidden)]
pub mod for_tests {
    pub use crate::cli::gate::GateCommand;
    pub use crate::cli::{Args, Command};
    pub use crate::clock::now;
    pub use crate::config::{
        Dendrux, Executor, GateConfig, Limits, PostgresConfig, Retry, RiskApprovals, SourceConfig,
        SourceKind, TokenFrom, ToolConfig,
    };
    pub use crate::contract::fields::Fields;
    pub use crate::contract::tool::Language;
    pub use crate::domain::{
        ActionKey, BatchKey, Decision, EditError, Edits, Entry, FactValue, Outcome, RawJson, Refusal,
        SourceName, Staged, Status, SubmissionId, Timestamp, Untrusted, Verdict, changed_keys, freeze, merge,
    };
    pub use crate::fault::{CALLBACK, GATE, INBOX, SCREEN};
    pub use crate::gate::Gate;
    pub use crate::inbox::{Connection, EventKind, Inbox, Rows};
    pub use crate::journal::Journal;
    pub use crate::program::supervisor::use_placet;
    pub use crate::sources::{AgentClient, open};
    pub use crate::text::lines;
    pub use crate::tui::bench::{List, Pages, paint};
    pub use crate::tui::review_words;
    pub use crate::tui::{COMMANDS, Group};

    pub mod json {
        pub use crate::domain::json::{compact, duplicate_keys, elements, encode, members, pretty};
    }
}
