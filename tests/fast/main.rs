//! Quick tests of what the rooms promise together: the house's own rules, the documents, the command line.
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
mod run;
mod tidy;
mod words;
