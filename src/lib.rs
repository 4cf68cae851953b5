//! placet: a terminal inbox where people approve, edit or exclude what AI agents propose to write, before it lands.
//!
//! The rooms of this house stand on floors, and a room imports lower floors only (held by `tests/fast/tidy.rs`).
//! ARCHITECTURE.md is the map.
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
pub mod domain;
pub mod fault;
pub mod private;
// Floor 1: one skill each, never each other.
pub mod config;
pub mod contract;
pub mod net;
pub mod program;
pub mod schema;
pub mod sqlite;
pub mod text;
// Floor 2: the world, translated.
pub mod gate;
pub mod journal;
pub mod sources;
// Floor 3: what a reviewer does, whatever the screen; what an agent does, whatever it is.
pub mod agent;
pub mod inbox;
// Floor 4: shells, never each other.
pub mod cli;
pub mod tui;
// Floor 5: the way in.
pub mod start;
// Beside the house: where the chance of randomised tests comes from.
#[cfg(test)]
mod rounds;
// For tests and fuzzers alone.
#[cfg(any(test, fuzzing))]
pub mod fuzz;
