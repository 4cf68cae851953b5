//! Editing an input before approval.

pub(crate) mod bulk;
pub(crate) mod editing;
pub(crate) mod merging;
pub(crate) mod titles;
