//! The inbox's database: staged decisions, what was seen, what was sent, and what became of it. It survives a crash.
//!
//! One SQLite file; every call returns when its words are on disk. Two inboxes on one journal are safe: each running inbox
//! works at a desk of its own, and takes over desks and unsettled submissions only from inboxes that are gone.

mod beside;
mod draft_store;
mod held;
mod minutes;
mod owner;
mod receipt;
mod shape;
mod snooze;
mod state;
mod submission_record;
#[cfg(test)]
mod tests;
mod verify;

pub use beside::kept_filters;
pub use receipt::{Field, Receipt};
pub use shape::LastSeen;
pub use state::{EditText, Journal, JournalError, KeptFilter, Learned, Restored, Snooze, Write};
pub use submission_record::{NO_ANSWER, Sent, State, SubmissionRecord};
pub use verify::{Checked, Head, SavedHead};
