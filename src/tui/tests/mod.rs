//! Tests that send keys and check screens, state and effects, without a terminal, clock or sleep. Folders as in `src/tui`.

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
