//! Reading one action: tabs, folds, colours, comparisons.

pub(crate) mod changed;
pub(crate) mod colours;
pub(crate) mod context;
pub(crate) mod copying;
pub(crate) mod preview_screens;
pub(crate) mod previews;
pub(crate) mod reading;
pub(crate) mod trusted;
pub(crate) mod truth;
