use ratatui::layout::Rect;
use ratatui::style::Style;
use std::num::NonZeroU16;

use crate::tui::chrome::theme;

use super::*;

/// Two frames of three rows on a terminal that gives an emoji of several characters as many cells as its parts have.
fn second_frame(first: &str, second: &str) -> String {
    let area = Rect::new(0, 0, 20, 3);
    let mut screen = vt100::Parser::new(NonZeroU16::new(3).unwrap(), NonZeroU16::new(20).unwrap(), 0);
    let (mut last, mut uneven) = (Buffer::empty(area), Vec::new());
    for text in [first, second] {
        let mut next = Buffer::empty(area);
        next.set_string(0, 1, text, theme::PLAIN);
        next.set_string(19, 1, "|", theme::PLAIN);
        uneven = redraw_uneven(&mut next, &uneven);
        let mut bytes = Vec::new();
        let mut backend = WidthSafeBackend::new(&mut bytes);
        backend.draw(last.diff(&next).into_iter()).unwrap();
        Write::flush(&mut backend).unwrap();
        screen.process(&bytes);
        last = next;
    }
    screen.screen().contents()
}

#[test]
fn nothing_is_left_of_what_a_terminal_gave_more_room() {
    for text in [
        "\u{1f469}\u{200d}\u{1f4bb}\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}x".repeat(3),
        "\u{1f1e9}\u{1f1ea}".repeat(9),
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}ok".to_owned(),
        "a\u{fffd}b".repeat(5),
        "\u{2764}\u{fe0f}1\u{fe0f}\u{20e3}".repeat(4),
    ] {
        let blank = second_frame(&text, "");
        assert_eq!(blank.trim(), "|", "{text}: {blank:?}");
        let row = second_frame(&text, "plain");
        assert_eq!(row.trim(), "plain              |", "{text}: {row:?}");
    }
}

/// A terminal that has vanished.
struct Vanished;

impl Write for Vanished {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn showing_the_cursor_on_a_vanished_terminal_is_no_error() {
    let mut backend = WidthSafeBackend::new(Vanished);

    assert!(backend.hide_cursor().is_ok() && Write::flush(&mut backend).is_err());
    assert!(backend.show_cursor().is_ok());
}

#[test]
fn cursor_is_shown_once_and_hidden_during_long_frames() {
    let mut sent = Vec::new();
    let mut backend = WidthSafeBackend::new(&mut sent);
    let mut frame = |bytes: usize| {
        backend.show_cursor().unwrap();
        backend.write_all(&vec![b'.'; bytes]).unwrap();
        Write::flush(&mut backend).unwrap();
    };
    frame(1);
    frame(2);
    frame(LONG + 1);

    let long = ".".repeat(LONG + 1);
    assert_eq!(String::from_utf8(sent).unwrap(), format!("\x1b[?25h...\x1b[?25l{long}\x1b[?25h"));
}

#[test]
fn wide_character_is_dropped_if_its_second_half_is_covered() {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 1));
    buffer.set_string(0, 0, "\u{6f22}\u{6f22}\u{6f22}", theme::PLAIN);
    buffer.set_string(3, 0, "|", theme::PLAIN);

    redraw_uneven(&mut buffer, &[]);

    let drawn: String = buffer.content.iter().map(Cell::symbol).collect();
    assert_eq!(drawn.trim_end(), "\u{6f22}  |\u{6f22}");
}

/// The bytes of a frame over an empty one.
fn bytes(frame: &Buffer) -> String {
    let mut bytes = Vec::new();
    let mut backend = WidthSafeBackend::new(&mut bytes);
    backend.draw(Buffer::empty(frame.area).diff(frame).into_iter()).unwrap();
    Write::flush(&mut backend).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn only_what_changes_of_a_style_is_written() {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 1));
    let style = |colour| Style::new().fg(colour).bg(Color::Indexed(237));
    buffer.set_string(0, 0, "a", style(Color::Red).add_modifier(Modifier::BOLD | Modifier::DIM));
    buffer.set_string(1, 0, "b", style(Color::Red).add_modifier(Modifier::DIM));
    buffer.set_string(2, 0, "c", style(Color::Rgb(1, 2, 3)).add_modifier(Modifier::DIM));
    buffer.set_string(3, 0, "d", style(Color::Reset));

    let a = "\x1b[1;1H\x1b[1;2;38;5;1;48;5;237ma";
    assert_eq!(bytes(&buffer), format!("{a}\x1b[22;2mb\x1b[38;2;1;2;3mc\x1b[22;39md\x1b[0m"));
}

#[test]
fn blank_keeps_the_colours_of_the_text_before_it() {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 1));
    buffer.set_string(0, 0, "a", Color::Red);
    buffer.set_string(1, 0, " ", Style::new().fg(Color::Blue).bold());
    buffer.set_string(2, 0, "b", Color::Red);
    buffer.set_string(3, 0, " ", Style::new().fg(Color::Red).bg(Color::Green));
    buffer.set_string(4, 0, " ", Style::new().fg(Color::Red).bg(Color::Green).underlined());
    buffer.set_string(5, 0, "c", Color::Red);

    let text = "\x1b[1;1H\x1b[38;5;1ma b\x1b[48;5;2m \x1b[4m \x1b[24;49mc\x1b[0m";
    assert_eq!(bytes(&buffer), text);
}

#[test]
fn many_blanks_are_erased_and_few_are_written() {
    let frame = |text: &str| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 2));
        buffer.set_string(0, 0, text, theme::PLAIN);
        buffer.set_string(39, 1, "|", theme::PLAIN);
        buffer
    };
    let before = frame("0123456789012345678901234567890123456789");
    let after = |text: &str| {
        let mut backend = WidthSafeBackend::new(Vec::new());
        backend.draw(before.diff(&frame(text)).into_iter()).unwrap();
        String::from_utf8(backend.unsent).unwrap()
    };

    assert_eq!(after("0123456789012345678901234567890123    89"), "\x1b[1;35H    ");
    assert_eq!(after("0123             7890123456789012345 7 9"), "\x1b[1;5H\x1b[13X\x1b[32C \x1b[1C ");
    assert_eq!(after("0123             x890123456789"), "\x1b[1;5H\x1b[13X\x1b[13Cx\x1b[12C          ");
    // A dot may have taken two cells.
    assert_eq!(after("01\u{b7}3   789"), "\x1b[1;3H\u{b7}\x1b[1;5H   \x1b[3C\x1b[30X");
    assert_eq!(after("0123                           7"), "\x1b[1;5H\x1b[27X\x1b[27C7        ");
}

#[test]
fn erase_never_ends_inside_a_wide_character() {
    let frame = |text: &str| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 1));
        buffer.set_string(0, 0, text, theme::PLAIN);
        buffer
    };
    let mut backend = WidthSafeBackend::new(Vec::new());
    let mut last = frame("");
    let mut draw = |text: &str| {
        let next = frame(text);
        backend.draw(last.diff(&next).into_iter()).unwrap();
        last = next;
        String::from_utf8(std::mem::take(&mut backend.unsent)).unwrap()
    };

    draw("in_the_year_2027_\u{5e74}_rest");
    // The 18th blank is the first half of the character; its second half is blank already.
    assert_eq!(draw("                    rest"), format!("\x1b[1;1H{}\x1b[1C ", " ".repeat(18)));
    draw("in_the_year_2027__\u{5e74}");
    assert_eq!(draw(""), format!("\x1b[1;1H{}", " ".repeat(19)));
    // Another character may begin where this one was.
    draw("in_the_year_2027_ \u{5e74}");
    draw("in_the_year_2027_\u{5e74}");
    assert_eq!(draw(""), format!("\x1b[1;1H{}", " ".repeat(18)));
    // No wide character is left.
    draw("in_the_year_2027__x");
    assert_eq!(draw(""), "\x1b[1;1H\x1b[19X");
}

#[test]
fn unchanged_uneven_row_is_not_drawn_again() {
    let area = Rect::new(0, 0, 20, 3);
    let frame = |below: &str| {
        let mut buffer = Buffer::empty(area);
        buffer.set_string(0, 0, "\u{1f468}\u{200d}\u{1f469}", theme::PLAIN);
        buffer.set_string(0, 2, below, theme::PLAIN);
        buffer
    };
    let (mut first, mut second) = (frame(""), frame("x"));

    let uneven = redraw_uneven(&mut first, &[]);
    redraw_uneven(&mut second, &uneven);

    let drawn: Vec<u16> = first.diff(&second).iter().map(|(_, y, _)| *y).collect();
    assert_eq!(drawn, [2]);
}

#[test]
fn text_right_of_it_stays_in_its_column() {
    let row = second_frame("", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} pay \u{1f1e9}\u{1f1ea} 10");
    let column = |text: &str| row.find(text).map(|at| row[..at].width());
    assert!(column("pay").is_some() && column("10").is_some(), "{row:?}");
    assert!(row.trim().ends_with('|') && row.lines().count() == 2, "{row:?}");
}
