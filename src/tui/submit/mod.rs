//! Sending decisions: the review, the hold, the report, and unknown outcomes.

pub(crate) mod hold;
mod judging;
pub(crate) mod report;
pub(crate) mod report_view;
pub(crate) mod resolve_unknown;
pub(crate) mod review;
pub(crate) mod review_view;
pub(crate) mod state;
pub mod words;
