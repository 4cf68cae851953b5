//! Checks the contrast of every cell on every kind of screen, in each theme that sets colours and on common terminal
//! backgrounds.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use crate::config::ThemeChoice;
use crate::tui::chrome::theme::Depth;
use crate::tui::chrome::theme::palette::{Rgb, Theme};
use crate::tui::testing::Desk;

use crate::tui::tests::dashboard::boards::growing;
use crate::tui::tests::dashboard::watch_screens::watching;
use crate::tui::tests::queue::screens::at_work;

/// Minimum contrast for text, from WCAG.
const LEAST: f64 = 4.5;
/// The gutter is no text (WCAG 2, 1.4.11).
const LEAST_OF_GUTTER: f64 = 3.0;

/// Backgrounds of Solarized, Gruvbox, GitHub and One, dark and light, and the extremes.
const BACKGROUNDS: [Rgb; 10] = [
    Rgb(0x00, 0x2b, 0x36),
    Rgb(0xfd, 0xf6, 0xe3),
    Rgb(0x28, 0x28, 0x28),
    Rgb(0xfb, 0xf1, 0xc7),
    Rgb(0x0d, 0x11, 0x17),
    Rgb(0xff, 0xff, 0xff),
    Rgb(0x28, 0x2c, 0x34),
    Rgb(0xfa, 0xfa, 0xfa),
    Rgb(0x00, 0x00, 0x00),
    Rgb(0x1e, 0x1e, 0x1e),
];

/// Keys that lead to a screen of each kind.
const SCREENS: [&str; 17] =
    ["", "J", "]", "]]", "]]]", "z]]", "?", ":", ":exc", "/refund", "1", "e", "x", "S", "jjjj", "gh", "q"];

/// Returns text and background colour; `None` for blank cells and cells whose text has no RGB value.
fn shown(cell: &Cell, terminal: Rgb) -> Option<(Rgb, Rgb)> {
    let rgb = |colour: Color| match colour {
        Color::Rgb(r, g, b) => Some(Rgb(r, g, b)),
        Color::Indexed(index) => Some(Rgb::of_index(index)),
        _ => None,
    };
    let text = rgb(cell.fg)?;
    let ground = rgb(cell.bg).unwrap_or(terminal);
    let reversed = cell.modifier.contains(Modifier::REVERSED);
    let (text, ground) = if reversed { (ground, text) } else { (text, ground) };
    (cell.symbol() != " ").then_some((text, ground))
}

fn can_be_read(name: &str, terminal: Rgb, buf: &Buffer) {
    for at in buf.area.positions() {
        let cell = &buf[at];
        assert!(!cell.modifier.contains(Modifier::DIM), "{name}: {at} is faint");
        let Some((text, ground)) = shown(cell, terminal) else {
            assert!(cell.symbol() == " ", "{name}: {at} has no colour of its own: {cell:?}");
            continue;
        };
        let contrast = text.contrast(ground);
        let least = if cell.symbol() == "│" { LEAST_OF_GUTTER } else { LEAST };
        assert!(
            contrast >= least,
            "{name}: {at} {:?} has {contrast:.2}: {text:?} on {ground:?}",
            cell.symbol()
        );
    }
}

/// Returns one screen of each kind, with the keys that led to it.
fn screens() -> Vec<(&'static str, Desk)> {
    let pressed = |keys: &'static str| {
        let mut desk = at_work(100, 30);
        desk.press(keys);
        (keys, desk)
    };
    let others = vec![("the watch view", watching(160, 45, growing())), ("one column", at_work(80, 24))];
    SCREENS.into_iter().map(pressed).chain(others).collect()
}

fn all_can_be_read(name: &str, screens: &mut [(&str, Desk)], theme: &Theme, terminal: Rgb) {
    for (keys, desk) in screens {
        desk.model.screen.theme = theme.clone();
        can_be_read(&format!("{name}, {keys:?}"), terminal, &desk.buffer());
    }
}

#[test]
fn every_cell_is_readable_in_every_coloured_theme() {
    let themes = [
        ("dark", ThemeChoice::Dark),
        ("light", ThemeChoice::Light),
        ("high-contrast", ThemeChoice::HighContrast),
        ("colour-blind", ThemeChoice::ColourBlind),
        ("colour-blind-light", ThemeChoice::ColourBlindLight),
    ];
    let mut screens = screens();
    for (name, choice) in themes {
        for depth in [Depth::Full, Depth::Indexed] {
            // These themes draw their own background, so the terminal's does not matter.
            let theme = Theme::load(&choice, depth).unwrap();
            all_can_be_read(name, &mut screens, &theme, Rgb(0x80, 0x80, 0x80));
        }
    }
}

#[test]
fn auto_theme_is_readable_on_common_backgrounds() {
    let mut screens = screens();
    for background in BACKGROUNDS {
        for depth in [Depth::Full, Depth::Indexed] {
            let name = format!("auto on {background:?}");
            all_can_be_read(&name, &mut screens, &Theme::on(background, depth), background);
        }
    }
}

#[test]
fn screens_with_few_colours_have_no_faint_text_or_backgrounds() {
    for (keys, mut desk) in screens() {
        for depth in [Depth::None, Depth::Names] {
            desk.model.screen.theme = Theme::load(&ThemeChoice::Auto, depth).unwrap();
            let buf = desk.buffer();
            for at in buf.area.positions() {
                let cell = &buf[at];
                assert!(!cell.modifier.contains(Modifier::DIM), "{keys:?}: {at} is faint");
                assert_eq!(cell.bg, Color::Reset, "{keys:?}: {at}");
                assert!(depth == Depth::Names || cell.fg == Color::Reset, "{keys:?}: {at} has a colour");
            }
        }
    }
}
