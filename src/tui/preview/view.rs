//! The action under the cursor, in full.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use crate::contract::tool;
use crate::contract::tool::Reversible;
use crate::domain::{Risk, Row, Untrusted};
use crate::text;
use crate::text::Shown;
use crate::tui::chrome::pen::{Pen, frame, rule, sheet_frame};
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::theme;
use crate::tui::core::command::Command;
use crate::tui::core::layout::{Layout, Shape};
use crate::tui::core::modal::{LinksSheet, by_tool};
use crate::tui::core::model::Model;
use crate::tui::preview::page::line::{Kind, Window};
use crate::tui::preview::page::made::Tab;
use crate::tui::queue::groups::{Group, GroupKey};
use crate::tui::queue::slots::{Slot, State};
use crate::tui::submit::review_view;
use crate::tui::submit::review_view::{Parts, ours};
use crate::tui::{chrome, queue};

use super::reader::has_cursor;
use super::state::{Search, told_in};

pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if layout.preview.is_empty() {
        return;
    }
    if layout.shape == Shape::Stacked {
        narrow(model, layout, buf);
    } else {
        let style =
            if model.screen.focus == Focus::Preview || model.screen.zoom { theme::PLAIN } else { theme::DIM };
        frame(model, layout.preview, "Preview", &note(model, layout), style, buf);
        match model.here() {
            Some(slot) => wide_head(model, slot, layout.head, buf),
            None => return batch(model, layout, buf),
        }
    }
    notes(model, layout.notes, buf);
    content(model, layout.text, buf);
}

/// What to know before a key is pressed, as much of it as there is room for: the Context tab has all of it.
fn notes(model: &Model, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let lines = told_in(&model.notes_here(), area.width);
    let rows = usize::from(area.height);
    for (nth, line) in lines.iter().take(rows).enumerate() {
        Pen::new(buf, area, nth as u16).shown(line, theme::WARN);
    }
    if lines.len() > rows {
        let more = format!(" +{}: Context", lines.len() - rows);
        Pen::new(buf, area, area.height - 1).keep(more.len()).ours(&more, theme::DIM);
    }
}

/// On narrow screens the list says the rest; one rule names tab and action.
fn narrow(model: &Model, layout: &Layout, buf: &mut Buffer) {
    rule(model, layout.head, buf);
    let Some(slot) = model.here() else { return batch(model, layout, buf) };
    let row = Rect { x: layout.head.x + 2, width: layout.head.width.saturating_sub(4), ..layout.head };
    let mut pen = Pen::new(buf, row, 0);
    pen.ours(" ", theme::PLAIN);
    tabs(model, slot, &mut pen);
    let at = match model.list.sources.len() {
        ..=1 => short_note(model, layout),
        _ => format!("{}  {}", slot.entry.key.source, short_note(model, layout)),
    };
    pen.shorten(at.len() + 2);
    pen.ours("  ", theme::PLAIN)
        .shown(&text::identifier(slot.entry.key.id.untrusted()), theme::DIM)
        .ours(" ", theme::PLAIN);
    Pen::new(buf, row, 0).right(&format!(" {at} "), theme::DIM);
    if layout.head.height > 1 {
        let expiry = expiry(model, slot);
        Pen::new(buf, layout.head, 1)
            .shorten(expiry.len() + 2)
            .ours(" ", theme::PLAIN)
            .shown(&text::line(&slot.entry.row.title), theme::BOLD);
        Pen::new(buf, layout.head, 1).right(&format!("{expiry} "), theme::WARN);
    }
}

fn wide_head(model: &Model, slot: &Slot, area: Rect, buf: &mut Buffer) {
    let row = &slot.entry.row;
    let several = model.list.sources.len() > 1;
    let source = if several { format!(" {}", slot.entry.key.source) } else { String::new() };
    let mut pen = Pen::new(buf, area, 0);
    pen.shorten(source.len());
    pen.ours(chrome::words::seen(model.seen_of(slot)), theme::PLAIN).ours("   ", theme::PLAIN);
    if let Some(agent) = row.agent.as_ref().or(row.mission.as_ref()) {
        pen.shown(&text::name(agent).cut(24), theme::PLAIN).ours("   ", theme::PLAIN);
    }
    if let Some(effect) = &row.effect {
        pen.shown(&effect_word(effect), theme::PLAIN).ours("   ", theme::PLAIN);
    }
    pen.ours(&format!("{} old", chrome::words::age(row.created_at, model.now)), theme::DIM);
    Pen::new(buf, area, 0).right(&source, theme::DIM);
    tabs(model, slot, &mut Pen::new(buf, area, 1));
    let flags = model.flags_of(slot).words();
    let id = text::identifier(slot.entry.key.id.untrusted());
    let expiry = expiry(model, slot);
    let mut pen = Pen::new(buf, area, 2);
    pen.shorten(expiry.len() + 1);
    if flags.is_empty() || says_so_itself(model) {
        pen.ours("id ", theme::DIM).shown(&id, theme::DIM);
    } else {
        pen.ours(&format!("! {flags}"), theme::WARN);
    }
    Pen::new(buf, area, 2).right(&expiry, theme::WARN);
}

/// The page begins with its badges, and its beginning is on screen.
fn says_so_itself(model: &Model) -> bool {
    model.preview.top == 0 && matches!(model.preview.tab, Tab::Rendered | Tab::Raw)
}

/// The countdown of what can still be decided.
fn expiry(model: &Model, slot: &Slot) -> String {
    let at = slot.entry.row.expires_at.filter(|_| slot.is_pending());
    at.map_or_else(String::new, |at| chrome::words::expires_in(at, model.now))
}

fn effect_word(effect: &crate::domain::Effect) -> Shown {
    use crate::domain::Effect as E;
    match effect {
        E::Read => Shown::ours("read"),
        E::Write => Shown::ours("write"),
        E::External => Shown::ours("external"),
        E::Destructive => Shown::ours("DESTRUCTIVE"),
        E::Other(word) => text::line(word),
    }
}

/// ` Rendered  [Diff 2]  Raw  Context`
fn tabs(model: &Model, slot: &Slot, pen: &mut Pen<'_>) {
    let edits = model.edits_of(&slot.entry.key).map_or(0, |edits| edits.keys().len());
    for (nth, tab) in Tab::ALL.into_iter().enumerate() {
        let name =
            if tab == Tab::Diff && edits > 0 { format!("Diff {edits}") } else { tab.name().to_owned() };
        let gap = if nth == 0 { "" } else { " " };
        if tab == model.preview.tab {
            pen.ours(gap, theme::PLAIN).ours(&format!("[{name}]"), theme::BOLD);
        } else {
            pen.ours(gap, theme::PLAIN).ours(&format!(" {name} "), theme::DIM);
        }
    }
}

fn content(model: &Model, area: Rect, buf: &mut Buffer) {
    let Some(slot) = model.here() else { return };
    let key = &slot.entry.key;
    let mut say = |text: &str, style: Style| {
        Pen::new(buf, area, 0).ours(text, style);
    };
    if model.preview.shown.as_ref() != Some(key) {
        return say("…", theme::DIM);
    }
    if slot.state == State::Unknown && model.preview.problems.contains_key(key) {
        return lost(model, area, buf);
    }
    if let Some(problem) = model.preview.problems.get(key) {
        let text = format!("cannot be shown: {}", problem.what);
        say(&text, theme::BAD);
        if let Some(why) = &problem.why {
            Pen::new(buf, area, 1).shown(&text::line(why), theme::PLAIN);
        }
        return;
    }
    let Some(page) = model.preview.page.as_ref().filter(|page| page.of.key == *key) else {
        return say("loading…", theme::DIM);
    };
    let window = Window { left: model.preview.left, width: usize::from(area.width) };
    let found = model.preview.search.as_ref().map(Search::found).unwrap_or_default();
    let rows = (model.preview.top..page.len()).take(usize::from(area.height));
    for (nth, row) in rows.enumerate() {
        if row == model.preview.cursor && has_cursor(model) {
            // The margin, so that the text has the width it is wrapped at.
            let margin = Rect { x: area.x.saturating_sub(1), width: 1, ..area };
            Pen::new(buf, margin, nth as u16).ours(">", theme::BOLD);
        }
        if page.is_foreign(row) {
            let gutter = Rect { x: area.x.saturating_sub(2), width: 1, ..area };
            Pen::new(buf, gutter, nth as u16).ours(theme::vertical(model.settings.borders), theme::KEY);
        }
        let mut pen = Pen::new(buf, area, nth as u16);
        for (kind, part) in &page.row(row, window, found).parts {
            pen.shown(part, style_of(*kind));
        }
    }
}

const fn style_of(kind: Kind) -> Style {
    match kind {
        Kind::Plain => theme::PLAIN,
        Kind::Key => theme::KEY,
        Kind::Dim | Kind::Punct => theme::DIM,
        Kind::Old => theme::BAD,
        Kind::OldWord => theme::BAD.add_modifier(Modifier::REVERSED),
        Kind::NewWord => theme::GOOD.add_modifier(Modifier::REVERSED),
        Kind::New | Kind::Good => theme::GOOD,
        Kind::Warn => theme::WARN,
        Kind::Link => theme::LINK,
        Kind::Text => theme::STRING,
        Kind::Number => theme::NUMBER,
        Kind::Literal => theme::LITERAL,
        Kind::Match => theme::MATCH,
        Kind::Here => theme::MATCH_HERE,
    }
}

/// On a batch's header: what the batch is.
fn batch(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if model.history.open.is_some() {
        return;
    }
    let Some(group) = model.queue.group_here() else { return };
    let area = Rect {
        y: layout.trusted.y,
        height: layout.trusted.height + layout.head.height + layout.text.height,
        ..layout.head
    };
    let area = area.intersection(layout.preview);
    if group.key == GroupKey::ToResolve {
        return to_settle(model, group, area, buf);
    }
    if group.key.batch().is_none() {
        return queue::view::draw_group(model, group, area, buf);
    }
    let staged = model.decide.spread.of_group(group, &model.queue, &model.decide.tally);
    let keys = &model.settings.keymap;
    let Some(row) =
        group.slots.first().and_then(|index| model.queue.slot(*index)).map(|slot| &slot.entry.row)
    else {
        return;
    };
    Pen::new(buf, area, 0).ours("batch of ", theme::DIM).shown(&text::identifier(&row.tool), theme::BOLD);
    let undecided = group.open.saturating_sub(staged.total());
    let line = format!("{} open, {undecided} undecided, {} staged", group.open, staged.total());
    Pen::new(buf, area, 1).ours(&line, theme::PLAIN);
    if let Some(id) = &row.batch {
        Pen::new(buf, area, 2).ours("id ", theme::DIM).shown(&text::identifier(id.untrusted()), theme::PLAIN);
    }
    let hint = format!(
        "{} approves the rest   {} marks all   {} reviews",
        keys.key(Command::ApproveRest),
        keys.key(Command::Mark),
        keys.key(Command::ReviewBatch)
    );
    Pen::new(buf, area, 4).ours(&hint, theme::DIM);
}

/// A decision from here that was lost sight of, and the source does not show its action.
fn lost(model: &Model, area: Rect, buf: &mut Buffer) {
    let key = model.settings.keymap.key(Command::ResolveUnknown);
    let next = match model.submit.look_again {
        Some(at) => format!("It is read again at {}.", chrome::words::clock(model, at.max(model.now))),
        None => "It is being read now.".to_owned(),
    };
    let hint = format!("{key} says what became of it, once you know.");
    let lines = [
        "Its decision was sent from here, and nobody knows what became of it:",
        "the source does not show the action now. It may still run there.",
        next.as_str(),
        "",
        hint.as_str(),
    ];
    for (nth, line) in (0..).zip(lines) {
        Pen::new(buf, area, nth).ours(line, if nth == 0 { theme::BOLD } else { theme::PLAIN });
    }
}

/// On the header of what is to be settled.
fn to_settle(model: &Model, group: &Group, area: Rect, buf: &mut Buffer) {
    let key = model.settings.keymap.key(Command::ResolveUnknown);
    let mut slots = group.slots.iter().filter_map(|index| model.queue.slot(*index));
    let (line, why) = if slots.any(|slot| slot.state == State::Unknown) {
        let line =
            format!("{} decided; nobody knows what became of", chrome::words::count(group.open, "action"));
        (line, "them: an answer or an executor was lost.")
    } else {
        let line =
            format!("{} approved and run; nobody knows whether", chrome::words::count(group.open, "action"));
        (line, "the write landed: the executor was lost.")
    };
    Pen::new(buf, area, 0).ours(&line, theme::BOLD);
    Pen::new(buf, area, 1).ours(why, theme::BOLD);
    Pen::new(buf, area, 3).ours("Look in the target what became of each, then", theme::PLAIN);
    Pen::new(buf, area, 4).ours(&format!("{key} on it says so."), theme::PLAIN);
}

fn note(model: &Model, layout: &Layout) -> String {
    let keys = &model.settings.keymap;
    let key = |command| keys.key(command);
    let at = position(model, layout);
    if let Some(search) = &model.preview.search {
        let more = if search.typing {
            let (keep, end) = (keys.key_in_text(Command::Accept), keys.key_in_text(Command::Back));
            format!("{keep} keeps   {end} ends")
        } else {
            let (next, previous) = (key(Command::NextUndecided), key(Command::PreviousUndecided));
            format!("{next} {previous} others   {} ends", key(Command::Back))
        };
        return format!("{}   {more}", searching(search));
    }
    let (down, up) = (key(Command::ScrollDown), key(Command::ScrollUp));
    if has_cursor(model) {
        let (fold, all, none) = (key(Command::FoldHere), key(Command::FoldAll), key(Command::UnfoldAll));
        return format!("{fold} folds   {all} {none} all   {at}");
    }
    if !model.preview.wrap {
        let (left, right) = (key(Command::GoLeft), key(Command::GoRight));
        return format!("{left}/{right} sideways, from column {}   {at}", model.preview.left + 1);
    }
    format!("{down}/{up} scroll   {at}")
}

/// `/word  match 2 of 9`
fn searching(search: &Search) -> String {
    let end = if search.typing { "_" } else { "" };
    format!("/{}{end}   {}", text::part(&search.text).cut(24).plain(), search.count())
}

/// The same where one row must do.
fn short_note(model: &Model, layout: &Layout) -> String {
    let at = position(model, layout);
    match &model.preview.search {
        Some(search) => searching(search),
        None if has_cursor(model) => format!("{} folds  {at}", model.settings.keymap.key(Command::FoldHere)),
        None => at,
    }
}

/// `1-21 of 38`; `more than 38` while the rows of a very long text are being counted.
fn position(model: &Model, layout: &Layout) -> String {
    let Some(page) = &model.preview.page else { return "0-0 of 0".to_owned() };
    let first = (model.preview.top + 1).min(page.len());
    let last = (model.preview.top + usize::from(layout.text.height)).min(page.len());
    let more = if page.is_counted() { "" } else { "more than " };
    format!("{first}-{last} of {more}{}", page.len())
}

// What a decision key is about, in our own words above anything an agent wrote: tool, risk, and what approving does. Never scrolls.

/// A tool's name takes this many columns at most, so that its risk stays beside it.
const NAME: usize = 28;

/// On the inbox: the action under the cursor, and what is marked.
pub(crate) fn draw_trusted(model: &Model, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let here = model.here().map(|slot| &slot.entry.row);
    let marked = if model.history.open.is_none() { marked(model) } else { Vec::new() };
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
    review_view::draw_lines(&rows, area, buf);
}

/// On the review sheet: every tool that is decided on.
pub(crate) fn of_review(tools: &[(Untrusted, Risk, usize)], width: usize) -> Vec<Parts> {
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
    let word = chrome::words::risk_in_full(risk).cut(12);
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
            (chrome::words::risk_in_full(risk).cut(12), theme::risk(risk)),
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

// The links of an action, each with its whole target, before one is opened.

/// Returns where the selected link begins.
pub(crate) fn draw_links(
    model: &Model,
    sheet: &LinksSheet,
    area: Rect,
    buf: &mut Buffer,
) -> Option<Position> {
    let width = 90.min(area.width.saturating_sub(2));
    let room = usize::from(width.saturating_sub(10));
    let links: Vec<Vec<Shown>> =
        sheet.links.iter().map(|link| text::line(&Untrusted::from(link.as_str())).wrap(room)).collect();
    let rows: usize = links.iter().map(Vec::len).sum();
    let key = |command| model.settings.keymap.key(command);
    let note = format!(
        "{} opens it in the browser   {} copies it   {} closes",
        key(Command::Accept),
        key(Command::CopyThisLink),
        key(Command::Back)
    );
    let body = sheet_frame(model, area, (width, rows as u16 + 4), "Open which link?", &note, buf);
    // The selected link stands in full, also where not all fit.
    let before: usize = links.iter().take(sheet.at + 1).map(Vec::len).sum();
    let mut skip = (before + 1).saturating_sub(usize::from(body.height));
    let mut y = 1;
    let mut cursor = None;
    for (nth, rows) in links.iter().enumerate() {
        let here = nth == sheet.at;
        for (part, row) in rows.iter().enumerate() {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let mut pen = Pen::new(buf, body, y).base(if here { theme::SELECTED } else { theme::PLAIN });
            if here && part == 0 {
                cursor = (y < body.height).then(|| pen.position());
            }
            pen.ours(if here && part == 0 { "> " } else { "  " }, theme::BOLD).shown(row, theme::PLAIN);
            y += 1;
        }
    }
    cursor
}
