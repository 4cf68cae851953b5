//! A terminal's screen as SVG, with every cell in place and in its colours.

use std::fmt::Write as _;

use vt100::{Cell, Color, Screen};

const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 18.0;

/// The sixteen terminal colours, then those of plain text and background.
const DARK: Palette = Palette {
    sixteen: [
        "#1c1c1c", "#e06c75", "#98c379", "#d7af5f", "#61afef", "#c678dd", "#56b6c2", "#c8c8c8", "#7f848e",
        "#ff7b86", "#b5e890", "#ffd787", "#82c8ff", "#e09af5", "#7fe0ec", "#ffffff",
    ],
    text: "#d0d0d0",
    behind: "#161819",
};
const LIGHT: Palette = Palette {
    sixteen: [
        "#fafafa", "#a8201a", "#1b6e2b", "#7a5400", "#1d4f91", "#7b2d8e", "#0b6470", "#404040", "#6a6a6a",
        "#c0281f", "#23853a", "#8f6400", "#2460ad", "#9338a8", "#0f7885", "#000000",
    ],
    text: "#202020",
    behind: "#fafafa",
};

struct Palette {
    sixteen: [&'static str; 16],
    text: &'static str,
    behind: &'static str,
}

#[derive(Clone, PartialEq, Eq)]
struct Look {
    text: String,
    behind: String,
    bold: bool,
    underlined: bool,
}

pub(crate) fn of(screen: &Screen, light: bool) -> String {
    let palette = if light { LIGHT } else { DARK };
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let (width, height) = (f64::from(columns) * WIDTH, f64::from(rows) * HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"14\" xml:space=\"preserve\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        palette.behind
    );
    for row in 0..rows {
        draw_row(screen, row, &palette, &mut svg);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_row(screen: &Screen, row: u16, palette: &Palette, svg: &mut String) {
    let columns = screen.size().1.get();
    let mut column = 0;
    while column < columns {
        let Some(cell) = screen.cell(row, column) else { return };
        let (from, look) = (column, look(cell, palette));
        let mut text = String::new();
        // A wide character gets its own run, so that its font width cannot shift its neighbours.
        while let Some(cell) = screen.cell(row, column).filter(|cell| goes_on(cell, &look, palette)) {
            let wide = cell.is_wide() || !cell.contents().is_ascii();
            if wide && !text.is_empty() {
                break;
            }
            text.push_str(if cell.contents().is_empty() { " " } else { cell.contents() });
            column += if cell.is_wide() { 2 } else { 1 };
            if wide {
                break;
            }
        }
        draw_run(&text, (row, from, column - from), &look, palette, svg);
    }
}

fn draw_run(
    text: &str,
    (row, from, cells): (u16, u16, u16),
    look: &Look,
    palette: &Palette,
    svg: &mut String,
) {
    let (x, y, width) = (f64::from(from) * WIDTH, f64::from(row) * HEIGHT, f64::from(cells) * WIDTH);
    if look.behind != palette.behind {
        let fill = &look.behind;
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.0}\" width=\"{width:.1}\" height=\"{HEIGHT:.0}\" fill=\"{fill}\"/>"
        );
    }
    let shown = text.trim_end();
    if shown.is_empty() {
        return;
    }
    let weight = if look.bold { " font-weight=\"bold\"" } else { "" };
    let line = if look.underlined { " text-decoration=\"underline\"" } else { "" };
    let blanks = u16::try_from(text.len() - shown.len()).unwrap();
    let length = f64::from(cells - blanks) * WIDTH;
    let escaped = shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.0}\" fill=\"{}\" textLength=\"{length:.1}\"{weight}{line}>{escaped}</text>",
        y + 14.0,
        look.text
    );
}

fn look(cell: &Cell, palette: &Palette) -> Look {
    let colour = |colour: Color, plain: &'static str| match colour {
        Color::Default => plain.to_owned(),
        Color::Idx(index) => indexed(index, palette),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
    };
    let (mut text, mut behind) =
        (colour(cell.fgcolor(), palette.text), colour(cell.bgcolor(), palette.behind));
    if cell.inverse() {
        std::mem::swap(&mut text, &mut behind);
    }
    // Only a blank's background shows, and its other attributes vary with the drawing order.
    if is_blank(cell) && !cell.underline() {
        return Look { text: palette.text.to_owned(), behind, bold: false, underlined: false };
    }
    Look { text, behind, bold: cell.bold(), underlined: cell.underline() }
}

fn is_blank(cell: &Cell) -> bool {
    matches!(cell.contents(), "" | " ")
}

/// Returns whether the cell continues the run: it looks the same or is a blank on the same background.
fn goes_on(cell: &Cell, so_far: &Look, palette: &Palette) -> bool {
    let look = look(cell, palette);
    look == *so_far
        || is_blank(cell) && (&look.behind, look.underlined) == (&so_far.behind, so_far.underlined)
}

/// Returns a colour of xterm's palette: sixteen named ones, a 6×6×6 cube, and greys.
fn indexed(index: u8, palette: &Palette) -> String {
    let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    match index {
        0..16 => palette.sixteen[usize::from(index)].to_owned(),
        16..232 => {
            let cube = index - 16;
            format!("#{:02x}{:02x}{:02x}", step(cube / 36), step(cube / 6 % 6), step(cube % 6))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    }
}
