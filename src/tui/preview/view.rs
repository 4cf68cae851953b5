//! Draws the preview, and the trusted line above it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr as _;

use crate::contract::tool;
use crate::contract::tool::Reversible;
use crate::domain::{Risk, Row, Untrusted};
use crate::text;
use crate::text::Shown;
use crate::tui::chrome::pen::{Parts, Pen, draw_lines, ours, rule};
use crate::tui::chrome::state::Focus;
use crate::tui::chrome::theme;
use crate::tui::core::command::Command;
use crate::tui::core::layout::{Layout, take_top};
use crate::tui::core::model::Model;
use crate::tui::preview::page::line::{Kind, Window};
use crate::tui::preview::page::made::Tab;
use crate::tui::preview::words;
use crate::tui::queue::groups::{Group, GroupKey};
use crate::tui::queue::slots::{Slot, State};
use crate::tui::{chrome, queue};

use super::page::Page;
use super::page::search::Found;
use super::reader::has_cursor;
use super::state::{Search, told_in};

pub(crate) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if layout.preview.is_empty() {
        return;
    }
    let Some(slot) = model.here() else { return batch(model, layout, buf) };
    titled(model, slot, layout.head, buf);
    notes(model, layout.notes, buf);
    content(model, layout.text, buf);
    context(model, layout.context, buf);
    foot(model, slot, layout, buf);
}

/// Draws the warnings about deciding, as many as fit; the Context tab shows all.
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

fn titled(model: &Model, slot: &Slot, area: Rect, buf: &mut Buffer) {
    let (short, long) = model.flags_of(slot).kind();
    let flag = if area.width < 56 { short } else { long };
    let flag = if flag.is_empty() || says_so_itself(model) { String::new() } else { format!("  ! {flag}") };
    let expiry = expiry(model, slot);
    let end = format!("{flag}{}{expiry}", if expiry.is_empty() { "" } else { "  " });
    let title = text::line(&model.title_of(slot));
    Pen::new(buf, area, 0)
        .before(end.len(), |pen| {
            pen.shown(&title, theme::BOLD);
        })
        .ours(&end, theme::WARN);
}

fn foot(model: &Model, slot: &Slot, layout: &Layout, buf: &mut Buffer) {
    let several = model.list.sources.len() > 1;
    let source = if several { format!("{}   ", slot.entry.key.source) } else { String::new() };
    let said = format!("{source}{}   {}", chrome::words::seen(model.seen_of(slot)), note(model, layout));
    let short = note(model, layout);
    let mut pen = Pen::new(buf, layout.tabs, 0);
    let tabs = tabs(model, slot);
    let all = tabs.iter().map(|(name, _)| name.width()).sum::<usize>() + said.width() < pen.left();
    if model.preview.search.is_some() {
        pen.ours(&short, theme::BOLD);
        return;
    }
    for (name, style) in tabs.iter().filter(|(_, style)| all || *style == theme::BOLD) {
        pen.ours(name, *style);
    }
    if !all {
        // Without room for their names, a hint says that there are tabs.
        pen.ours(&format!("  {} tabs", model.settings.keymap.key(Command::NextTab)), theme::DIM);
    }
    let said = [said, short].into_iter().find(|said| said.width() < pen.left()).unwrap_or_default();
    pen.right(&said, theme::DIM);
}

fn says_so_itself(model: &Model) -> bool {
    model.preview.top == 0 && matches!(model.preview.tab, Tab::Rendered | Tab::Raw)
}

fn expiry(model: &Model, slot: &Slot) -> String {
    let at = slot.entry.row.expires_at.filter(|_| slot.is_pending());
    at.map_or_else(String::new, |at| chrome::words::expires_in(at, model.now))
}

/// Returns ` Rendered  [Diff 2]  Raw  Context`.
fn tabs(model: &Model, slot: &Slot) -> Vec<(String, Style)> {
    let edits = model.edits_of(&slot.entry.key).map_or(0, |edits| edits.keys().len());
    let named = |tab: Tab| {
        let name =
            if tab == Tab::Diff && edits > 0 { format!("Diff {edits}") } else { tab.name().to_owned() };
        if tab == model.preview.tab {
            (format!("[{name}]"), theme::BOLD)
        } else {
            (format!(" {name} "), theme::DIM)
        }
    };
    Tab::ALL.into_iter().map(named).collect()
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
        let text = words::cannot_be_shown(&problem.what);
        say(&text, theme::BAD);
        if let Some(why) = &problem.why {
            Pen::new(buf, area, 1).shown(&text::line(why), theme::PLAIN);
        }
        return;
    }
    let Some(page) = model.preview.page.as_ref().filter(|page| page.of.key == *key) else {
        return say("loading…", theme::DIM);
    };
    let found = model.preview.search.as_ref().map(Search::found).unwrap_or_default();
    if has_cursor(model) && model.preview.cursor >= model.preview.top {
        // The cursor is drawn in the margin, to keep the text's width.
        let margin = Rect { x: area.x.saturating_sub(1), width: 1, ..area };
        Pen::new(buf, margin, (model.preview.cursor - model.preview.top) as u16).ours(">", theme::BOLD);
    }
    text_rows(model, page, (model.preview.top, model.preview.left, found), area, buf);
}

fn context(model: &Model, area: Rect, buf: &mut Buffer) {
    let Some(page) = model.preview.context.as_ref().filter(|_| !area.is_empty()) else { return };
    if model.preview.shown.as_ref() != Some(&page.of.key) {
        return;
    }
    Pen::new(buf, area, 0).ours("Context", theme::DIM);
    let text = Rect { y: area.y + 2.min(area.height), height: area.height.saturating_sub(2), ..area };
    text_rows(model, page, (0, 0, Found::default()), text, buf);
    let left = page.len().saturating_sub(usize::from(text.height));
    if left > 0 {
        let more = words::more_warnings(left);
        Pen::new(buf, area, area.height - 1).keep(more.len()).ours(&more, theme::DIM);
    }
}

fn text_rows(
    model: &Model,
    page: &Page,
    (top, left, found): (usize, usize, Found<'_>),
    area: Rect,
    buf: &mut Buffer,
) {
    let window = Window { left, width: usize::from(area.width) };
    for (nth, row) in (top..page.len()).take(usize::from(area.height)).enumerate() {
        if page.is_foreign(row) {
            let gutter = Rect { x: area.x.saturating_sub(2), width: 1, ..area };
            Pen::new(buf, gutter, nth as u16).ours(theme::vertical(model.settings.glyphs), theme::KEY);
        }
        let mut pen = Pen::new(buf, area, nth as u16);
        let row = page.row(row, window, found);
        let row = if page.of.wrap { row } else { row.cut(window.width) };
        for (kind, part) in &row.parts {
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
        Kind::New => theme::GOOD,
        Kind::Warn => theme::WARN,
        Kind::Status(role) => theme::role(role),
        Kind::Link => theme::LINK,
        Kind::Name => theme::NAME,
        Kind::Value => theme::VALUE,
        Kind::Match => theme::MATCH,
        Kind::Here => theme::MATCH_HERE,
    }
}

fn batch(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if model.history.open.is_some() {
        return;
    }
    let Some(group) = model.queue.group_here() else { return };
    let mut area = layout.preview;
    // If the trusted line divides list and preview, its first row stays a rule.
    take_top(&mut area, u16::from(layout.head.is_empty()));
    let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    if group.key == GroupKey::ToResolve {
        return to_settle(model, group, area, buf);
    }
    if group.key.batch().is_none() {
        return queue::group_view::draw_group(model, group, area, buf);
    }
    let staged = model.decide.spread.of_group(group, &model.decide.tally);
    let keys = &model.settings.keymap;
    let Some(row) = model.queue.rows_of(group).next().map(|slot| &slot.entry.row) else { return };
    Pen::new(buf, area, 0).ours(words::BATCH_OF, theme::DIM).shown(&text::identifier(&row.tool), theme::BOLD);
    let undecided = group.open.saturating_sub(staged.total());
    let line = words::group_counts(group.open, undecided, staged.total());
    Pen::new(buf, area, 1).ours(&line, theme::PLAIN);
    if let Some(id) = &row.batch {
        Pen::new(buf, area, 2).ours("id ", theme::DIM).shown(&text::identifier(id.untrusted()), theme::PLAIN);
    }
    let hint = chrome::words::group_keys(
        &keys.key(Command::ApproveRest),
        &keys.key(Command::Mark),
        &keys.key(Command::ReviewBatch),
    );
    Pen::new(buf, area, 4).ours(&hint, theme::DIM);
}

/// Draws a decision with an unknown outcome whose action the source does not show.
fn lost(model: &Model, area: Rect, buf: &mut Buffer) {
    let key = model.settings.keymap.key(Command::ResolveUnknown);
    let next = match model.submit.look_again {
        Some(at) => words::next_check(&chrome::words::clock(model, at.max(model.now))),
        None => words::CHECKING_NOW.to_owned(),
    };
    let hint = words::check(&key);
    let lines = [words::SENT_AND_UNKNOWN, words::MAY_STILL_RUN, next.as_str(), "", hint.as_str()];
    for (nth, line) in (0..).zip(lines) {
        Pen::new(buf, area, nth).ours(line, if nth == 0 { theme::BOLD } else { theme::PLAIN });
    }
}

fn to_settle(model: &Model, group: &Group, area: Rect, buf: &mut Buffer) {
    let key = model.settings.keymap.key(Command::ResolveUnknown);
    let sent = model.queue.rows_of(group).any(|slot| slot.state == State::Unknown);
    let why = if sent { words::NO_ANSWER_CAME } else { words::EXECUTOR_DID_NOT_REPORT };
    Pen::new(buf, area, 0).ours(&words::may_have_run(group.open), theme::BOLD);
    Pen::new(buf, area, 1).ours(why, theme::BOLD);
    Pen::new(buf, area, 3).ours(&words::check(&key), theme::PLAIN);
}

fn note(model: &Model, layout: &Layout) -> String {
    let keys = &model.settings.keymap;
    let key = |command| keys.key(command);
    let at = position(model, layout);
    if let Some(search) = &model.preview.search {
        let more = if search.typing {
            let (keep, end) = (keys.key_in_text(Command::Accept), keys.key_in_text(Command::Back));
            words::search_keys(&keep, &end)
        } else {
            let (next, previous) = (key(Command::NextUndecided), key(Command::PreviousUndecided));
            words::match_keys(&next, &previous, &key(Command::Back))
        };
        return format!("{}   {more}", searching(search));
    }
    let (down, up) = (key(Command::ScrollDown), key(Command::ScrollUp));
    if has_cursor(model) {
        let (fold, all, none) = (key(Command::FoldHere), key(Command::FoldAll), key(Command::UnfoldAll));
        return words::fold_keys(&fold, &all, &none, &at);
    }
    if !model.preview.wrap {
        let (left, right) = (key(Command::GoLeft), key(Command::GoRight));
        return words::sideways(&left, &right, model.preview.left + 1, &at);
    }
    if model.screen.focus == Focus::Preview { format!("{down}/{up} scroll   {at}") } else { at }
}

fn searching(search: &Search) -> String {
    let end = if search.typing { "_" } else { "" };
    format!("/{}{end}   {}", text::part(&search.text).cut(24).plain(), search.count())
}

fn short_note(model: &Model, layout: &Layout) -> String {
    let at = position(model, layout);
    match &model.preview.search {
        Some(search) => searching(search),
        None if has_cursor(model) => format!("{} folds  {at}", model.settings.keymap.key(Command::FoldHere)),
        None if model.preview.tab == Tab::Rendered => at,
        None => format!("{}  {at}", model.preview.tab.name()),
    }
}

/// Returns `1-21/38`, or `1-21/38+` while the rows of a long text are being counted.
fn position(model: &Model, layout: &Layout) -> String {
    let Some(page) = &model.preview.page else { return String::new() };
    let first = (model.preview.top + 1).min(page.len());
    let last = (model.preview.top + usize::from(layout.text.height)).min(page.len());
    format!("{first}-{last}/{}{}", page.len(), if page.is_counted() { "" } else { "+" })
}

// The trusted line: tool, risk and effect of approving in placet's words, above any foreign text. It never scrolls.

/// Longest tool name, so that the risk stays next to it. Columns.
const NAME: usize = 28;

/// Draws the trusted line for the action under the cursor, and the marked ones.
pub(crate) fn draw_trusted(model: &Model, layout: &Layout, buf: &mut Buffer) {
    let area = layout.trusted;
    if area.is_empty() {
        return;
    }
    // Between a list and a preview below it, the line is drawn as a rule.
    let divides = layout.head.is_empty() && !layout.preview.is_empty();
    if divides {
        rule(model, area, buf);
    } else {
        Pen::new(buf, area, 0).base(theme::RAISED);
        Pen::new(buf, area, 1).base(theme::RAISED);
    }
    let roomy = divides && area.width >= 60;
    let margin = if roomy { 2 } else { 0 };
    let inside = Rect { x: area.x + margin, width: area.width.saturating_sub(2 * margin), ..area };
    let columns = usize::from(inside.width).saturating_sub(if divides { 2 } else { 1 });
    let mut rows = match model.here().map(|slot| &slot.entry.row) {
        Some(row) => one(row, columns, usize::from(area.height)),
        None => Vec::new(),
    };
    let marked = if model.history.open.is_none() { model.queue.mark_sums().tools.as_slice() } else { &[] };
    if !marked.is_empty() {
        let marks = ours(format!("{} marked: ", marked.iter().map(|(.., n)| n).sum::<usize>()), theme::BOLD);
        let room = columns.saturating_sub(marks.0.width());
        // Marks use both rows if one cannot name them all.
        let mut line = vec![marks];
        if some_width(marked) <= room || area.height < 2 {
            line.extend(some(marked, room));
            rows.truncate(usize::from(area.height).saturating_sub(1));
        } else {
            line.extend(some(marked, (room + columns).saturating_sub(NAME)));
            rows.clear();
        }
        let rest = line.split_off(fitting(&line, columns));
        rows.extend([line, rest].into_iter().filter(|line| !line.is_empty()));
    }
    let note = if roomy && model.here().is_some() { short_note(model, layout) } else { String::new() };
    let first: usize = rows.first().map_or(0, |line| line.iter().map(|(part, _)| part.width()).sum());
    if !note.is_empty() && first + note.width() + 5 <= usize::from(inside.width) {
        Pen::new(buf, inside, 0).keep(note.width() + 2).ours(&format!(" {note} "), theme::DIM);
    }
    for line in &mut rows {
        line.insert(0, ours(" ", theme::PLAIN));
        if divides {
            line.push(ours(" ", theme::PLAIN));
        }
    }
    draw_lines(&rows, inside, buf);
}

fn one(row: &Row, width: usize, height: usize) -> Vec<Parts> {
    if row.status.is_pending() {
        return rows(&row.tool, &row.risk, width, height);
    }
    vec![head(&row.tool, &row.risk, width)]
}

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

/// Returns tool, risk and effect of approving in one or two rows. That it cannot be undone is never cut off.
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

/// Returns `sends money back to a customer` and ` · cannot be undone`.
fn does(name: &Untrusted) -> (Shown, &'static str) {
    let does = tool::definition(name.as_raw()).approving.as_deref().unwrap_or(words::NO_DESCRIPTION);
    match tool::showing(name.as_raw()).and_then(|showing| showing.reversible.as_ref()) {
        // The description may say it, too.
        Some(Reversible::No) => {
            (Shown::ours(does.split(';').next().unwrap_or(does)), words::AND_CANNOT_BE_UNDONE)
        }
        Some(Reversible::Yes | Reversible::ByHand(_)) | None => (Shown::ours(does), ""),
    }
}

/// Returns `3 refund_payment CRITICAL, 2 save_document low, +4 tools` in `columns`.
fn some(tools: &[(Untrusted, Risk, usize)], columns: usize) -> Parts {
    let (mut parts, mut left) = (Parts::new(), columns);
    for (nth, (tool, risk, n)) in tools.iter().enumerate() {
        let plus = if nth == 0 { "" } else { "+" };
        let more = format!("{plus}{}", text::count(tools.len() - nth, "tool"));
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

fn some_width(tools: &[(Untrusted, Risk, usize)]) -> usize {
    some(tools, usize::MAX).iter().map(|(part, _)| part.width()).sum()
}

fn fitting(line: &Parts, width: usize) -> usize {
    let mut used = 0;
    line.iter()
        .take_while(|(part, _)| {
            used += part.width();
            used <= width
        })
        .count()
}
