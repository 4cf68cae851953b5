//! The watch view: figures for team leads. Does not decide anything.

pub(crate) mod chart;
pub(crate) mod events_view;
pub(crate) mod layout;
pub(crate) mod panels;
pub(crate) mod queues_view;
pub(crate) mod rows;
pub(crate) mod state;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod words;
