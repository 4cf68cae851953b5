//! The inbox in a terminal.
//!
//! The Elm Architecture, one folder per feature. A key or an answer is a `core::msg::Msg`; `core::router::update`
//! changes the `core::model::Model` and returns effects (`core::msg::Effect`); `core::draw::view` draws the model. Both
//! are pure: no clock, no channel, no terminal. [`run`] performs the effects and sends their answers as messages, so
//! the screen never waits.
//!
//! Invariants: no key in the list sends anything; cursor and marks are identities; arrivals never move the row under
//! the cursor; foreign text is drawn only as [`crate::text::Shown`].

/// Defines functions that fill blanks in sentences. Declared first, so that every `words.rs` can use it.
macro_rules! sentences {
    ($($name:ident($($blank:ident: $of:ty),*) => $text:literal;)*) => {
        $(pub(crate) fn $name($($blank: $of),*) -> String {
            format!($text)
        })*
    };
}

pub(crate) mod app;
pub mod bench;
pub(crate) mod chrome;
pub(crate) mod claims;
pub(crate) mod core;
pub(crate) mod dashboard;
pub(crate) mod decide;
pub(crate) mod edit;
pub(crate) mod history;
pub(crate) mod people;
pub(crate) mod plain;
pub(crate) mod preview;
pub(crate) mod queue;
pub(crate) mod snooze;
pub(crate) mod submit;
#[cfg(any(test, fuzzing))]
#[cfg_attr(fuzzing, expect(dead_code, reason = "tests press keys by name, a fuzzer does not"))]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use crate::config;
use crate::config::Config;
use crate::domain::Check;
pub use crate::tui::app::environment::NoTerminal;
pub use crate::tui::app::run::{Left, run};
pub use crate::tui::app::shutdown::LeftBy;
use crate::tui::app::{environment, terminal};
use crate::tui::chrome::theme::Depth;
use crate::tui::chrome::theme::palette::Theme;
pub use crate::tui::chrome::theme::palette::ThemeError;
pub use crate::tui::core::command::{COMMANDS, Group};
use crate::tui::core::keymap::Keymap;
pub use crate::tui::core::keymap::{KeymapError, keys_page, presets};
pub use crate::tui::dashboard::state::StartView;
pub use crate::tui::queue::filter_state::SavedFilterError;
use crate::tui::queue::filter_state::Triage;
/// For tests that read the whole program's screen.
pub use crate::tui::submit::words as review_words;

/// Checks for a terminal before anything is opened.
pub fn check_terminal(opens: StartView) -> Result<(), NoTerminal> {
    terminal::check(opens)
}

/// Returns the terminal checks of `placet doctor`. `screen`: whether the inbox could draw here.
pub fn check_host(
    keyboard: config::Keyboard,
    variable: impl Fn(&str) -> Option<String>,
    screen: Result<(), NoTerminal>,
) -> Vec<Check> {
    environment::checks(keyboard, variable, screen)
}

pub fn check_keys(config: &Config) -> Result<(), KeymapError> {
    Keymap::new(&config.keys).map(drop)
}

pub fn check_theme(config: &Config) -> Result<(), ThemeError> {
    Theme::load(&config.ui.theme, Depth::Full).map(drop)
}

pub fn check_filters(config: &Config) -> Result<(), SavedFilterError> {
    Triage::of(config).map(drop)
}
