//! Deciding: staging and its guards, reasons, turns, and what a source allows.

pub(crate) mod deciding;
pub(crate) mod many;
pub(crate) mod people;
pub(crate) mod reasons;
pub(crate) mod told;
pub(crate) mod turns;
pub(crate) mod unseen;
