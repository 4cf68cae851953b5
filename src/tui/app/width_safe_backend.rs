//! A backend that keeps characters of uncertain width (emoji sequences, flags, stacked marks) in their cells, so that
//! foreign text cannot leave its pane. It writes only changes between cells, and a whole frame at once, to save bytes
//! on slow lines.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io;
use std::io::Write;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr as _;

use super::environment;

const SHOW: &[u8] = b"\x1b[?25h";
const HIDE: &[u8] = b"\x1b[?25l";
/// A longer frame is drawn with a hidden cursor, which would visibly run along without synchronized updates. Bytes.
const LONG: usize = 1_024;

/// Repositions the cursor after every cell that may have moved it elsewhere. Output is buffered until [`Write::flush`]
/// at the end of a frame; [`Backend::flush`], called in the middle of one, does nothing.
#[derive(Debug)]
pub(crate) struct WidthSafeBackend<W: Write> {
    out: W,
    unsent: Vec<u8>,
    /// Whether the terminal shows its cursor; `None` after another program had the terminal.
    cursor: Option<bool>,
    /// Positions of the second halves of wide characters on the screen.
    halves: BTreeSet<Position>,
}

impl<W: Write> WidthSafeBackend<W> {
    pub(crate) const fn new(out: W) -> Self {
        Self { out, unsent: Vec::new(), cursor: None, halves: BTreeSet::new() }
    }

    pub(crate) const fn forget(&mut self) {
        self.cursor = None;
    }

    fn show(&mut self, cursor: bool) {
        if self.cursor.replace(cursor) != Some(cursor) {
            self.unsent.extend_from_slice(if cursor { SHOW } else { HIDE });
        }
    }

    fn crossterm(&mut self) -> CrosstermBackend<&mut Vec<u8>> {
        CrosstermBackend::new(&mut self.unsent)
    }
}

/// A row of the last frame that contains an uneven cell, or follows such a row.
#[derive(Debug)]
pub(crate) struct UnevenRow {
    y: u16,
    is_uneven: bool,
    cells: Vec<Cell>,
}

/// Redraws rows with uneven cells in this or the last frame, and the rows below, into which they may have overflowed:
/// the terminal may show them differently than the last frame says. Unchanged rows are skipped. Returns the rows for
/// the next frame.
pub(crate) fn redraw_uneven(buffer: &mut Buffer, before: &[UnevenRow]) -> Vec<UnevenRow> {
    let area = buffer.area;
    let width = usize::from(area.width).max(1);
    let mut uneven = Vec::new();
    for (y, cells) in (area.top()..).zip(buffer.content.chunks_mut(width)) {
        // Most rows.
        if cells.iter().all(|cell| cell.symbol().is_ascii()) {
            continue;
        }
        halve(cells);
        if cells.iter().any(|cell| is_uneven(cell.symbol())) {
            uneven.push(y);
        }
    }
    let cells = |y: u16| buffer.content.chunks(width).nth(usize::from(y.saturating_sub(area.top())));
    let was = |y: u16| before.iter().find(|row| row.y == y);
    let is_other = |y: u16| was(y).is_none_or(|row| cells(y) != Some(&*row.cells));
    let runs_over = |y: u16| uneven.contains(&y) || was(y).is_some_and(|row| row.is_uneven);
    let below = |y: u16| y.checked_sub(1).filter(|above| runs_over(*above));
    let ran_over = before.iter().filter(|row| row.is_uneven).map(|row| row.y);
    let over = uneven.iter().copied().chain(ran_over);
    let known = before.iter().map(|row| row.y);
    let mut rows: Vec<u16> = over.flat_map(|y| [y, y.saturating_add(1)]).chain(known).collect();
    rows.retain(|y| *y < area.bottom());
    rows.sort_unstable();
    rows.dedup();
    // Known rows get an option, too. Otherwise a row redrawn last time would differ by its option and be redrawn again.
    let option = |y: u16| {
        let is_other = is_other(y) || below(y).is_some_and(is_other);
        if is_other { CellDiffOption::AlwaysUpdate } else { CellDiffOption::Skip }
    };
    let options: Vec<(u16, CellDiffOption)> = rows.iter().map(|y| (*y, option(*y))).collect();
    let stays = |y: &u16| uneven.contains(y) || y.checked_sub(1).is_some_and(|above| uneven.contains(&above));
    let row = |y: u16| Some(UnevenRow { y, is_uneven: uneven.contains(&y), cells: cells(y)?.to_vec() });
    let now = rows.into_iter().filter(stays).filter_map(row).collect();
    for (y, option) in options {
        for x in area.left()..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.diff_option = option;
            }
        }
    }
    now
}

/// Blanks a wide character whose second cell was overwritten: a terminal would draw the character over the new cell.
fn halve(row: &mut [Cell]) {
    for at in 1..row.len() {
        if let Some([cell, next]) = row.get_mut(at - 1..=at)
            && !cell.symbol().is_ascii()
            && next.symbol() != " "
            && cell.symbol().width() > 1
        {
            cell.set_char(' ');
        }
    }
}

/// Returns true if terminals may disagree about the character's width.
fn is_uneven(symbol: &str) -> bool {
    let mut chars = symbol.chars();
    match (chars.next(), chars.next()) {
        // Letters, punctuation, arrows, lines and this screen's marks take one cell; Chinese, Japanese and Korean two.
        (Some(c), None) => !matches!(c,
            '\0'..='\u{58f}' | '\u{1100}'..='\u{11ff}' | '\u{1e00}'..='\u{1fff}' | '\u{2010}'..='\u{22ff}'
            | '\u{2500}'..='\u{25a0}' | '\u{25b8}' | '\u{25be}' | '\u{270e}' | '\u{2713}' | '\u{2717}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
            | '\u{ff01}'..='\u{ffef}'),
        (first, _) => first.is_some(),
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CellStyle {
    foreground: Color,
    background: Color,
    underline: Color,
    modifier: Modifier,
}

/// Modifiers with the codes that turn them on and off. Bold and dim share their off code.
const MODIFIERS: [(Modifier, u8, u8); 8] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::CROSSED_OUT, 9, 29),
];

/// Modifiers that are visible on a blank.
const ON_BLANKS: Modifier = Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);

impl CellStyle {
    fn of(cell: &Cell) -> Self {
        Self {
            foreground: cell.fg,
            background: cell.bg,
            underline: cell.underline_color,
            modifier: cell.modifier,
        }
    }

    /// Returns true if a blank between the two styles shows only its background.
    const fn shows_no_blank(self, next: Self) -> bool {
        !self.modifier.union(next.modifier).intersects(ON_BLANKS)
    }

    /// Writes the differences to this cell's style as one sequence.
    fn become_that_of(&mut self, cell: &Cell, out: &mut impl Write) -> io::Result<()> {
        let mut next = Self::of(cell);
        if cell.symbol() == " " && self.shows_no_blank(next) {
            next = Self { background: next.background, ..*self };
        }
        let before = std::mem::replace(self, next);
        if before == next {
            return Ok(());
        }
        let mut codes = String::new();
        let gone = before.modifier - next.modifier;
        let off = |part: &(Modifier, u8, u8)| gone.contains(part.0);
        // Modifiers that are turned off together with another one are turned on again.
        let mut kept = before.modifier & next.modifier;
        for (_, _, code) in MODIFIERS.iter().filter(|part| off(part)) {
            push(&mut codes, &[*code]);
            MODIFIERS.iter().filter(|part| part.2 == *code).for_each(|part| kept -= part.0);
        }
        for (part, on, _) in MODIFIERS {
            if next.modifier.contains(part) && !kept.contains(part) {
                push(&mut codes, &[on]);
            }
        }
        let colours = [
            (before.foreground, next.foreground, 38),
            (before.background, next.background, 48),
            (before.underline, next.underline, 58),
        ];
        for (_, colour, base) in colours.into_iter().filter(|(before, next, _)| before != next) {
            match (colour, named(colour)) {
                (Color::Rgb(r, g, b), _) => push(&mut codes, &[base, 2, r, g, b]),
                (_, Some(number)) => push(&mut codes, &[base, 5, number]),
                (_, None) => push(&mut codes, &[base + 1]),
            }
        }
        write!(out, "\x1b[{codes}m")
    }
}

fn push(codes: &mut String, numbers: &[u8]) {
    for number in numbers {
        if !codes.is_empty() {
            codes.push(';');
        }
        codes.push_str(&number.to_string());
    }
}

const fn named(colour: Color) -> Option<u8> {
    Some(match colour {
        Color::Reset | Color::Rgb(..) => return None,
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
        Color::Indexed(number) => number,
    })
}

/// Number of blanks from which erasing is shorter than writing.
const ERASED: u16 = 11;

#[derive(Debug)]
struct Written<'a> {
    halves: &'a mut BTreeSet<Position>,
    style: CellStyle,
    /// The cursor's position if all terminals agree on it.
    cursor: Option<Position>,
    /// Only ASCII was written since the cursor was placed. Terminals for Chinese or Japanese may draw a dot or a line
    /// in two cells.
    is_sure: bool,
    /// Blanks at the cursor that are not written yet, in the default background, which erasing leaves on every
    /// terminal.
    blanks: u16,
}

impl<'a> Written<'a> {
    fn new(halves: &'a mut BTreeSet<Position>) -> Self {
        Self { halves, style: CellStyle::default(), cursor: None, is_sure: false, blanks: 0 }
    }

    fn draw(&mut self, out: &mut impl Write, at: Position, cell: &Cell) -> io::Result<()> {
        let is_blank = cell.symbol() == " "
            && (cell.bg, self.style.background) == (Color::Reset, Color::Reset)
            && self.style.shows_no_blank(CellStyle::of(cell));
        let after = self.cursor.map(|cursor| Position { x: cursor.x + self.blanks, ..cursor });
        if is_blank && self.blanks > 0 && after == Some(at) {
            self.blanks += 1;
            return Ok(());
        }
        let uneven = is_uneven(cell.symbol());
        self.write_blanks(out)?;
        match self.cursor {
            Some(cursor) if cursor == at && !uneven => {}
            Some(cursor) if self.is_sure && cursor.y == at.y && cursor.x < at.x && !uneven => {
                write!(out, "\x1b[{}C", at.x - cursor.x)?;
            }
            _ => {
                go_to(out, at)?;
                self.is_sure = true;
            }
        }
        if is_blank {
            (self.cursor, self.blanks) = (Some(at), 1);
            return Ok(());
        }
        self.style.become_that_of(cell, out)?;
        let columns = if uneven || !cell.symbol().is_ascii() { cell.symbol().width() } else { 1 };
        if uneven {
            // A terminal that draws it narrower would leave old content next to it.
            write!(out, "{:columns$}", "")?;
            go_to(out, at)?;
        }
        out.write_all(cell.symbol().as_bytes())?;
        let columns = columns as u16;
        self.replace(at, columns);
        self.halves.extend((1..columns).map(|x| Position { x: at.x + x, ..at }));
        self.is_sure &= cell.symbol().is_ascii();
        self.cursor = (!uneven && columns == 1).then_some(Position { x: at.x + 1, ..at });
        Ok(())
    }

    /// Erases or writes the blanks. In tmux, an erase that ends inside a wide character shifts the rest of the row.
    fn write_blanks(&mut self, out: &mut impl Write) -> io::Result<()> {
        let blanks = std::mem::take(&mut self.blanks);
        let Some(start) = self.cursor.filter(|_| blanks > 0) else { return Ok(()) };
        let end = Position { x: start.x + blanks, ..start };
        let ends_inside = self.halves.contains(&end);
        self.replace(start, blanks);
        if blanks >= ERASED && !ends_inside {
            return write!(out, "\x1b[{blanks}X");
        }
        self.cursor = Some(end);
        write!(out, "{:1$}", "", usize::from(blanks))
    }

    fn replace(&mut self, start: Position, cells: u16) {
        if !self.halves.is_empty() {
            for x in start.x..=start.x + cells {
                self.halves.remove(&Position { x, ..start });
            }
        }
    }

    fn end(mut self, out: &mut impl Write) -> io::Result<()> {
        self.write_blanks(out)?;
        if self.style == CellStyle::default() { Ok(()) } else { out.write_all(b"\x1b[0m") }
    }
}

fn go_to(out: &mut impl Write, at: Position) -> io::Result<()> {
    write!(out, "\x1b[{};{}H", at.y + 1, at.x + 1)
}

impl<W: Write> Backend for WidthSafeBackend<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut line = Written::new(&mut self.halves);
        for (x, y, cell) in content {
            line.draw(&mut self.unsent, Position { x, y }, cell)?;
        }
        line.end(&mut self.unsent)
    }

    fn append_lines(&mut self, n: u16) -> io::Result<()> {
        self.crossterm().append_lines(n)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.show(false);
        Ok(())
    }

    /// Buffered, so it never fails: ratatui shows the cursor again on drop and prints any error, which panics if the
    /// terminal has vanished.
    fn show_cursor(&mut self) -> io::Result<()> {
        self.show(true);
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.crossterm().get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.crossterm().set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_region(ClearType::All)
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        if clear_type == ClearType::All {
            self.halves.clear();
        }
        self.crossterm().clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        Ok(environment::size().unwrap_or_default())
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.crossterm().window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Write for WidthSafeBackend<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unsent.write(bytes)
    }

    /// Sends the frame. A failed frame is not sent again.
    fn flush(&mut self) -> io::Result<()> {
        if self.cursor == Some(true) && self.unsent.len() > LONG {
            drop(self.unsent.splice(0..0, HIDE.iter().copied()));
            self.unsent.extend_from_slice(SHOW);
        }
        let sent = self.out.write_all(&self.unsent);
        self.unsent.clear();
        sent?;
        self.out.flush()
    }
}
