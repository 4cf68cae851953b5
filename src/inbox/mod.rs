//! The actions of a reviewer, for every user interface: reading several sources as one, watching, submitting,
//! following and reconciling.

mod claims;
mod core;
mod decided_before;
mod decision_history;
mod event;
pub mod figures;
pub mod filter;
mod follow;
mod handed_over;
mod list;
mod lost;
mod lost_decisions;
mod names;
pub mod notices;
pub mod notify;
mod pace;
mod problem;
mod question;
mod ran_lately;
mod reconcile;
mod report_json;
mod resolve_unknown;
pub mod shift;
mod submit;
#[cfg(test)]
mod tests;
mod timeouts;
mod tools;
mod watch;

pub use self::core::Inbox;
pub use crate::sources::{Connection, EventKind};
pub use decided_before::{DecidedBefore, LATELY};
#[cfg(test)]
pub use decision_history::Listing;
pub use decision_history::{History, Next, SentHere};
pub use event::Event;
pub use handed_over::{HandedOver, Left, WhyLeft};
pub use list::{Rows, Synced};
pub use names::Names;
pub(crate) use pace::GRACE;
pub use problem::Problem;
pub use question::{Answer, Question};
pub use ran_lately::{DAY, Ran};
pub use reconcile::Reconciled;
pub use report_json::report_json;
pub use submit::{Sending, with_edited_titles};
pub(crate) use timeouts::in_time;
pub use tools::Tool;
