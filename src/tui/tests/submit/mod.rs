//! From the review sheet to the report.

pub(crate) mod exporting;
pub(crate) mod holding;
pub(crate) mod judging;
pub(crate) mod reviewing;
pub(crate) mod sending;
pub(crate) mod settling;
pub(crate) mod sheets;
pub(crate) mod unknown;
