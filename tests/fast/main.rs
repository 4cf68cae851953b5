//! Quick tests across rooms: code rules, documents, deployment, and an inbox with a real gate.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod circles;
mod deploy;
mod docs;
mod door;
mod exact;
mod guards;
mod history;
mod past;
mod prose;
mod run;
mod tidy;
mod words;
