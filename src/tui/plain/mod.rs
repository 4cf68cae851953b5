//! The inbox as lines of text, for screen readers, braille displays, dumb terminals and transcripts: `placet --plain`.
//!
//! A second view on the same [`Model`](crate::tui::core::model::Model), with the same `update` and effects. Each typed
//! word is a [`Command`](crate::tui::core::command::Command) or an [`Intent`](crate::tui::core::msg::Intent); the
//! output is text without escape codes, and nothing is redrawn.
//!
//! Rules: a decision applies to the action read out last, and only in a line typed afterwards. Only the exact answer to
//! the review's question sends. News is printed between answers, never inside one.

pub(crate) mod browse;
pub(crate) mod decide;
pub(crate) mod edit;
pub(crate) mod figures;
pub(crate) mod news;
pub(crate) mod read;
pub(crate) mod run;
pub(crate) mod sentences;
pub(crate) mod session;
pub(crate) mod submit;
pub(crate) mod talk;
pub(crate) mod words;
