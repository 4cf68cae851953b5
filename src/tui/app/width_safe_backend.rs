//! Draws so that what terminals measure differently (emoji of several characters, flags, piled marks) stays in its cells: a
//! terminal that gives it more room than was counted would else push foreign text out of its pane, and leave it there.

use std::io;
use std::io::Write;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use ratatui::layout::{Position, Size};
use unicode_width::UnicodeWidthStr as _;

/// The backend, with the cursor put in its place again after every cell that may have moved it elsewhere.
#[derive(Debug)]
pub(crate) struct WidthSafeBackend<W: Write>(CrosstermBackend<W>);

impl<W: Write> WidthSafeBackend<W> {
    pub(crate) const fn new(writer: W) -> Self {
        Self(CrosstermBackend::new(writer))
    }
}

/// Has every cell drawn of the rows where something uneven stands now or stood in the last frame, and of those below, into which
/// it may have run: to the terminal they may be other than the last frame says. Gives the rows for the next frame.
pub(crate) fn redraw_uneven(buffer: &mut Buffer, before: &[u16]) -> Vec<u16> {
    let area = buffer.area;
    halve(buffer);
    let is_now = |buffer: &Buffer, y: u16| {
        (area.left()..area.right()).any(|x| buffer.cell((x, y)).is_some_and(|cell| is_uneven(cell.symbol())))
    };
    let now: Vec<u16> = (area.top()..area.bottom()).filter(|y| is_now(buffer, *y)).collect();
    let mut rows: Vec<u16> = now.iter().chain(before).flat_map(|y| [*y, y.saturating_add(1)]).collect();
    rows.sort_unstable();
    rows.dedup();
    for y in rows {
        for x in area.left()..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.diff_option = CellDiffOption::AlwaysUpdate;
            }
        }
    }
    now
}

/// Of a wide character that something was drawn over, its second cell being that one's, nothing is left: a terminal would draw
/// the character, and not what lies over it.
fn halve(buffer: &mut Buffer) {
    let area = buffer.area;
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right().saturating_sub(1) {
            let is_covered = buffer.cell((x + 1, y)).is_some_and(|cell| cell.symbol() != " ");
            if is_covered
                && let Some(cell) = buffer.cell_mut((x, y))
                && !cell.symbol().is_ascii()
                && cell.symbol().width() > 1
            {
                cell.set_char(' ');
            }
        }
    }
}

/// Terminals may disagree about how many cells it takes.
fn is_uneven(symbol: &str) -> bool {
    let mut chars = symbol.chars();
    match (chars.next(), chars.next()) {
        // European letters, punctuation, arrows and lines one cell each; Chinese, Japanese and Korean two.
        (Some(c), None) => !matches!(c,
            '\0'..='\u{58f}' | '\u{1100}'..='\u{11ff}' | '\u{1e00}'..='\u{1fff}' | '\u{2010}'..='\u{22ff}'
            | '\u{2500}'..='\u{25a0}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
            | '\u{ff01}'..='\u{ffef}'),
        (first, _) => first.is_some(),
    }
}

impl<W: Write> Backend for WidthSafeBackend<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        // Each run begins with a move of the cursor.
        let mut run = Vec::new();
        for (x, y, cell) in content {
            if !is_uneven(cell.symbol()) {
                run.push((x, y, cell));
                continue;
            }
            // A terminal that gives it less room would leave something old beside it.
            let mut blank = cell.clone();
            blank.set_char(' ');
            let columns = u16::try_from(cell.symbol().width()).unwrap_or(u16::MAX);
            self.0.draw(run.drain(..))?;
            self.0.draw((x..x.saturating_add(columns)).map(|x| (x, y, &blank)))?;
            self.0.draw(std::iter::once((x, y, cell)))?;
        }
        self.0.draw(run.into_iter())
    }

    fn append_lines(&mut self, n: u16) -> io::Result<()> {
        self.0.append_lines(n)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    /// Never fails: ratatui shows the cursor once more when it is dropped and prints the error, and printing to a terminal that has
    /// vanished panics. A frame still fails there, with its end.
    fn show_cursor(&mut self) -> io::Result<()> {
        drop(self.0.show_cursor());
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.0.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.0.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        self.0.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.0.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.0)
    }
}

impl<W: Write> Write for WidthSafeBackend<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
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
            WidthSafeBackend::new(&mut bytes).draw(last.diff(&next).into_iter()).unwrap();
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

        assert!(backend.hide_cursor().is_err() && Backend::flush(&mut backend).is_err());
        assert!(backend.show_cursor().is_ok());
    }

    #[test]
    fn a_wide_character_gives_way_to_what_lies_over_its_second_half() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 1));
        buffer.set_string(0, 0, "\u{6f22}\u{6f22}\u{6f22}", theme::PLAIN);
        buffer.set_string(3, 0, "|", theme::PLAIN);

        redraw_uneven(&mut buffer, &[]);

        let drawn: String = buffer.content.iter().map(Cell::symbol).collect();
        assert_eq!(drawn.trim_end(), "\u{6f22}  |\u{6f22}");
    }

    #[test]
    fn what_stands_to_the_right_of_it_stays_in_its_column() {
        let row = second_frame("", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} pay \u{1f1e9}\u{1f1ea} 10");
        let column = |text: &str| row.find(text).map(|at| row[..at].width());
        assert!(column("pay").is_some() && column("10").is_some(), "{row:?}");
        assert!(row.trim().ends_with('|') && row.lines().count() == 3, "{row:?}");
    }
}
