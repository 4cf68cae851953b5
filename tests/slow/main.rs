//! Tests of the real binary: pseudo-terminals, killed processes, real servers on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod attached;
mod bridge;
mod busy;
mod callbacks;
mod command_line;
mod completions;
mod demo;
mod dendrux;
mod doctor;
mod drills;
mod editor;
mod exits;
mod files;
mod hook;
mod hostile;
mod job;
mod json;
mod killed;
mod killed_inbox;
mod killed_net;
mod logs;
mod mcp;
#[path = "../oracle/mod.rs"]
mod oracle;
mod pictures;
mod plain;
mod plans;
mod postgres_password;
mod proxied;
mod quiet;
mod receipts;
mod secrets;
mod several_urls;
mod stray;
mod support;
mod team;
mod terminal;
mod unknown;
mod watch;
mod wordpress;
