//! The terminal's cursor and colours, and column widths.

use ratatui::style::{Color, Modifier};

use crate::config::ThemeChoice;
use crate::tui::chrome::theme::Depth;
use crate::tui::chrome::theme::palette::Theme;
use crate::tui::testing::{Desk, action, few};

/// Returns the 12 characters from the terminal cursor on.
fn at_cursor(desk: &Desk) -> String {
    let (x, y) = desk.cursor().unwrap();
    let line = desk.screen().lines().nth(usize::from(y)).unwrap_or_default().to_owned();
    line.chars().skip(usize::from(x)).take(12).collect()
}

/// Returns the `columns` characters before the cursor.
fn at_cursor_before(desk: &Desk, columns: usize) -> String {
    let (x, y) = desk.cursor().unwrap();
    let row: Vec<char> = desk.screen().lines().nth(usize::from(y)).unwrap().chars().collect();
    row[usize::from(x) - columns..usize::from(x)].iter().collect()
}

#[test]
fn terminal_cursor_follows_the_row_and_the_text_field() {
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        let mut desk = Desk::new(width, height, few(3));
        desk.press("jj");
        assert!(at_cursor(&desk).starts_with('▌'), "{:?}", at_cursor(&desk));

        desk.press("Xab");
        assert_eq!(at_cursor_before(&desk, 2), "ab");
        desk.press("<Esc>z");
        assert!(desk.cursor().is_some(), "at the start of the preview's text");
        desk.press("?ab");
        assert_eq!(at_cursor_before(&desk, 2), "ab", "the help's search text");
    }
}

#[test]
fn terminal_cursor_follows_the_typed_count() {
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
fn too_small_screen_has_no_cursor() {
    assert_eq!(Desk::new(30, 8, few(3)).cursor(), None);
}

#[test]
fn selected_row_is_visible_in_every_theme() {
    let mut desk = Desk::new(100, 30, few(3));
    desk.press("j");
    let (x, y) = desk.cursor().unwrap();
    let all = [ThemeChoice::Terminal, ThemeChoice::Dark, ThemeChoice::Light, ThemeChoice::ColourBlind];
    for (choice, depth) in
        all.iter().flat_map(|it| [Depth::None, Depth::Names, Depth::Indexed, Depth::Full].map(|d| (it, d)))
    {
        desk.model.screen.theme = Theme::load(choice, depth).unwrap();
        let buffer = desk.buffer();
        let (here, below) = (&buffer[(x + 8, y)], &buffer[(x + 8, y + 1)]);
        assert_eq!(buffer[(x, y)].symbol(), "▌");
        assert!(here.modifier.contains(Modifier::REVERSED) || here.bg != below.bg, "{choice:?} {depth:?}");
        if depth == Depth::None {
            assert!(buffer.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
        }
    }
}

/// Titles that break columns: combining marks, wide and ambiguous characters, emoji sequences, right-to-left, hidden.
const TORTURE: [&str; 12] = [
    "plain",
    "世界世界世界世界世界世界世界世界世界世界世界世界世界",
    "e\u{301}e\u{301}e\u{301} naïve",
    "\u{2764}\u{fe0f}\u{2764}\u{fe0f} hearts",
    "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466} family",
    "\u{1f1e9}\u{1f1ea}\u{1f1eb} flags",
    "\u{1f44d}\u{1f3fd} tone",
    "עברית العربية",
    "zero\u{200b}width\u{202e}rtl",
    "１２３ ﾊﾝｶｸ ①②",
    "tab\tbell\u{7}esc\u{1b}[2J",
    "Z\u{351}\u{36b}\u{343}\u{36a}\u{302}\u{36b} a\u{fe0f}\u{20e3}",
];

#[test]
fn titles_with_wide_characters_do_not_shift_columns() {
    for (width, height) in [(80, 24), (100, 30), (160, 45)] {
        let row = |(nth, title): (usize, &&str)| {
            action(&format!("{nth} pay billing high {}", 59 - nth), title, "{}")
        };
        let desk = Desk::new(width, height, TORTURE.iter().enumerate().map(row).collect());
        let buffer = desk.buffer();
        let rows = desk.model.layout().rows;
        for y in rows.y + 1..rows.bottom().min(rows.y + 1 + TORTURE.len() as u16) {
            let mut columns = 0;
            let mut x = rows.x;
            let mut last = 0;
            while x < rows.right() {
                let symbol = buffer[(x, y)].symbol();
                assert!(!symbol.contains(['\u{200d}', '\u{fe0f}']), "{symbol:?} in a table");
                if symbol != " " {
                    last = columns;
                }
                let wide = unicode_width::UnicodeWidthStr::width(symbol).max(1) as u16;
                columns += wide;
                x += wide;
            }
            assert_eq!(columns, rows.width, "row {y}");
            assert_eq!(last, rows.width - 2, "row {y}: the note ends in the last column");
        }
    }
}
