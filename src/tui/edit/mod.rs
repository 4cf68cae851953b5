//! The edit form, for one action and for several.

pub(crate) mod bulk;
pub(crate) mod field;
pub(crate) mod form;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod words;
