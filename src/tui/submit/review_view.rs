//! Draws the review: counts, and the names of all decisions to be sent.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::config::Glyphs;
use crate::contract::tool;
use crate::domain::{ActionKey, Binding, Confirm, Decision, Submission, SubmissionBatch, Untrusted, changes};
use crate::text;
use crate::text::Shown;
use crate::tui::chrome::pen::{Parts, Pen, draw_lines, ours, sheet_frame};
use crate::tui::chrome::theme;
use crate::tui::chrome::theme::Mark;
use crate::tui::core::command::Command;
use crate::tui::core::layout::sheet_text;
use crate::tui::core::model::Model;
use crate::tui::core::msg::SheetLines;
use crate::tui::submit::state::{Review, ReviewSheet};

use crate::tui::preview::page::line::listed;
use crate::tui::queue::list::SourceState;
use crate::tui::{chrome, preview};

use super::words;

const NAMED: usize = 5;
const REASON: usize = 55;
/// Width of the title of an unread, changed or refused action; leaves space for the key that shows it.
const TITLE: usize = 42;
const WIDTH: usize = 72;
const SHEET: u16 = 78;
const FOOT: usize = 3;
const NAMES: usize = 3;
/// Maximum number of decisions listed by name, because every frame formats them.
const LISTED: usize = 500;

pub(crate) fn draw(model: &Model, sheet: &ReviewSheet, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let Some(review) = &sheet.review else {
        let body = sheet_frame(model, area, (60, 5), words::TITLE, words::NOTE, buf);
        Pen::new(buf, body, 1).ours(&words::reading(sheet.keys.len()), theme::PLAIN);
        return None;
    };
    let lines = lines(model, review);
    let (tools, size) = above(model.settings.glyphs, review, &lines, area);
    let mut body = sheet_frame(model, area, size, &title(review), words::NOTE, buf);
    draw_lines(&tools, body, buf);
    let above = (tools.len() as u16).min(body.height);
    body = Rect { y: body.y + above, height: body.height - above, ..body };
    let foot = (FOOT as u16).min(body.height);
    let room = usize::from(body.height - foot);
    let top = sheet.scroll.top.min(lines.len().saturating_sub(room));
    draw_lines(lines.get(top..).unwrap_or_default(), Rect { height: body.height - foot, ..body }, buf);
    let foot = Rect { y: body.bottom() - foot, height: foot, ..body };
    if top + room < lines.len() {
        let page = model.settings.keymap.key(Command::PageDown);
        Pen::new(buf, foot, 0).ours(&words::more_lines(lines.len() - top - room, &page), theme::DIM);
    }
    how(model, review, &sheet.typed, foot, buf)
}

fn title(review: &Review) -> String {
    let to = match review.bound.as_slice() {
        [(source, _)] => source.to_string(),
        _ => chrome::words::count(review.sources, "source"),
    };
    match &review.submission {
        Some(_) => words::title(review.counts.total(), review.batches, &to),
        None => words::TITLE.to_owned(),
    }
}

fn above(glyphs: Glyphs, review: &Review, lines: &[Parts], area: Rect) -> (Vec<Parts>, (u16, u16)) {
    let width = SHEET.min(area.width.saturating_sub(2));
    let room = usize::from(sheet_text(Rect { width, ..area }).width);
    let mut tools = preview::view::of_review(&review.tools, room);
    if !review.totals.is_empty() {
        let approving = Shown::ours(words::approving(&review.totals, theme::dot(glyphs)));
        tools.extend(approving.wrap(room).into_iter().map(|row| vec![(row, theme::BOLD)]));
    }
    let height = (lines.len() + tools.len() + 6).min(usize::from(area.height));
    (tools, (width, height as u16))
}

pub(crate) fn extent(model: &Model, sheet: &ReviewSheet, area: Rect) -> SheetLines {
    let Some(review) = &sheet.review else { return SheetLines::default() };
    let lines = lines(model, review);
    let (tools, (width, height)) = above(model.settings.glyphs, review, &lines, area);
    let body = sheet_text(Rect { width, height, ..area }).height;
    let body = usize::from(body).saturating_sub(tools.len());
    let page = body - FOOT.min(body);
    SheetLines { end: lines.len().saturating_sub(page), page }
}

fn lines(model: &Model, review: &Review) -> Vec<Parts> {
    if review.submission.is_none() {
        let mut lines = vec![vec![ours(words::NOTHING_TO_SEND, theme::BOLD)], Vec::new()];
        named(model, review, &mut lines);
        return lines;
    }
    let counts = review.counts;
    let mut lines: Vec<Parts> = Vec::new();
    for (kind, n) in counts.each().filter(|(_, n)| *n > 0) {
        let mark = Mark::Decided(kind);
        lines.push(vec![
            ours(format!("  {} ", mark.glyph(model.settings.glyphs)), mark.style()),
            ours(format!("{n} {}", kind.words().name), theme::BOLD),
            ours(format!("   {}", words::kind(kind)), theme::DIM),
        ]);
    }
    if review.left_pending > 0 {
        lines.push(vec![ours(
            format!("    {}", words::left(review.left_pending, review.batches)),
            theme::DIM,
        )]);
    }
    if let Some(sheet) = model.sheet.get::<ReviewSheet>()
        && let more @ 1.. = model.unsent().saturating_sub(sheet.keys.len())
    {
        let (all, dot) = (model.settings.keymap.key(Command::ReviewAll), theme::dot(model.settings.glyphs));
        lines.push(vec![ours(format!("    {}", words::elsewhere(more, dot, &all)), theme::KEY)]);
    }
    lines.extend(model.list.sources.iter().filter_map(|source| doubt(model, review, source)));
    lines.push(Vec::new());
    named(model, review, &mut lines);
    by_name(model, review, &mut lines);
    goes(model, review, &mut lines);
    lines.push(deciding(model, review));
    binding(review, &mut lines);
    lines
}

/// Returns a warning if a source's counts may be outdated. The decided actions themselves were compared by digest.
fn doubt(model: &Model, review: &Review, source: &SourceState) -> Option<Parts> {
    let mut sent = review.submission.iter().flat_map(Submission::batches).map(SubmissionBatch::source);
    let (word, good) = chrome::words::connection(source, model.now);
    let is_old = !good && sent.any(|name| *name == source.name);
    is_old
        .then(|| vec![ours(format!("  {}: {word}; {}", source.name, words::COUNTS_MAY_BE_OLD), theme::WARN)])
}

/// Adds what accompanies the decisions at their sources.
fn goes(model: &Model, review: &Review, lines: &mut Vec<Parts>) {
    for goes in &review.told {
        let on = if model.list.sources.len() > 1 { format!(" on {}", goes.source) } else { String::new() };
        let words = Shown::ours(format!("! {} {}{on}: {}", goes.does, goes.count, goes.words));
        lines.extend(words.wrap(WIDTH).into_iter().map(|row| vec![(row, theme::WARN)]));
    }
    if !review.told.is_empty() {
        lines.push(Vec::new());
    }
}

/// Adds who guarantees, at each source, that the content decided on is the content seen.
fn binding(review: &Review, lines: &mut Vec<Parts>) {
    for (source, binding) in review.bound.iter().take(NAMES) {
        let words = Shown::ours(words::promise(source, *binding));
        let style = if *binding == Binding::Source { theme::DIM } else { theme::WARN };
        lines.extend(words.wrap(WIDTH).into_iter().map(|row| vec![(row, style)]));
    }
    if review.bound.len() > NAMES {
        lines.push(vec![ours(words::and_more(review.bound.len() - NAMES, "sources"), theme::DIM)]);
    }
}

/// Returns `as kim on 2 sources`, or `as kim on gate, k.maier on woo` if the reviewer's names differ.
fn deciding(model: &Model, review: &Review) -> Parts {
    let sent = review.submission.iter().flat_map(Submission::batches);
    let names = model.reviewers(sent.map(SubmissionBatch::source));
    let mut line = Vec::new();
    let together = names.iter().all(|(name, _)| names.first().is_some_and(|(first, _)| first == name));
    for (nth, (name, source)) in names.iter().take(if together { 1 } else { NAMES }).enumerate() {
        let next = if nth > 0 { "; " } else { "" };
        let all = review.sources;
        let source = if together && all > 1 { text::count(all, "source") } else { source.to_string() };
        line.extend([
            ours(format!("{next}{source}, as "), theme::DIM),
            (text::name(name).cut(40), theme::PLAIN),
        ]);
    }
    if !together && names.len() > NAMES {
        line.push(ours(words::and_on_more(names.len() - NAMES), theme::DIM));
    }
    line
}

fn by_name(model: &Model, review: &Review, lines: &mut Vec<Parts>) {
    let Some(submission) = &review.submission else { return };
    let mut left = LISTED;
    for batch in submission.batches() {
        let Some(first) = batch.items().first() else { continue };
        let mut heading =
            vec![ours("  ", theme::PLAIN), (text::identifier(&first.tool).cut(30), theme::BOLD)];
        if let Some(id) = batch.batch() {
            heading
                .extend([ours("  ", theme::PLAIN), (text::identifier(id.untrusted()).cut(40), theme::DIM)]);
        }
        if model.list.sources.len() > 1 {
            heading.push(ours(format!("  on {}", batch.source()), theme::DIM));
        }
        lines.push(heading);
        for item in batch.items().iter().take(left) {
            let mark = Mark::Decided(item.kind());
            let key = ActionKey { source: batch.source().clone(), id: item.id.clone() };
            lines.push(vec![
                ours(format!("   {}  ", mark.glyph(model.settings.glyphs)), mark.style()),
                (text::line(&item.title).cut(68), theme::PLAIN),
            ]);
            carried(model, &key, &item.decision, lines);
        }
        left = left.saturating_sub(batch.items().len());
        if left == 0 {
            break;
        }
    }
    if submission.len() > LISTED {
        lines.push(vec![ours(format!("    {}", words::and_more(submission.len() - LISTED, "")), theme::DIM)]);
    }
    lines.push(Vec::new());
}

fn carried(model: &Model, key: &ActionKey, decision: &Decision, lines: &mut Vec<Parts>) {
    let mut line = |name: Shown, style: Style, old: Option<&str>, value: &str| {
        let name = name.cut(20);
        let room = 66_usize.saturating_sub(name.width());
        let shown = |value: &str, room: usize| text::line(&Untrusted::from(value)).cut(room);
        let mut parts = vec![ours("      ", theme::PLAIN), (name, style), ours("  ", theme::PLAIN)];
        let old = old.map(|old| shown(old, room / 2 - 2));
        let left = room - old.as_ref().map_or(0, |old| old.width() + 3);
        if let Some(old) = old {
            parts.extend([(old, theme::DIM), ours(" → ", theme::DIM)]);
        }
        parts.push((shown(value, left), theme::PLAIN));
        lines.push(parts);
    };
    let input = model.preview.cached(key).map(|cached| &cached.action.input);
    for change in input.zip(decision.edits()).map(|(input, edits)| changes(input, edits)).unwrap_or_default()
    {
        match (&change.old, &change.new) {
            (Some(old), Some(new)) => {
                let name = text::line(&Untrusted::from(change.path.as_str()));
                line(name, theme::GOOD, Some(old), new);
            }
            _ => line(Shown::default(), theme::GOOD, None, &tool::told(&change, usize::MAX)),
        }
    }
    if let Some(said) = decision.said() {
        line(Shown::ours(decision.kind().words().before_said), theme::DIM, None, said);
    }
}

fn named(model: &Model, review: &Review, lines: &mut Vec<Parts>) {
    let before = lines.len();
    for (title, keys) in review.edited.iter().take(NAMED) {
        lines.push(vec![
            ours(words::label(words::EDITED, ""), theme::GOOD),
            (text::line(title).cut(34), theme::PLAIN),
            ours(format!("  {}", listed(keys)), theme::DIM),
        ]);
    }
    rest(review.edited.len(), words::EDITED, lines);
    let mut warned = |word: &str, titles: &[Untrusted], shows: Option<Command>| {
        for (nth, title) in titles.iter().take(NAMED).enumerate() {
            let mut line = vec![
                ours(words::warned(word, ""), theme::WARN),
                (text::line(title).cut(TITLE), theme::PLAIN),
            ];
            if let Some(shows) = shows.filter(|_| nth == 0) {
                line.push(ours(
                    format!("   {}", words::shows(&model.settings.keymap.key(shows))),
                    theme::DIM,
                ));
            }
            lines.push(line);
        }
        rest(titles.len(), word, lines);
    };
    warned(words::UNREAD, &review.unopened, Some(Command::ShowFirst));
    warned(words::CHANGED, &review.changed, Some(Command::ShowChanged));
    warned(words::EXPIRES_SOON, &review.expiring, None);
    for (title, became) in review.same.iter().take(NAMED) {
        lines.push(vec![
            ours(words::warned(words::SAME, ""), theme::WARN),
            (text::line(title).cut(34), theme::PLAIN),
            ours(format!("   {became}"), theme::DIM),
        ]);
    }
    rest(review.same.len(), words::SAME, lines);
    for (nth, refused) in review.refused.iter().take(NAMED).enumerate() {
        let not_sent = ours(words::label(words::NOT_SENT, ""), theme::BAD);
        let mut line = vec![not_sent, (text::line(&refused.title).cut(TITLE), theme::PLAIN)];
        if nth == 0 && review.changed.is_empty() {
            let key = model.settings.keymap.key(Command::ShowChanged);
            line.push(ours(format!("   {}", words::shows(&key)), theme::DIM));
        }
        lines.push(line);
        let why = text::line(&Untrusted::from(refused.why.as_str()));
        let indent = || ours("                 ", theme::PLAIN);
        lines.extend(why.wrap(REASON).into_iter().map(|row| vec![indent(), (row, theme::DIM)]));
    }
    rest(review.refused.len(), words::NOT_SENT_EITHER, lines);
    let mut counted = |word: &str, n: usize, says: fn(usize) -> String| {
        if n > 0 {
            lines.push(vec![ours(words::warned(word, &format!(" {}", says(n))), theme::WARN)]);
        }
    };
    counted(words::NOT_SHOWN, review.hidden, words::hidden);
    counted(words::HIGH_RISK, review.high_risk, words::approved);
    counted(words::CRITICAL, review.critical, words::approved);
    if lines.len() > before {
        lines.push(Vec::new());
    }
}

fn rest(all: usize, word: &str, lines: &mut Vec<Parts>) {
    if all > NAMED {
        lines.push(vec![ours(format!("    {}", words::and_more(all - NAMED, word)), theme::DIM)]);
    }
}

/// Draws how to send or cancel. Returns the cursor's position in the typed count.
fn how(model: &Model, review: &Review, typed: &str, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let mut pen = Pen::new(buf, area, 1);
    let keys = &model.settings.keymap;
    let back = keys.key(Command::Back);
    let mut cursor = None;
    match (&review.submission, &review.confirm) {
        (None, _) => {
            pen.ours(words::CANNOT, theme::BOLD);
        }
        (Some(_), Confirm::Key) => {
            pen.ours(&words::press(&keys.key(Command::Confirm)), theme::BOLD);
        }
        (Some(_), Confirm::Count(count, why)) => {
            let line = words::type_count(&count.to_string(), &keys.key(Command::Accept));
            let why = words::because(why);
            if why.len() + line.len() + 24 > usize::from(area.width) {
                pen.ours(&why, theme::BAD);
                pen = Pen::new(buf, area, 2);
            } else {
                pen.ours(&format!("{why} "), theme::BAD);
            }
            pen.ours(&format!("{line}  "), theme::BOLD);
            let mut field = pen.position();
            field.x += 1 + typed.len() as u16;
            cursor = Some(field);
            pen.ours(&format!("[{typed:<4}]"), theme::SELECTED);
        }
    }
    pen.right(&words::back(&back), theme::DIM);
    cursor
}
