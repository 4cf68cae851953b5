//! The inbox in words, for screen readers, braille displays, dumb terminals and transcripts: `placet --plain`.
//!
//! A second view on the same [`Model`](crate::tui::core::model::Model), with the same `update` and the same effects: guards, drafts, journal,
//! review and following are the code of the screen. What differs is at the edges: lines of typed words come in (a word is a
//! [`Command`](crate::tui::core::command::Command), or a value given at once: [`Intent`](crate::tui::core::msg::Intent)), and lines of text go out. Nothing is redrawn,
//! no escape code is written, and the terminal stays as it is.
//!
//! What it holds to: a decision is about the action that was read out last, and comes in a line that was typed after it; only
//! the exact answer to the question of a review sends; what arrives by itself is told between answers, never inside one.

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
