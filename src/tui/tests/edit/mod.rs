//! Changing an input before it is approved.

pub(crate) mod bulk;
pub(crate) mod editing;
pub(crate) mod merging;
