//! placet: a terminal inbox where people approve, edit or exclude what AI agents propose to write, before it lands.
//!
//! The rooms of this house stand on floors, and a room imports lower floors only (held by `tests/fast/tidy.rs`).
//! ARCHITECTURE.md is the map.
//!
//! The rooms are private, so the compiler finds what nobody uses. The binary needs [`run`] alone.
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

// Floor 0: words and rules (no I/O, no clock, no async, no serde); points at which tests kill the process; private files.
mod domain;
mod fault;
mod private;
// Floor 1: one skill each, never each other.
mod config;
mod contract;
mod net;
mod program;
mod schema;
mod sqlite;
mod text;
// Floor 2: the world, translated.
mod gate;
mod journal;
mod sources;
// Floor 3: what a reviewer does, whatever the screen; what an agent does, whatever it is.
mod agent;
mod inbox;
// Floor 4: shells, never each other.
mod cli;
mod tui;
// Floor 5: the way in.
mod start;
// Beside the house: where the chance of randomised tests comes from.
#[cfg(test)]
mod rounds;
// For tests and fuzzers alone.
#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use start::run;

/// What `tests/` and `benches/` use of the rooms. Nothing else may, and it promises nothing.
///
/// An item that stands here counts as used, so list items, not rooms.
#[doc(hidden)]
pub mod for_tests {
    pub use crate::cli::args::{Args, Command, GateCommand};
    pub use crate::config::{
        Dendrux, Executor, GateConfig, Limits, PostgresConfig, Retry, RiskApprovals, SourceConfig,
        SourceKind, TokenFrom, ToolConfig,
    };
    pub use crate::contract::fields::Fields;
    pub use crate::contract::time::now;
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
