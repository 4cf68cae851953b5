//! Styles by meaning. Colour only repeats what a letter or word says, so that NO_COLOR loses no information.
//!
//! The ANSI names are roles: [`palette::Theme::paint`] replaces them in finished cells by the theme's colours. Drawing
//! code does not know the theme; the terminal's own palette is the theme that replaces nothing.

pub(crate) mod palette;

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

use crate::config::Glyphs;
use crate::domain::{DecisionKind, Look, Risk, Role};

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
/// Foreign text of a read row, and where no definition leads with it.
pub(crate) const QUIET: Style = Style::new().fg(Color::White);
/// The line before what agents, executors and backends wrote.
pub(crate) const GUTTER: Style = Style::new().fg(Color::LightCyan);
pub(crate) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
/// The row under the cursor. `palette` decides how it is shown.
pub(crate) const SELECTED: Style = Style::new().bg(Color::DarkGray);
/// The header, the status line and the trusted line, which are not content.
pub(crate) const RAISED: Style = Style::new().bg(Color::Gray);
pub(crate) const GOOD: Style = Style::new().fg(Color::Green);
pub(crate) const BAD: Style = Style::new().fg(Color::Red);
pub(crate) const WARN: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
pub(crate) const LOOK: Style = Style::new().fg(Color::Yellow);
pub(crate) const KEY: Style = Style::new().fg(Color::Cyan);
/// Hues of source texts: keys, headings, comments; and numbers, literals, strings. Never used for placet's own text,
/// and only foreground, so that an agent's text cannot look emphasized.
pub(crate) const NAME: Style = Style::new().fg(Color::LightBlue);
pub(crate) const VALUE: Style = Style::new().fg(Color::Blue);
pub(crate) const LINK: Style = Style::new().add_modifier(Modifier::UNDERLINED);
pub(crate) const MATCH: Style = Style::new().add_modifier(Modifier::REVERSED);
pub(crate) const MATCH_HERE: Style = MATCH.add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED));
pub(crate) const TOKEN: Style = Style::new().fg(Color::Magenta).add_modifier(Modifier::BOLD);

/// Returns the style of a status or outcome.
pub(crate) const fn role(role: Role) -> Style {
    match role {
        Role::Plain => PLAIN,
        Role::Good => GOOD,
        Role::Warn => WARN,
        Role::Bad => BAD.add_modifier(Modifier::BOLD),
        Role::Unknown => TOKEN,
    }
}

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

/// The mark before an action: read state, decision, or outcome. One column each.
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
            Self::Read => (" ", " "),
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
            Self::Unread | Self::Sending => KEY,
            Self::Read => PLAIN,
            Self::Decided(kind) => decision(kind),
            Self::Unknown => role(Look::UNKNOWN.role),
        }
    }
}

pub(crate) const fn bar(glyphs: Glyphs) -> &'static str {
    of(glyphs, "▌", ">")
}

pub(crate) const fn fold(glyphs: Glyphs, folded: bool) -> &'static str {
    if folded { of(glyphs, "▸", "+") } else { of(glyphs, "▾", "v") }
}

pub(crate) const fn filled(glyphs: Glyphs) -> &'static str {
    of(glyphs, "━", "#")
}

pub(crate) const fn unusual(glyphs: Glyphs) -> &'static str {
    of(glyphs, "▲", "^")
}

/// The dot before a source: filled if it is live.
pub(crate) const fn live(glyphs: Glyphs, is_live: bool) -> &'static str {
    if is_live { of(glyphs, "● ", "@ ") } else { of(glyphs, "○ ", "o ") }
}

pub(crate) const fn dot(glyphs: Glyphs) -> &'static str {
    of(glyphs, " · ", ", ")
}

const fn of(glyphs: Glyphs, unicode: &'static str, ascii: &'static str) -> &'static str {
    match glyphs {
        Glyphs::Unicode => unicode,
        Glyphs::Ascii => ascii,
    }
}

/// Frame characters; the ASCII ones work on every terminal and braille display.
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

/// Returns the chosen glyphs, or ASCII if the locale is not UTF-8. The first nonempty of `LC_ALL`, `LC_CTYPE` and
/// `LANG` decides; without any, the choice stands.
pub(crate) fn glyphs(chosen: Glyphs, variable: impl Fn(&str) -> Option<String>) -> Glyphs {
    let mut named = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable);
    let locale = named.find(|locale| !locale.is_empty()).unwrap_or_default().to_lowercase();
    let other = locale.split_once('.').is_some_and(|(_, charset)| !charset.starts_with("utf"));
    if other || matches!(locale.as_str(), "c" | "posix") { Glyphs::Ascii } else { chosen }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// No colours (`NO_COLOR`).
    None,
    /// The sixteen named colours, as the terminal's palette defines them.
    Names,
    Indexed,
    Full,
}

impl Depth {
    /// Reads the environment. An empty `NO_COLOR` is ignored, as its convention demands.
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
    fn non_utf8_locale_gets_ascii() {
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
    fn depth_follows_the_environment() {
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
