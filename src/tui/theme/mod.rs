//! Styles by what they mean. ANSI colour names only; colour repeats what a letter or a word already says, so that nothing is
//! lost under NO_COLOR.
//!
//! The names are roles: [`Theme::paint`] goes over the finished cells and gives each name the colour that the theme has for it.
//! So whoever draws knows ten styles and no theme, and the terminal's own palette is simply the theme that changes nothing.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

use crate::config::Borders;
use crate::domain::{DecisionKind, Risk};

mod depth;
mod palette;
mod rgb;

pub use depth::Depth;
pub use palette::{Theme, ThemeError};
pub use rgb::Rgb;

pub(super) const PLAIN: Style = Style::new();
pub(super) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(super) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);
pub(super) const GOOD: Style = Style::new().fg(Color::Green);
pub(super) const BAD: Style = Style::new().fg(Color::Red);
pub(super) const WARN: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
pub(super) const KEY: Style = Style::new().fg(Color::Cyan);
/// In JSON. Quotes, digits and words say the same without colour.
pub(super) const STRING: Style = Style::new().fg(Color::Green);
pub(super) const NUMBER: Style = Style::new().fg(Color::Yellow);
pub(super) const LITERAL: Style = Style::new().fg(Color::Magenta);
pub(super) const LINK: Style = Style::new().add_modifier(Modifier::UNDERLINED);
/// Found by a search, and the one it is at.
pub(super) const MATCH: Style = Style::new().add_modifier(Modifier::REVERSED);
pub(super) const MATCH_HERE: Style = MATCH.add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED));
/// Stands for something that would not be visible.
pub(super) const TOKEN: Style = Style::new().fg(Color::Magenta).add_modifier(Modifier::BOLD);

pub(super) const fn risk(risk: &Risk) -> Style {
    match risk {
        Risk::Low => DIM,
        Risk::Medium => PLAIN,
        Risk::High | Risk::Other(_) => WARN,
        Risk::Critical => BAD.add_modifier(Modifier::BOLD),
    }
}

pub(super) const fn decision(kind: DecisionKind) -> Style {
    match kind {
        DecisionKind::Approve | DecisionKind::ApproveWithEdits => GOOD.add_modifier(Modifier::BOLD),
        DecisionKind::Reject => BAD.add_modifier(Modifier::BOLD),
        DecisionKind::Retry => KEY.add_modifier(Modifier::BOLD),
    }
}

/// Lines, or characters that every terminal and every braille display has.
pub(super) const fn border(borders: Borders) -> border::Set<'static> {
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

pub(super) const fn vertical(borders: Borders) -> &'static str {
    match borders {
        Borders::Line => "│",
        Borders::Ascii => "|",
    }
}

pub(super) const fn horizontal(borders: Borders) -> &'static str {
    match borders {
        Borders::Line => "─",
        Borders::Ascii => "-",
    }
}
