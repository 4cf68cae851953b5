//! Plain mode: lines in, lines out. No terminal, no clock, no sleeping.

pub(crate) mod figures;
pub(crate) mod guards;
pub(crate) mod talk;
pub(crate) mod words;
