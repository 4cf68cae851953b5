//! The preview: the action under the cursor in full, and how much of it was on screen for how long.

pub(crate) mod links_sheet;
pub(crate) mod page;
pub(crate) mod reader;
pub(crate) mod reading_time;
pub(crate) mod search;
pub(crate) mod state;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod words;
