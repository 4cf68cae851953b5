//! The floor: a minimal program that shows the same rows with ratatui. Must not change, so that figures stay
//! comparable. `dressed` adds the cost of placet's look: two colours per row, and a background for the cursor's row.

use std::io;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

/// Draws rows on the left, and the row under the cursor in full on the right.
pub(crate) fn run(rows: usize, dressed: bool) -> io::Result<()> {
    let title =
        |nth: usize| format!("  low  create_linear_issue  Escalate outage number {nth} in the EU region");
    let titles: Vec<String> = (0..rows).map(title).collect();
    enable_raw_mode()?;
    crossterm::execute!(io::stdout(), EnterAlternateScreen)?;
    let mut terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    let (mut at, mut top) = (0_usize, 0);
    loop {
        terminal.draw(|frame| {
            let [head, body] =
                Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(frame.area());
            let [list, preview] =
                Layout::horizontal([Constraint::Percentage(55), Constraint::Min(0)]).areas(body);
            let height = usize::from(list.height);
            top = at.min(top).max((at + 1).saturating_sub(height));
            frame.render_widget(Line::from(format!("{rows} pending, at {}", at + 1)), head);
            let style = |nth| if nth == at { Modifier::REVERSED.into() } else { Style::new() };
            let shown = titles.iter().enumerate().skip(top).take(height);
            let lines: Vec<Line<'_>> = shown
                .map(|(nth, title)| {
                    let dress = || dress(nth, nth == at, usize::from(list.width));
                    if dressed { dress() } else { Line::styled(title.as_str(), style(nth)) }
                })
                .collect();
            frame.render_widget(Paragraph::new(lines), list);
            let text = format!(
                "title: Escalate outage number {at} in the EU region\nbody: {}\npriority: 2",
                "Checkout fails for some customers. ".repeat(8)
            );
            frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: false }), preview);
        })?;
        while !event::poll(Duration::from_hours(1))? {}
        match event::read()? {
            Event::Key(key) if key.code == KeyCode::Char('j') => at = (at + 1).min(rows.saturating_sub(1)),
            Event::Key(key) if key.code == KeyCode::Char('k') => at = at.saturating_sub(1),
            Event::Key(key) if key.code == KeyCode::Char('q') => break,
            _ => {}
        }
    }
    crossterm::execute!(io::stdout(), LeaveAlternateScreen)?;
    disable_raw_mode()
}

fn dress(nth: usize, is_here: bool, width: usize) -> Line<'static> {
    let [dim, text] = [248, 254].map(|colour| Style::new().fg(Color::Indexed(colour)));
    let title = format!("med  Escalate outage number {nth} in the EU region");
    let age = width.saturating_sub(4 + title.len() + 3);
    let line = Line::from(vec![
        Span::styled(if is_here { "\u{258c} " } else { "  " }, Color::Indexed(117)),
        Span::styled("\u{b7} ", dim),
        Span::styled(title, text),
        Span::styled(format!("{:>age$}", "59 m"), dim),
    ]);
    if is_here { line.style(Style::new().bg(Color::Indexed(237))) } else { line }
}
