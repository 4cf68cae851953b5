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

use crate::config::{self, Config};
use crate::domain::Check;
use crate::inbox::filter::{Filter, FilterError};

mod clock;
pub mod command;
mod effects;
mod ending;
mod export;
mod find;
mod host;
pub mod keymap;
mod keys;
mod keys_page;
mod layout;
mod looked;
pub mod model;
pub mod msg;
mod outside;
mod page;
pub mod plain;
mod program;
mod replies;
mod run;
mod steady;
mod terminal;
pub mod theme;
pub mod update;
pub mod view;

/// For tests and fuzzers alone.
#[cfg(any(test, fuzzing))]
#[cfg_attr(fuzzing, expect(dead_code, reason = "tests press keys by name, a fuzzer does not"))]
pub mod desk;
#[cfg(test)]
mod tests;

pub use keymap::KeymapError;
pub use keys_page::{KeysEntry, KeysSection, keys_page, presets};
pub use model::Opens;
pub use run::{Left, LeftBy, run};
pub use terminal::NoTerminal;
pub use theme::ThemeError;

/// Is there a terminal to draw on? Asked before anything is opened.
pub fn check_terminal(opens: Opens) -> Result<(), NoTerminal> {
    terminal::check(opens)
}

/// What the environment says about the terminal, for `placet doctor`. `is_terminal`: output goes to one.
pub fn check_host(
    keyboard: config::Keyboard,
    variable: impl Fn(&str) -> Option<String>,
    is_terminal: bool,
) -> Vec<Check> {
    looked::checks(keyboard, variable, is_terminal)
}

/// Do the keys of the configuration make sense?
pub fn check_keys(config: &Config) -> Result<(), KeymapError> {
    keymap::Keymap::new(&config.keys).map(drop)
}

/// Can its theme be used?
pub fn check_theme(config: &Config) -> Result<(), ThemeError> {
    theme::Theme::load(&config.ui.theme, theme::Depth::Full).map(drop)
}

/// How the list begins, and the filters that have names. Fails where one of them cannot be read.
fn triage(config: &Config) -> Result<model::Triage, SavedFilterError> {
    let filters = config.filters.iter().map(|named| {
        let wrong = |error| SavedFilterError { name: named.name.clone(), error };
        let filter = Filter::parse(&named.text).map_err(wrong)?;
        Ok(model::SavedFilter { name: named.name.clone(), filter })
    });
    Ok(model::Triage {
        group: match config.ui.group {
            config::GroupBy::Batch => model::GroupBy::Batch,
            config::GroupBy::Mission => model::GroupBy::Mission,
            config::GroupBy::Checkpoint => model::GroupBy::Checkpoint,
            config::GroupBy::Agent => model::GroupBy::Agent,
            config::GroupBy::Source => model::GroupBy::Source,
            config::GroupBy::Shape => model::GroupBy::Shape,
        },
        sort: match config.ui.sort {
            config::SortBy::Age => model::SortBy::Age,
            config::SortBy::Risk => model::SortBy::Risk,
            config::SortBy::Expiry => model::SortBy::Expiry,
            config::SortBy::Tool => model::SortBy::Tool,
            config::SortBy::Source => model::SortBy::Source,
        },
        filters: filters.collect::<Result<_, _>>()?,
    })
}

/// Can the saved filters of the configuration be read?
pub fn check_filters(config: &Config) -> Result<(), SavedFilterError> {
    triage(config).map(drop)
}

/// A saved filter that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the saved filter {name:?}: {error}")]
pub struct SavedFilterError {
    pub name: String,
    pub error: FilterError,
}

/// What the screens say about where they are.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Who decides, as the configuration says it; else empty.
    pub reviewer: String,
    /// Who decides where the source does not say it; may be empty.
    pub login: String,
    /// Where exported reports go.
    pub state: PathBuf,
    /// The gate on this machine, when there is one.
    pub gate: Option<GatePlace>,
    /// `placet demo`: the folder in which executed actions leave their harmless traces.
    pub demo: Option<PathBuf>,
}

/// The embedded gate, for the empty screen's first proposal.
#[derive(Clone, Debug)]
pub struct GatePlace {
    /// Base URL without a trailing slash.
    pub url: String,
    /// It runs in this process, so that quitting ends it; else in another placet.
    pub serving: bool,
    pub workspace: String,
    /// The file with the token that agents propose with.
    pub agent_token: PathBuf,
    pub database: PathBuf,
}
