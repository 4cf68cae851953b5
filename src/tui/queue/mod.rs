//! The queue: the rows of pending actions, their order, groups and filter, and the changes that sources report.

pub(crate) mod arrange;
pub(crate) mod counts;
pub(crate) mod elsewhere;
pub(crate) mod filter;
pub(crate) mod filter_state;
pub(crate) mod groups;
pub(crate) mod incoming;
pub(crate) mod list;
pub(crate) mod marks;
pub(crate) mod places;
pub(crate) mod same;
pub(crate) mod saved_filters;
pub(crate) mod shape;
pub(crate) mod slots;
pub(crate) mod sort;
pub(crate) mod state;
pub(crate) mod sync;
pub(crate) mod tally;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod words;
