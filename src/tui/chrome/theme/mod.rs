//! Styles by what they mean. ANSI colour names only; colour repeats what a letter or a word already says, so that nothing is
//! lost under NO_COLOR.
//!
//! The names are roles: [`Theme::paint`] goes over the finished cells and gives each name the colour that the theme has for it.
//! So whoever draws knows ten styles and no theme, and the terminal's own palette is simply the theme that changes nothing.

pub(crate) mod palette;

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

use crate::config::Borders;
use crate::domain::{DecisionKind, Risk};

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(crate) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
pub(crate) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);
pub(crate) const GOOD: Style = Style::new().fg(Color::Green);
pub(crate) const BAD: Style = Style::new().fg(Color::Red);
pub(crate) const WARN: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
pub(crate) const KEY: Style = Style::new().fg(Color::Cyan);
/// In JSON. Quotes, digits and words say the same without colour.
pub(crate) const STRING: Style = Style::new().fg(Color::Green);
pub(crate) const NUMBER: Style = Style::new().fg(Color::Yellow);
pub(crate) const LITERAL: Style = Style::new().fg(Color::Magenta);
pub(crate) const LINK: Style = Style::new().add_modifier(Modifier::UNDERLINED);
/// Found by a search, and the one it is at.
pub(crate) const MATCH: Style = Style::new().add_modifier(Modifier::REVERSED);
pub(crate) const MATCH_HERE: Style = MATCH.add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED));
/// Stands for something that would not be visible.
pub(crate) const TOKEN: Style = Style::new().fg(Color::Magenta).add_modifier(Modifier::BOLD);

pub(crate) const fn risk(risk: &Risk) -> Style {
    match risk {
        Risk::Low => DIM,
        Risk::Medium => PLAIN,
        Risk::High | Risk::Other(_) => WARN,
        Risk::Critical => BAD.add_modifier(Modifier::BOLD),
    }
}

pub(crate) const fn decision(kind: DecisionKind) -> Style {
    let style = match kind {
        kind if kind.approves() => GOOD,
        kind if kind.rejects() => BAD,
        _ => KEY,
    };
    style.add_modifier(Modifier::BOLD)
}

/// Lines, or characters that every terminal and every braille display has.
pub(crate) const fn border(borders: Borders) -> border::Set<'static> {
    match borders {
        Borders::Line => border::PLAIN,
        Borders::Ascii => border::Set {
            top_left: "+",
            top_right: "+",
            bottom_left: "+",
            bottom_right: "+",
            vertical_left: "|",
            vertical_right: "|",
            horizontal_top: "-",
            horizontal_bottom: "-",
        },
    }
}

pub(crate) const fn vertical(borders: Borders) -> &'static str {
    match borders {
        Borders::Line => "│",
        Borders::Ascii => "|",
    }
}

pub(crate) const fn horizontal(borders: Borders) -> &'static str {
    match borders {
        Borders::Line => "─",
        Borders::Ascii => "-",
    }
}

// How many colours there are to choose from.

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// The reviewer wants none (`NO_COLOR`).
    None,
    /// The sixteen with names, which look as the reviewer has set up their terminal.
    Names,
    Indexed,
    Full,
}

impl Depth {
    /// By what the environment says; an empty `NO_COLOR` says nothing, as its convention has it.
    pub(crate) fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let term = variable("TERM").unwrap_or_default();
        if variable("NO_COLOR").is_some_and(|it| !it.is_empty()) {
            Self::None
        } else if term == "dumb" || term.starts_with("linux") {
            Self::Names
        } else if matches!(variable("COLORTERM").as_deref(), Some("truecolor" | "24bit"))
            || term.ends_with("-direct")
        {
            Self::Full
        } else if term.contains("256color") {
            Self::Indexed
        } else {
            Self::Names
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_how_many_colours_there_are() {
        let depth = |variables: &[(&str, &str)]| {
            Depth::of(|name| {
                variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
            })
        };

        assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::Full);
        assert_eq!(depth(&[("TERM", "screen-256color")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "xterm")]), Depth::Names);
        assert_eq!(depth(&[("TERM", "linux"), ("COLORTERM", "truecolor")]), Depth::Names);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")]), Depth::None);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("NO_COLOR", "")]), Depth::Indexed);
        assert_eq!(depth(&[]), Depth::Names);
    }
}
