//! Manners in a terminal: where its cursor stands, which colours it has.

use ratatui::style::{Color, Modifier};

use super::desk::{Desk, action, few};
use crate::config::ThemeChoice;
use crate::tui::theme::{Depth, Theme};

/// What stands at the cursor of the terminal.
fn at_cursor(desk: &Desk) -> String {
    let (x, y) = desk.cursor().unwrap();
    let line = desk.screen().lines().nth(usize::from(y)).unwrap_or_default().to_owned();
    line.chars().skip(usize::from(x)).take(12).collect()
}

/// What stands before it.
fn at_cursor_before(desk: &Desk, columns: usize) -> String {
    let (x, y) = desk.cursor().unwrap();
    let row: Vec<char> = desk.screen().lines().nth(usize::from(y)).unwrap().chars().collect();
    row[usize::from(x) - columns..usize::from(x)].iter().collect()
}

#[test]
fn the_terminals_cursor_is_on_the_row_and_in_the_field_that_is_typed_in() {
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        let mut desk = Desk::new(width, height, few(3));
        desk.press("jj");
        assert!(at_cursor(&desk).starts_with('>'), "{:?}", at_cursor(&desk));

        desk.press("Xab");
        assert_eq!(at_cursor_before(&desk, 2), "ab");
        desk.press("<Esc>z");
        assert!(desk.cursor().is_some(), "in the preview, where its text begins");
        desk.press("?ab");
        assert_eq!(at_cursor_before(&desk, 2), "ab", "what is looked for in the help");
    }
}

#[test]
fn a_count_is_typed_where_the_cursor_stands() {
    let mut desk = Desk::new(100, 30, vec![action("1 pay billing high 3", "Refund", "{\"a\":1}")]);
    desk.press("jas");
    desk.wait(1_000);
    desk.press("1");
    let (x, y) = desk.cursor().unwrap();
    let screen = desk.screen();
    let row = screen.lines().nth(usize::from(y)).unwrap();
    assert_eq!(row.chars().nth(usize::from(x) - 1), Some('1'), "{row}");
}

#[test]
fn on_a_screen_too_small_there_is_no_cursor() {
    assert_eq!(Desk::new(30, 8, few(3)).cursor(), None);
}

#[test]
fn the_selected_row_is_told_in_every_theme() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("j");
    let (x, y) = desk.cursor().unwrap();
    let all = [ThemeChoice::Terminal, ThemeChoice::Dark, ThemeChoice::Light, ThemeChoice::ColourBlind];
    for (choice, depth) in
        all.iter().flat_map(|it| [Depth::None, Depth::Names, Depth::Indexed, Depth::Full].map(|d| (it, d)))
    {
        desk.model.theme = Theme::load(choice, depth).unwrap();
        let buffer = desk.buffer();
        let (here, below) = (&buffer[(x + 8, y)], &buffer[(x + 8, y + 1)]);
        assert_eq!(buffer[(x, y)].symbol(), ">");
        assert!(here.modifier.contains(Modifier::REVERSED) || here.bg != below.bg, "{choice:?} {depth:?}");
        if depth == Depth::None {
            assert!(buffer.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
        }
    }
}
