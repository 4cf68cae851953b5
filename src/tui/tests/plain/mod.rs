//! Plain mode: lines in, lines out, without a terminal, clock or sleep.

pub(crate) mod figures;
pub(crate) mod guards;
pub(crate) mod talk;
pub(crate) mod words;
