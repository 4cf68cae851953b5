//! The table `[ui]`: appearance and behaviour of the screen.

use std::cmp::{Ordering, Reverse};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use super::check::{Mistakes, unknown};
use crate::domain::{Entry, ReadFirst};

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ui {
    pub glyphs: Glyphs,
    pub density: Density,
    #[serde(skip)]
    pub theme: ThemeChoice,
    #[serde(rename = "theme")]
    theme_name: String,
    /// Delay before confirmed decisions are sent, in which they can be recalled; zero sends at once.
    #[serde(rename = "hold_seconds", deserialize_with = "whole_seconds")]
    pub hold: Duration,
    pub group: GroupBy,
    pub sort: SortBy,
    pub(super) keymap: Preset,
    /// Shows newcomers the first keys.
    pub hints: bool,
    /// Uses wheel and clicks; otherwise the terminal keeps the mouse.
    pub mouse: bool,
    pub title: bool,
    pub notify: Notify,
    notify_command: Vec<String>,
    pub keyboard: Keyboard,
    /// Disables periodic changes on screen.
    pub reduced_motion: bool,
    /// Sixteen colours, ASCII glyphs, five frames per second, previews only on request.
    pub low_bandwidth: bool,
    pub highlight: bool,
    /// Texts that must be read to their end before approval.
    #[serde(with = "ReadBeforeApprove")]
    pub read_before_approve: ReadFirst,
    pub claim: Claiming,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claiming {
    Off,
    /// After ten seconds open.
    Auto,
}

/// Notification of a reviewer who looks elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Notify {
    /// OSC 9 in terminals known to support it, else the bell; both inside tmux.
    Auto,
    Osc9,
    Osc777,
    Osc99,
    Bell,
    /// A program with arguments; it gets the text on standard input.
    Command(#[serde(skip)] Vec<String>),
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keyboard {
    /// The kitty protocol in terminals known to support it.
    Auto,
    Kitty,
    Legacy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThemeChoice {
    /// The terminal's own sixteen colours.
    Terminal,
    /// `Dark` or `Light`, by the terminal's background.
    Auto,
    Dark,
    Light,
    HighContrast,
    ColourBlind,
    ColourBlindLight,
    File(PathBuf),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupBy {
    #[default]
    Batch,
    Mission,
    Checkpoint,
    Agent,
    Source,
    Shape,
}

/// Order of the list. Older actions come first among equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SortBy {
    #[default]
    Age,
    Risk,
    Expiry,
    Tool,
    Source,
}

impl SortBy {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Risk => "risk",
            Self::Expiry => "expiry",
            Self::Tool => "tool",
            Self::Source => "source",
        }
    }

    pub fn compare(self, a: &Entry, b: &Entry) -> Ordering {
        let (one, other) = (&a.row, &b.row);
        let by = match self {
            Self::Age => Ordering::Equal,
            Self::Risk => Reverse(one.risk.rank()).cmp(&Reverse(other.risk.rank())),
            Self::Expiry => (one.expires_at.is_none(), one.expires_at)
                .cmp(&(other.expires_at.is_none(), other.expires_at)),
            Self::Tool => one.tool.cmp(&other.tool),
            Self::Source => a.key.source.cmp(&b.key.source),
        };
        by.then(one.created_at.cmp(&other.created_at))
    }
}

/// Key bindings before `[keys]` applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    #[default]
    Default,
    Vim,
    Web,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Glyphs {
    /// `✓`, `•`, `│`: one column each in every terminal.
    Unicode,
    Ascii,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Density {
    Compact,
    /// A second line shows the agent's reason.
    Comfortable,
}

/// Longest allowed delay before sending.
const HOLD: Duration = Duration::from_mins(1);

#[derive(Deserialize)]
#[serde(remote = "ReadFirst", rename_all = "kebab-case")]
enum ReadBeforeApprove {
    Risky,
    Everything,
}

const THEMES: [(&str, ThemeChoice); 7] = [
    ("terminal", ThemeChoice::Terminal),
    ("auto", ThemeChoice::Auto),
    ("dark", ThemeChoice::Dark),
    ("light", ThemeChoice::Light),
    ("high-contrast", ThemeChoice::HighContrast),
    ("colour-blind", ThemeChoice::ColourBlind),
    ("colour-blind-light", ThemeChoice::ColourBlindLight),
];

impl Default for Ui {
    fn default() -> Self {
        Self {
            glyphs: Glyphs::Unicode,
            density: Density::Compact,
            theme: ThemeChoice::Auto,
            theme_name: "auto".to_owned(),
            hold: Duration::from_secs(3),
            group: GroupBy::Batch,
            sort: SortBy::Age,
            keymap: Preset::Default,
            hints: true,
            mouse: true,
            title: true,
            notify: Notify::Auto,
            notify_command: Vec::new(),
            keyboard: Keyboard::Auto,
            reduced_motion: false,
            low_bandwidth: false,
            highlight: true,
            read_before_approve: ReadFirst::Risky,
            claim: Claiming::Off,
        }
    }
}

impl Ui {
    pub(super) fn validate(mut self, folder: &Path, mistakes: &mut Mistakes) -> Self {
        let theme = ThemeChoice::named(&self.theme_name, folder).map_err(|what| format!("ui.theme: {what}"));
        self.theme = mistakes.take(theme).unwrap_or(ThemeChoice::Auto);
        if self.hold > HOLD {
            mistakes.0.push(format!("ui.hold_seconds must be 0 to {}", HOLD.as_secs()));
        }
        let command = std::mem::take(&mut self.notify_command);
        self.notify = mistakes.take(notify(self.notify, command)).unwrap_or(Notify::Auto);
        self
    }
}

fn whole_seconds<'de, D: Deserializer<'de>>(given: D) -> Result<Duration, D::Error> {
    u64::deserialize(given).map(Duration::from_secs)
}

fn notify(way: Notify, command: Vec<String>) -> Result<Notify, String> {
    match way {
        Notify::Command(_) if command.is_empty() => {
            Err("ui.notify is \"command\", and ui.notify_command names none".to_owned())
        }
        Notify::Command(_) => Ok(Notify::Command(command)),
        _ if !command.is_empty() => {
            Err("ui.notify_command is used with ui.notify = \"command\" only".to_owned())
        }
        way => Ok(way),
    }
}

impl ThemeChoice {
    /// Parses a theme's name, or a file path: anything with a slash or ending in `.toml`.
    pub fn named(name: &str, folder: &Path) -> Result<Self, String> {
        if let Some((_, choice)) = THEMES.into_iter().find(|(known, _)| *known == name) {
            return Ok(choice);
        }
        if name.contains('/') || Path::new(name).extension().is_some_and(|it| it == "toml") {
            return Ok(Self::File(folder.join(PathBuf::from(name))));
        }
        let known = THEMES.map(|(known, _)| known);
        Err(unknown(["theme", "Themes"], name, &known) + ", or a path to a file")
    }
}
