//! Commands that are given with an argument.

use super::Place;

/// A command that is given with an argument, in the palette only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    Help,
    Filter,
    Sort,
    Group,
}

/// One row of the table of those. Its body is one line in `update/overlay.rs`.
#[derive(Clone, Copy, Debug)]
pub struct AskSpec {
    pub ask: Ask,
    pub name: &'static str,
    /// Where it can be given.
    pub places: &'static [Place],
    /// What the argument is, for the palette: `WORD`.
    pub argument: &'static str,
    /// All it may be; empty where it is free text.
    pub values: &'static [&'static str],
    pub help: &'static str,
}

#[rustfmt::skip]
pub const ASKS: &[AskSpec] = &[
    AskSpec { ask: Ask::Filter, name: "filter", places: &[Place::Inbox], argument: "TEXT", values: &[], help: "narrow the list to what this finds" },
    AskSpec { ask: Ask::Sort, name: "sort", places: &[Place::Inbox], argument: "BY", values: &["age", "risk", "expiry", "tool", "source"], help: "sort the list" },
    AskSpec { ask: Ask::Group, name: "group", places: &[Place::Inbox], argument: "BY", values: &["batch", "mission", "checkpoint", "agent", "source", "shape"], help: "group the list" },
    AskSpec { ask: Ask::Help, name: "help", places: &[Place::Anywhere], argument: "WORD", values: &[], help: "help on a word or a key" },
];
