//! What a decision key is about, in our own words above anything an agent wrote: tool, risk, and what approving does. Never scrolls.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::contract::tool::{self, Reversible};
use crate::domain::{Risk, Row, Untrusted};
use crate::text::{self, Shown};
use crate::tui::model::{Model, by_tool};
use crate::tui::theme;

use super::review::{Parts, ours};
use super::words;

/// A tool's name takes this many columns at most, so that its risk stays beside it.
const NAME: usize = 28;

/// On the inbox: the action under the cursor, and what is marked.
pub(super) fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let here = model.here().map(|slot| &slot.entry.row);
    let marked = if model.view.is_none() { marked(model) } else { Vec::new() };
    let mut rows = match here {
        Some(row) => one(row, usize::from(area.width), usize::from(area.height)),
        None => Vec::new(),
    };
    if !marked.is_empty() {
        let marks = format!("{} marked: ", marked.iter().map(|(.., n)| n).sum::<usize>());
        let room = usize::from(area.width).saturating_sub(marks.len());
        let mut line = vec![ours(marks, theme::BOLD)];
        line.extend(some(&marked, room));
        rows.truncate(usize::from(area.height).saturating_sub(1));
        rows.push(line);
    }
    super::review::draw_lines(&rows, area, buf);
}

/// On the review sheet: every tool that is decided on.
pub(super) fn of_review(tools: &[(Untrusted, Risk, usize)], width: usize) -> Vec<Parts> {
    match tools {
        [] => Vec::new(),
        [(tool, risk, _)] => rows(tool, risk, width, 2),
        several => {
            let mut line = some(several, (width * 2).saturating_sub(NAME));
            let rest = line.split_off(fitting(&line, width));
            [line, rest].into_iter().filter(|line| !line.is_empty()).collect()
        }
    }
}

fn one(row: &Row, width: usize, height: usize) -> Vec<Parts> {
    if row.status.is_pending() {
        return rows(&row.tool, &row.risk, width, height);
    }
    vec![head(&row.tool, &row.risk, width)]
}

/// Tool, risk and what approving does: in one row where it fits, or there is one only. That it cannot be undone is not cut off.
fn rows(tool: &Untrusted, risk: &Risk, width: usize, height: usize) -> Vec<Parts> {
    let mut line = head(tool, risk, width);
    let (does, undone) = does(tool);
    let all = does.width() + undone.len();
    let room = width.saturating_sub(line.iter().map(|(part, _)| part.width()).sum::<usize>() + 3);
    let said = |room: usize| {
        vec![(does.cut(room.saturating_sub(undone.len())), theme::PLAIN), ours(undone, theme::WARN)]
    };
    if all <= room || height < 2 {
        line.push(ours(" · ", theme::DIM));
        line.extend(said(room));
        return vec![line];
    }
    vec![line, said(width)]
}

fn head(tool: &Untrusted, risk: &Risk, width: usize) -> Parts {
    let word = words::risk_in_full(risk).cut(12);
    let room = width.saturating_sub(word.width() + 3);
    vec![(text::identifier(tool).cut(room), theme::BOLD), ours(" · ", theme::DIM), (word, theme::risk(risk))]
}

/// `sends money back to a customer`, ` · cannot be undone`
fn does(name: &Untrusted) -> (Shown, &'static str) {
    let does = tool::definition(name.as_raw()).approving.as_deref().unwrap_or("no description for this tool");
    match tool::showing(name.as_raw()).and_then(|showing| showing.reversible.as_ref()) {
        // It is said once.
        Some(Reversible::No) => (Shown::ours(does.split(';').next().unwrap_or(does)), " · cannot be undone"),
        Some(Reversible::Yes | Reversible::ByHand(_)) | None => (Shown::ours(does), ""),
    }
}

/// Tools and risks of what is marked and shown, with how many actions each has; the most harmful first.
fn marked(model: &Model) -> Vec<(Untrusted, Risk, usize)> {
    let marks = model.queue.marks.iter().filter_map(|key| model.queue.get(key));
    by_tool(marks.filter(|slot| model.queue.group_of(slot).is_some()).map(|slot| &slot.entry.row))
}

/// `3 refund_payment CRITICAL, 2 save_document low, +4 tools`, in so many columns.
fn some(tools: &[(Untrusted, Risk, usize)], columns: usize) -> Parts {
    let (mut parts, mut left) = (Parts::new(), columns);
    for (nth, (tool, risk, n)) in tools.iter().enumerate() {
        let more = format!("+{}", text::count(tools.len() - nth, "tool"));
        let named = vec![
            ours(format!("{n} "), theme::PLAIN),
            (text::identifier(tool).cut(NAME), theme::BOLD),
            ours(" ", theme::PLAIN),
            (words::risk_in_full(risk).cut(12), theme::risk(risk)),
            ours(if nth + 1 < tools.len() { ", " } else { "" }, theme::PLAIN),
        ];
        let wide: usize = named.iter().map(|(part, _)| part.width()).sum();
        let keep = if nth + 1 < tools.len() { more.len() } else { 0 };
        if wide + keep > left {
            parts.push(ours(more, theme::WARN));
            break;
        }
        left -= wide;
        parts.extend(named);
    }
    parts
}

/// How many parts fit in a row.
fn fitting(line: &Parts, width: usize) -> usize {
    let mut used = 0;
    line.iter()
        .take_while(|(part, _)| {
            used += part.width();
            used <= width
        })
        .count()
}
