//! Reads and validates the table `[ui]`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::{Mistakes, line_of};
use crate::config::{Borders, GroupBy, Keyboard, Notify, Preset, SortBy, ThemeChoice, Ui};
use crate::domain::ReadFirst;

/// Longest time that decisions wait for second thoughts. Seconds.
const HOLD: u64 = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawUi {
    borders: RawBorders,
    theme: Spanned<String>,
    hold_seconds: u64,
    group: GroupBy,
    sort: SortBy,
    keymap: RawPreset,
    hints: bool,
    mouse: bool,
    title: bool,
    notify: RawNotify,
    notify_command: Vec<String>,
    keyboard: RawKeyboard,
    reduced_motion: bool,
    low_bandwidth: bool,
    read_before_approve: RawReadFirst,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum RawReadFirst {
    Risky,
    Everything,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum RawNotify {
    Auto,
    Osc9,
    Osc777,
    Osc99,
    Bell,
    Command,
    Off,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum RawPreset {
    Default,
    Vim,
    Web,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum RawKeyboard {
    Auto,
    Kitty,
    Legacy,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum RawBorders {
    Line,
    Ascii,
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

impl Default for RawUi {
    fn default() -> Self {
        Self {
            borders: RawBorders::Line,
            theme: Spanned::new(0..0, "terminal".to_owned()),
            hold_seconds: 3,
            group: GroupBy::Batch,
            sort: SortBy::Age,
            keymap: RawPreset::Default,
            hints: true,
            mouse: true,
            title: true,
            notify: RawNotify::Auto,
            notify_command: Vec::new(),
            keyboard: RawKeyboard::Auto,
            reduced_motion: false,
            low_bandwidth: false,
            read_before_approve: RawReadFirst::Risky,
        }
    }
}

impl RawUi {
    pub(super) fn preset(&self) -> Preset {
        match self.keymap {
            RawPreset::Default => Preset::Default,
            RawPreset::Vim => Preset::Vim,
            RawPreset::Web => Preset::Web,
        }
    }

    /// `folder` is where a relative path begins.
    pub(super) fn validate(self, text: &str, folder: &Path, mistakes: &mut Mistakes) -> Ui {
        Ui {
            borders: match self.borders {
                RawBorders::Line => Borders::Line,
                RawBorders::Ascii => Borders::Ascii,
            },
            theme: mistakes.take(theme(&self.theme, text, folder)).unwrap_or(ThemeChoice::Terminal),
            hold: mistakes.take(hold(self.hold_seconds)).unwrap_or_default(),
            group: self.group,
            sort: self.sort,
            hints: self.hints,
            mouse: self.mouse,
            title: self.title,
            notify: mistakes.take(notify(self.notify, self.notify_command)).unwrap_or(Notify::Auto),
            keyboard: match self.keyboard {
                RawKeyboard::Auto => Keyboard::Auto,
                RawKeyboard::Kitty => Keyboard::Kitty,
                RawKeyboard::Legacy => Keyboard::Legacy,
            },
            reduced_motion: self.reduced_motion,
            low_bandwidth: self.low_bandwidth,
            read_before_approve: match self.read_before_approve {
                RawReadFirst::Risky => ReadFirst::Risky,
                RawReadFirst::Everything => ReadFirst::Everything,
            },
        }
    }
}

fn hold(seconds: u64) -> Result<Duration, String> {
    match seconds {
        0..=HOLD => Ok(Duration::from_secs(seconds)),
        given => Err(format!("ui.hold_seconds is {given}; the most is {HOLD}, and 0 sends at once")),
    }
}

fn notify(way: RawNotify, command: Vec<String>) -> Result<Notify, String> {
    if way == RawNotify::Command && command.is_empty() {
        return Err("ui.notify is \"command\", and ui.notify_command names none".to_owned());
    }
    if way != RawNotify::Command && !command.is_empty() {
        return Err("ui.notify_command is used with ui.notify = \"command\" only".to_owned());
    }
    Ok(match way {
        RawNotify::Auto => Notify::Auto,
        RawNotify::Osc9 => Notify::Osc9,
        RawNotify::Osc777 => Notify::Osc777,
        RawNotify::Osc99 => Notify::Osc99,
        RawNotify::Bell => Notify::Bell,
        RawNotify::Command => Notify::Command(command),
        RawNotify::Off => Notify::Off,
    })
}

/// A name, or the path of a file: what has a slash or ends in `.toml`.
fn theme(given: &Spanned<String>, text: &str, folder: &Path) -> Result<ThemeChoice, String> {
    let name = given.get_ref().as_str();
    if let Some((_, choice)) = THEMES.into_iter().find(|(known, _)| *known == name) {
        return Ok(choice);
    }
    if name.contains('/') || Path::new(name).extension().is_some_and(|it| it == "toml") {
        return Ok(ThemeChoice::File(folder.join(PathBuf::from(name))));
    }
    let nearest = THEMES.into_iter().map(|(known, _)| (strsim::jaro_winkler(name, known), known));
    let nearest = nearest.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.6);
    let hint = nearest.map_or_else(String::new, |(_, known)| format!("; did you mean {known:?}?"));
    let line = line_of(text, given.span().start);
    let known: Vec<&str> = THEMES.iter().map(|(known, _)| *known).collect();
    Err(format!(
        "line {line}, ui.theme: {name:?} is no theme{hint} There are {}, and a path to a file",
        known.join(", ")
    ))
}
