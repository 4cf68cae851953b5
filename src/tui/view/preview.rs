//! The action under the cursor, in full.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::text::{self, Shown};
use crate::tui::command::Command;
use crate::tui::layout::{Layout, Shape};
use crate::tui::model::{Focus, Group, GroupKey, Model, Search, Slot, State, Tab, told_in};
use crate::tui::page::{Kind, Window};
use crate::tui::theme;
use crate::tui::update::has_cursor;

use super::frame::{frame, rule};
use super::pen::Pen;
use super::words;

pub(super) fn draw(model: &Model, layout: &Layout, buf: &mut Buffer) {
    if layout.preview.is_empty() {
        return;
    }
    if layout.shape == Shape::Stacked {
        narrow(model, layout, buf);
    } else {
        let style = if model.focus == Focus::Preview || model.zoom { theme::PLAIN } else { theme::DIM };
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
    let at = match model.sources.len() {
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
    let several = model.sources.len() > 1;
    let source = if several { format!(" {}", slot.entry.key.source) } else { String::new() };
    let mut pen = Pen::new(buf, area, 0);
    pen.shorten(source.len());
    pen.ours(words::seen(model.seen_of(slot)), theme::PLAIN).ours("   ", theme::PLAIN);
    if let Some(agent) = row.agent.as_ref().or(row.mission.as_ref()) {
        pen.shown(&text::name(agent).cut(24), theme::PLAIN).ours("   ", theme::PLAIN);
    }
    if let Some(effect) = &row.effect {
        pen.shown(&effect_word(effect), theme::PLAIN).ours("   ", theme::PLAIN);
    }
    pen.ours(&format!("{} old", words::age(row.created_at, model.now)), theme::DIM);
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
    at.map_or_else(String::new, |at| words::expires_in(at, model.now))
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
    if model.view.is_some() {
        return;
    }
    let Some(group) = model.queue.group_here() else { return };
    let area = Rect {
        y: layout.trusted.y,
        height: layout.trusted.height + layout.head.height + layout.text.height,
        ..layout.head
    };
    let area = area.intersection(layout.preview);
    if group.key == GroupKey::ToSettle {
        return to_settle(model, group, area, buf);
    }
    if group.key.batch().is_none() {
        return super::group::draw(model, group, area, buf);
    }
    let staged = model.staged_in(group);
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
    let key = model.settings.keymap.key(Command::Settle);
    let next = match model.look_again {
        Some(at) => format!("It is read again at {}.", words::clock(model, at.max(model.now))),
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
    let key = model.settings.keymap.key(Command::Settle);
    let mut slots = group.slots.iter().filter_map(|index| model.queue.slot(*index));
    let (line, why) = if slots.any(|slot| slot.state == State::Unknown) {
        let line = format!("{} decided; nobody knows what became of", words::count(group.open, "action"));
        (line, "them: an answer or an executor was lost.")
    } else {
        let line = format!("{} approved and run; nobody knows whether", words::count(group.open, "action"));
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
