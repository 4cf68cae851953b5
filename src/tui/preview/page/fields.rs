//! The input: as fields to read, or as the JSON that runs.

use std::collections::BTreeSet;

use crate::contract::tool::{Reversible, Showing, Unit};
use crate::contract::{action, tool};
use crate::domain::json::{Decoded, Member};
use crate::domain::{Edits, RawJson, Status, Untrusted, json};
use crate::text;
use crate::text::{Badge, Flags, Shown};
use crate::tui::preview::state::Cached;

use super::context::moment;
use super::preview_comparison::PreviewComparison;
use super::value::Values;
use super::{Kind, Made, Writer, json_rows};

/// An input of more fields is shown as JSON.
const FIELDS: usize = 2_000;

/// What runs, every field of it; what approving does; then what the agent says of it.
pub(crate) fn rendered(writer: &mut Writer, cached: &Cached, of: &Made, zone: &jiff::tz::TimeZone) {
    settled(writer, cached, of.paused, zone);
    unreadable(writer, cached);
    if of.seen.is_some() {
        writer.ours(Kind::Warn, "! changed since you saw it (the Diff tab compares)");
    }
    flagged(writer, &cached.flags);
    if let Some(edits) = &of.edits {
        writer.ours(
            Kind::New,
            format!("{}: {} (the Diff tab shows them)", whose_edits(&of.status), listed(&edits.keys())),
        );
        writer.blank();
    }
    let input = ran(writer, cached).unwrap_or(&cached.action.input);
    let said = PreviewComparison::of(cached);
    let mut values = Values::new(writer, &said);
    let showing = tool::showing(cached.action.row.tool.as_raw());
    match input.members() {
        Some(members) if members.len() <= FIELDS => {
            values.input(&members, showing.map_or(&[], |showing| &showing.fields));
        }
        _ if input.as_str().trim_start().starts_with(['{', '[']) => values.nested(0, input.as_str(), None),
        _ => writer.long(Kind::Plain, 0, readable(input.as_str())),
    }
    writer.needed_until_here();
    footer(writer, cached, showing);
    said.write(writer);
}

/// Of what was approved, the input that runs is what counts: with the approver's edits, where there were some.
fn ran<'a>(writer: &mut Writer, cached: &'a Cached) -> Option<&'a RawJson> {
    let action = &cached.action;
    let what = match action.row.status {
        Status::Unknown | Status::Executed | Status::Failed => "What ran",
        Status::Approved | Status::Running => "What runs",
        _ => return None,
    };
    let edited = action.effective_input.as_ref().filter(|input| **input != action.input);
    if edited.is_some() {
        writer.ours(Kind::Key, format!("{what}, with the approver's edits"));
    } else if action.row.status == Status::Unknown {
        writer.ours(Kind::Key, what);
    }
    edited
}

/// Those of the form that is open here, or those that somebody approved it with.
const fn whose_edits(status: &Status) -> &'static str {
    if status.is_pending() { "your edits replace" } else { "approved with edits that replace" }
}

/// What became of an action that is not pending any more, with everything that its executor said.
fn settled(writer: &mut Writer, cached: &Cached, paused: bool, zone: &jiff::tz::TimeZone) {
    let action = &cached.action;
    if action.row.status.is_pending() {
        return;
    }
    let kind = match action.row.status {
        Status::Executed => Kind::Good,
        Status::Failed | Status::Unknown => Kind::Warn,
        _ => Kind::Key,
    };
    let mut line = vec![(kind, text::line(&action.row.status.word()))];
    let lost = action.row.status == Status::Unknown;
    if lost {
        line.push((Kind::Warn, Shown::ours(": nobody knows whether this landed")));
        writer.push(std::mem::take(&mut line));
        line.push((Kind::Dim, Shown::ours("approved")));
    }
    if let Some(by) = &action.row.resolved_by {
        let how = if lost { " by " } else { "  decided by " };
        line.extend([(Kind::Dim, Shown::ours(how)), (Kind::Plain, text::name(by))]);
    }
    if let Some(at) = action.row.resolved_at.filter(|_| lost) {
        line.push((Kind::Dim, Shown::ours(format!("  {}", moment(at, zone)))));
    }
    writer.push(line);
    if action.row.status == Status::Approved {
        let (kind, why) = if paused {
            (Kind::Warn, "the gate is paused: it runs when somebody resumes")
        } else {
            (Kind::Dim, "its executor has not begun; a tool without one waits for its agent to claim it")
        };
        writer.wrapped(kind, 2, &Shown::ours(why));
    }
    let mut said = |name: &str, text: Option<&str>| {
        if let Some(text) = text {
            writer.ours(Kind::Key, name);
            writer.long(Kind::Plain, 2, text);
        }
    };
    said("reason", action.reason.as_ref().map(Untrusted::as_raw));
    said("error", action.error.as_ref().map(Untrusted::as_raw));
    said("result", action.result.as_ref().map(|result| readable(result.as_str())).as_deref());
    writer.blank();
}

/// The input as JSON, indented; every token as it was sent.
pub(crate) fn raw(writer: &mut Writer, cached: &Cached, folds: &BTreeSet<usize>) {
    unreadable(writer, cached);
    flagged(writer, &cached.flags);
    json_rows::raw(writer, &json::pretty(cached.action.input.as_str()).into(), folds);
    writer.needed_until_here();
    let beside = action::beside(&cached.action.raw);
    if beside.is_empty() {
        return;
    }
    writer.blank();
    writer.ours(Kind::Key, "Beside it, and not understood by this version");
    for member in beside {
        writer.wrapped(Kind::Key, 2, &key_of(&member));
        writer.json(4, json::pretty(member.value));
    }
}

/// What stands in for an action shows bytes, and says that they are no more than that.
fn unreadable(writer: &mut Writer, cached: &Cached) {
    let Some(stand_in) = cached.action.row.unreadable else { return };
    writer.ours(Kind::Warn, format!("! this cannot be read: {}", stand_in.what));
    let can = if stand_in.has_id {
        "What came stands below. It can be rejected, and not be approved."
    } else {
        "What came stands below. It has no id, so nothing can be decided here."
    };
    writer.ours(Kind::Dim, can);
    writer.blank();
}

/// Keys can hold line breaks too; on one line they are tokens.
pub(crate) fn key_of(member: &Member<'_>) -> Shown {
    let name = if member.key.lossy { member.raw_key } else { member.key.text.as_ref() };
    text::line(&Untrusted::from(name))
}

/// A value for reading: a string's meaning, a short list or object on one line, a long one indented. A string that could be
/// taken for something else keeps its quotes.
pub(crate) fn readable(value: &str) -> String {
    let value = value.trim();
    if value.starts_with('"') {
        let Decoded { text: meaning, lossy } = json::decode(value);
        // Half a surrogate pair is no character: it is shown as it was written.
        let ambiguous = lossy
            || meaning.trim().is_empty()
            || matches!(meaning.as_ref(), "null" | "true" | "false")
            || (meaning.starts_with(['{', '[', '"']) && RawJson::parse(meaning.as_ref()).is_ok())
            || (!meaning.contains('\n') && meaning.trim() != meaning)
            || meaning.parse::<f64>().is_ok();
        return if ambiguous { json::legible(value).into_owned() } else { meaning.into_owned() };
    }
    if !value.starts_with(['{', '[']) {
        return value.to_owned();
    }
    let value = json::legible(value);
    let compact = json::compact(&value);
    if compact.len() <= 40 { compact } else { json::pretty(&value) }
}

fn flagged(writer: &mut Writer, flags: &Flags) {
    if flags.hidden > 0 {
        writer.ours(Kind::Warn, format!("! hidden characters: {}, shown as ⟦…⟧", flags.hidden));
    }
    if !flags.duplicates.is_empty() {
        let line = Shown::ours("! duplicate keys: ").followed_by(some(&flags.duplicates));
        let line = line.followed_by(Shown::ours("; executors differ in which one they take"));
        writer.wrapped(Kind::Warn, 0, &line);
    }
    if !flags.alike.is_empty() {
        let line = Shown::ours("! keys that look like another beside them: ").followed_by(some(&flags.alike));
        writer.wrapped(Kind::Warn, 0, &line);
    }
    if flags.odd > 0 {
        let words = json::ODD_WORDS.join(", ");
        writer.ours(Kind::Warn, format!("! no JSON: {} of {words} stand where a value should", flags.odd));
    }
    if flags.broken > 0 {
        writer.ours(Kind::Warn, format!("! strings that do not decode: {} (see Raw)", flags.broken));
    }
    let words = flags.words();
    if !words.is_empty() {
        writer.ours(Kind::Warn, format!("! look twice: {words}"));
    }
    let notes: Vec<_> = flags.badges.notes().map(Badge::word).collect();
    if !notes.is_empty() {
        writer.ours(Kind::Dim, format!("note: {}", notes.join(", ")));
    }
    if flags.any() || !notes.is_empty() {
        writer.blank();
    }
}

/// So many names are enough to know.
const NAMED: usize = 20;

fn some(keys: &[String]) -> Shown {
    let mut names = Shown::ours("");
    for (nth, key) in keys.iter().take(NAMED).enumerate() {
        names = names.followed_by(Shown::ours(if nth > 0 { ", " } else { "" })).followed_by(text::part(key));
    }
    let more = keys.len().saturating_sub(NAMED);
    if more > 0 { names.followed_by(Shown::ours(format!(", and at least {more} more"))) } else { names }
}

fn footer(writer: &mut Writer, cached: &Cached, showing: Option<&Showing>) {
    writer.blank();
    let size = size(cached.action.input.as_str().len());
    if cached.flags.hidden == 0 {
        writer.ours(Kind::Dim, format!("Hidden characters: none.  {size}"));
    } else {
        writer.ours(Kind::Dim, size);
    }
    if !cached.action.row.status.is_pending() || cached.action.row.unreadable.is_some() {
        return;
    }
    writer.blank();
    writer.ours(Kind::Key, "What approving does");
    let known = tool::definition(cached.action.row.tool.as_raw()).approving.as_deref();
    let approving = known.unwrap_or("runs this tool with exactly this input; placet knows no more of it");
    writer.wrapped(Kind::Plain, 2, &Shown::ours(approving));
    let undone = match showing.and_then(|showing| showing.reversible.as_ref()) {
        Some(Reversible::No) => (Kind::Warn, "cannot be undone".to_owned()),
        Some(Reversible::Yes) => (Kind::Plain, "can be undone".to_owned()),
        Some(Reversible::ByHand(how)) => (Kind::Plain, format!("can be undone by hand: {how}")),
        None => return,
    };
    writer.wrapped(undone.0, 2, &Shown::ours(undone.1));
}

/// One edited field: its key, the value it had, and the new one, each as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) key: String,
    pub(crate) old: Option<String>,
    pub(crate) new: String,
}

/// What edits change of an input, field by field.
pub(crate) fn changes(input: &RawJson, edits: &Edits) -> Vec<Change> {
    let (old, new) = (input.members().unwrap_or_default(), edits.as_json().members().unwrap_or_default());
    let change = |member: &Member<'_>| {
        let before = old.iter().find(|known| known.key.text == member.key.text);
        Change {
            key: member.key.text.as_ref().to_owned(),
            old: before.map(|known| known.value.trim().to_owned()),
            new: member.value.trim().to_owned(),
        }
    };
    new.iter().map(change).collect()
}

/// Columns of a value in a title.
const IN_TITLE: usize = 24;

/// A title with the new values in it: `129.90 → 129.00 EUR to pim`. What it does not say stands behind it.
pub(crate) fn edited_title(title: &Untrusted, changes: &[Change]) -> Shown {
    let plain = |value: &str| match value.strip_prefix('"') {
        Some(_) => json::decode(value).text.into_owned(),
        None => value.to_owned(),
    };
    let arrow = || Shown::ours(" → ");
    let value = |text: &str| text::line(&Untrusted::from(text)).cut(IN_TITLE);
    let (mut shown, mut left) = (None, Vec::new());
    for change in changes {
        let (old, new) = (change.old.as_deref().map(plain), plain(&change.new));
        let split = old.as_deref().filter(|old| !old.is_empty() && shown.is_none());
        match split.and_then(|old| title.as_raw().split_once(old)) {
            Some((before, after)) => {
                let old = value(&old.unwrap_or_default());
                let parts = [text::part(before), old, arrow(), value(&new), text::part(after)];
                shown = parts.into_iter().reduce(Shown::followed_by);
            }
            None => left.push((&change.key, old, new)),
        }
    }
    let mut shown = shown.unwrap_or_else(|| text::line(title));
    for (key, old, new) in left {
        let name = Shown::ours("  ").followed_by(value(key)).followed_by(Shown::ours(" "));
        let from = old.map_or_else(|| Shown::ours("+ "), |old| value(&old).followed_by(arrow()));
        shown = shown.followed_by(name).followed_by(from).followed_by(value(&new));
    }
    shown
}

/// Names, through the door, joined.
pub(crate) fn listed(keys: &[String]) -> String {
    keys.iter().map(|key| text::line(&key.as_str().into()).plain()).collect::<Vec<_>>().join(", ")
}

pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

// What a number means, in words beside it. The number stays as it was written.

/// A currency is short; what is longer is no unit.
const WIDEST: usize = 16;

/// What to say after a value; nothing where it is not what the unit is for.
pub(crate) fn after(unit: &Unit, value: &str, beside: &[Member<'_>]) -> Option<Shown> {
    match unit {
        Unit::Word(word) => is_number(value).then(|| Shown::ours(word.as_str())),
        Unit::Of(key) => {
            let of = beside.iter().find(|member| member.key.text == key.as_str())?.value;
            let unit = text::part(&json::decode(of).text);
            (of.starts_with('"') && is_number(value) && unit.width() <= WIDEST).then_some(unit)
        }
        Unit::Cents => Some(Shown::ours(format!("cents, {}", shifted(value, -2)?))),
        Unit::Share => Some(Shown::ours(format!("({} %)", shifted(value, 2)?))),
    }
}

fn is_number(value: &str) -> bool {
    value.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// A plain decimal with its point moved to the right (or to the left), digit by digit, so that nothing is rounded. `None` for
/// anything else, such as `1e3`.
fn shifted(value: &str, places: i32) -> Option<String> {
    let (sign, digits) = value.strip_prefix('-').map_or(("", value), |rest| ("-", rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(part) || whole.len() + part.len() > 30 {
        return None;
    }
    let count = usize::try_from(places.unsigned_abs()).ok()?;
    let (whole, part) = if places >= 0 {
        let part = format!("{part:0<count$}");
        let (moved, rest) = part.split_at(count);
        (format!("{whole}{moved}"), rest.trim_end_matches('0').to_owned())
    } else {
        let whole = format!("{whole:0>width$}", width = count + 1);
        let (rest, moved) = whole.split_at(whole.len() - count);
        (rest.to_owned(), format!("{moved}{part}"))
    };
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_moves_and_no_digit_is_lost() {
        let moved = |value, places| shifted(value, places).unwrap_or_default();

        assert_eq!(moved("1250", -2), "12.50");
        assert_eq!(moved("5", -2), "0.05");
        assert_eq!(moved("-12345", -2), "-123.45");
        assert_eq!(moved("0.82", 2), "82");
        assert_eq!(moved("0.825", 2), "82.5");
        assert_eq!(moved("1", 2), "100");
        assert_eq!(moved("1.0", 2), "100");
        for odd in ["1e3", "", "abc", ".5", "99999999999999999999999999999999"] {
            assert_eq!(shifted(odd, 2), None, "{odd}");
        }
    }
}
