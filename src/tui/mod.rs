//! The screens: the inbox in a terminal.
//!
//! The Elm Architecture with rooms. A key or an answer is a [`msg::Msg`]; [`update::update`] takes it, changes the
//! [`model::Model`], and says what to ask of the world ([`msg::Effect`]); [`view::view`] draws the model. Both are pure: no
//! clock, no channel, no terminal. [`run`] owns those, performs the effects and answers with messages, so the screen never
//! waits for a source.
//!
//! What it holds to: no key in the list sends anything; the cursor and the marks are identities; arrivals never move the row
//! under the cursor; foreign text is drawn only as [`crate::text::Shown`].

use std::path::PathBuf;

pub mod command;
mod effects;
pub mod keymap;
mod layout;
pub mod model;
pub mod msg;
mod page;
mod run;
mod terminal;
mod theme;
pub mod update;
pub mod view;

#[cfg(test)]
mod tests;

pub use run::{Left, LeftBy, run};

/// What the screens say about where they are.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Who decides, as the review sheet says it.
    pub reviewer: String,
    /// The gate that runs inside this process, when there is one: quitting ends it.
    pub gate: Option<GatePlace>,
    /// `placet demo`: the folder in which executed actions leave their harmless traces.
    pub demo: Option<PathBuf>,
}

/// The embedded gate, for the empty screen's first proposal.
#[derive(Clone, Debug)]
pub struct GatePlace {
    /// Base URL without a trailing slash.
    pub url: String,
    pub workspace: String,
    /// The file with the token that agents propose with.
    pub agent_token: PathBuf,
    pub database: PathBuf,
}
