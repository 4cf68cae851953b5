//! Styles by what they mean. ANSI colour names only; colour repeats what a letter or a word already says, so that nothing is
//! lost under NO_COLOR.
//!
//! The names are roles: `Theme::paint` goes over the finished cells and gives each name the colour that the theme has for it.
//! So whoever draws knows ten styles and no theme, and the terminal's own palette is simply the theme that changes nothing.

pub(crate) mod palette;

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

use crate::config::Glyphs;
use crate::domain::{DecisionKind, Risk};

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(crate) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
/// Behind the row under the cursor. Only [`palette`] knows what a terminal makes of it.
pub(crate) const SELECTED: Style = Style::new().bg(Color::DarkGray);
/// Behind lines that are no content: the header, the status line, the trusted line.
pub(crate) const RAISED: Style = Style::new().bg(Color::Gray);
pub(crate) const GOOD: Style = Style::new().fg(Color::Green);
pub(crate) const BAD: Style = Style::new().fg(Color::Red);
pub(crate) const WARN: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
pub(crate) const KEY: Style = Style::new().fg(Color::Cyan);
/// In source texts: keys, headings, comments; and numbers, words, strings of programs. Nothing that placet says has these two. Only
/// the foreground: an agent's text is no bolder, fainter or on another ground than it is without.
pub(crate) const NAME: Style = Style::new().fg(Color::LightBlue);
pub(crate) const VALUE: Style = Style::new().fg(Color::Blue);
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
        DecisionKind::Approve => GOOD,
        kind if kind.rejects() => BAD,
        _ => KEY,
    };
    style.add_modifier(Modifier::BOLD)
}

/// What stands before an action: read or not, what was decided, what became of it. One column each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Unread,
    Read,
    Decided(DecisionKind),
    Unknown,
    Sending,
}

impl Mark {
    pub(crate) const fn glyph(self, glyphs: Glyphs) -> &'static str {
        let (unicode, ascii) = match self {
            Self::Unread => ("•", "*"),
            Self::Read => ("·", "."),
            Self::Decided(DecisionKind::Approve) => ("✓", "A"),
            Self::Decided(DecisionKind::ApproveWithEdits) => ("✎", "E"),
            Self::Decided(DecisionKind::Reject) => ("✗", "X"),
            Self::Decided(DecisionKind::Retry) => ("↻", "R"),
            Self::Unknown => ("?", "?"),
            Self::Sending => ("…", "~"),
        };
        of(glyphs, unicode, ascii)
    }

    pub(crate) const fn style(self) -> Style {
        match self {
            Self::Unread => BOLD,
            Self::Read => DIM,
            Self::Decided(kind) => decision(kind),
            Self::Unknown => WARN,
            Self::Sending => KEY,
        }
    }
}

/// The bar at the left of the row under the cursor.
pub(crate) const fn bar(glyphs: Glyphs) -> &'static str {
    of(glyphs, "▌", ">")
}

/// Before the name of a group: its rows are below it, or folded away.
pub(crate) const fn fold(glyphs: Glyphs, folded: bool) -> &'static str {
    if folded { of(glyphs, "▸", "+") } else { of(glyphs, "▾", "v") }
}

/// A cell of a bar that counts.
pub(crate) const fn filled(glyphs: Glyphs) -> &'static str {
    of(glyphs, "━", "#")
}

/// Between parts of a line.
pub(crate) const fn dot(glyphs: Glyphs) -> &'static str {
    of(glyphs, " · ", ", ")
}

const fn of(glyphs: Glyphs, unicode: &'static str, ascii: &'static str) -> &'static str {
    match glyphs {
        Glyphs::Unicode => unicode,
        Glyphs::Ascii => ascii,
    }
}

/// Lines, or characters that every terminal and every braille display has.
pub(crate) const fn border(glyphs: Glyphs) -> border::Set<'static> {
    match glyphs {
        Glyphs::Unicode => border::PLAIN,
        Glyphs::Ascii => border::Set {
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

pub(crate) const fn vertical(glyphs: Glyphs) -> &'static str {
    of(glyphs, "│", "|")
}

pub(crate) const fn horizontal(glyphs: Glyphs) -> &'static str {
    of(glyphs, "─", "-")
}

/// What was chosen, where the locale can show it: the first of `LC_ALL`, `LC_CTYPE` and `LANG` that says something decides. A
/// locale that nothing names says nothing of the terminal.
pub(crate) fn glyphs(chosen: Glyphs, variable: impl Fn(&str) -> Option<String>) -> Glyphs {
    let mut named = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable);
    let locale = named.find(|locale| !locale.is_empty()).unwrap_or_default().to_lowercase();
    let other = locale.split_once('.').is_some_and(|(_, charset)| !charset.starts_with("utf"));
    if other || matches!(locale.as_str(), "c" | "posix") { Glyphs::Ascii } else { chosen }
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
    fn a_locale_that_is_not_utf_8_gets_ascii() {
        let taken = |name: &'static str, value: &'static str| {
            glyphs(Glyphs::Unicode, move |asked| (asked == name).then(|| value.to_owned()))
        };
        for (name, value) in [("LANG", "C"), ("LC_ALL", "POSIX"), ("LANG", "de_DE.ISO-8859-1")] {
            assert_eq!(taken(name, value), Glyphs::Ascii, "{name}={value}");
        }
        for (name, value) in [("LANG", "C.UTF-8"), ("LC_CTYPE", "de_DE.utf8"), ("LANG", ""), ("TERM", "C")] {
            assert_eq!(taken(name, value), Glyphs::Unicode, "{name}={value}");
        }
    }

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
