//! The action under the cursor in full: its pages, what was read of them, and for how long.

pub(crate) mod page;
pub(crate) mod reader;
pub(crate) mod reading_time;
pub(crate) mod search;
pub(crate) mod state;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod words;
