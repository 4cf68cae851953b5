//! The foot: what is staged, what happened last, and which keys do what.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

use crate::tui::command::Command;
use crate::tui::layout::Layout;
use crate::tui::model::{Held, Model, Tone};
use crate::tui::theme;

use super::frame::rule;
use super::hints;
use super::pen::Pen;
use super::review::draw_lines;
use super::{report, words};

pub(super) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    rule(model, layout.rule, buf);
    staged(model, layout, buf);
    foot(model, layout, buf);
}

/// What happened last, and which keys do what.
pub(super) fn foot(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let apart = layout.message != layout.hints;
    let sent = report::sent(model, usize::from(layout.message.width)).filter(|_| model.message.is_none());
    if apart || (model.message.is_none() && sent.is_none()) {
        hints::draw(model, layout, buf);
    }
    match sent {
        Some(parts) => draw_lines(&[parts], layout.message, buf),
        None => message(model, layout, buf),
    }
}

fn staged(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let counts = model.tally.total();
    let narrow = layout.staged.width < 90;
    let mut pen = Pen::new(buf, layout.staged, 0);
    if model.view.is_some() {
        let key = model.settings.keymap.key(Command::Inbox);
        pen.ours(&format!(" FOR READING: {key} goes back to the inbox"), theme::KEY);
        if counts.total() > 0 {
            pen.ours(&format!(", where {} staged", words::staged(counts)), theme::PLAIN);
        }
    } else if counts.total() == 0 && model.here().is_some_and(|slot| !slot.entry.can.can_decide()) {
        pen.ours(" READ-ONLY: this token cannot decide", theme::WARN);
    } else if let Some(held) = &model.held {
        counting_down(model, held, &mut pen);
    } else if counts.total() == 0 {
        pen.ours(" nothing staged", theme::DIM);
    } else if narrow {
        pen.ours(" STAGED ", theme::BOLD).ours(&words::staged(counts), theme::PLAIN);
    } else {
        pen.ours(" STAGED", theme::BOLD);
        let all = [
            (counts.approve, " approve"),
            (counts.edit, " approve+edit"),
            (counts.reject, " exclude"),
            (counts.retry, " retry"),
        ];
        for (n, word) in all.into_iter().filter(|(n, _)| *n > 0) {
            pen.ours(&format!("  {n}{word}"), theme::PLAIN);
        }
    }
    let hidden = model.staged_hidden();
    if hidden > 0 {
        let words = if narrow { "hidden" } else { "hidden by the filter" };
        pen.ours(&format!("  {hidden} {words}"), theme::WARN);
    }
    if model.is_sending() {
        pen.ours("   SENDING", theme::KEY);
    }
    let (saved, style) = saved(model);
    pen.ours(&saved, style);
    if counts.total() > 0 {
        let unopened = model.tally.unopened();
        let style = if unopened > 0 { theme::WARN } else { theme::PLAIN };
        pen.right(&format!("unopened approvals {unopened} "), style);
    }
}

/// Nothing is sent before this has run out.
fn counting_down(model: &Model, held: &Held, pen: &mut Pen<'_>) {
    let n = words::count(held.submission.len(), "decision");
    let line = match held.seconds(model.now) {
        Some(seconds) => format!(" SENDING {n} in {seconds} s"),
        None => format!(" SENDING {n}"),
    };
    let key = model.settings.keymap.key(Command::Undo);
    pen.ours(&line, theme::BOLD)
        .ours("   ", theme::PLAIN)
        .ours(&key, theme::KEY)
        .ours(" recalls", theme::PLAIN);
}

fn saved(model: &Model) -> (String, Style) {
    match (&model.saved.failed, model.saved.open, model.saved.last) {
        (Some(why), ..) => (format!("   NOT SAVED: {why}"), theme::BAD),
        (None, 1.., _) => ("   saving".to_owned(), theme::DIM),
        (None, 0, Some(at)) => (format!("   saved {}", words::clock(model, at)), theme::DIM),
        (None, 0, None) => (String::new(), theme::DIM),
    }
}

fn message(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let Some(message) = &model.message else {
        // Only in a line that is free.
        if let Some(hint) = model.hint().filter(|_| layout.message != layout.hints) {
            Pen::new(buf, layout.message, 0).ours(&format!(" {hint}"), theme::DIM);
        }
        return;
    };
    let style = match message.tone {
        Tone::Plain => theme::PLAIN,
        Tone::Good => theme::GOOD,
        Tone::Bad => theme::WARN,
    };
    let mut pen = Pen::new(buf, layout.message, 0);
    pen.ours(" ", theme::PLAIN);
    for part in &message.parts {
        pen.shown(part, style);
    }
}
