//! Keys in; screens, state and effects out. No terminal, no clock, no sleeping.
//! A folder for each folder of `src/tui`; what spans them stands here.

pub(crate) mod chrome;
pub(crate) mod claims;
pub(crate) mod continuity;
pub(crate) mod dashboard;
pub(crate) mod decide;
pub(crate) mod edit;
pub(crate) mod effects;
pub(crate) mod history;
pub(crate) mod hostile;
pub(crate) mod keystrokes;
mod people;
pub(crate) mod plain;
pub(crate) mod preview;
pub(crate) mod queue;
pub(crate) mod snooze;
pub(crate) mod stray;
pub(crate) mod submit;
