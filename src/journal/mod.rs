//! The inbox's database, one SQLite file: drafts, seen content, submissions, outcomes and receipts. A write is on disk
//! when its call returns. Several inboxes can share a journal: each has its own desk, and takes over desks and
//! unsettled submissions only from runs that have ended.

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
pub use submission_record::{Sent, State, SubmissionRecord};
pub use verify::{Checked, SavedHead};
