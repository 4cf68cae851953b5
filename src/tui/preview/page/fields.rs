//! The Rendered and Raw tabs: the input as fields, or as the JSON that runs.

use std::collections::BTreeSet;

use crate::contract::tool::Reversible;
use crate::contract::{action, tool};
use crate::domain::{Binding, Edits, RawJson, Status, Untrusted, changes, json, merge};
use crate::text;
use crate::text::{Badge, Flags, Shown};

use super::json_rows;
use super::line::{Kind, key_of, kind_of, listed, moment, readable};
use super::made::{Cached, Made};
use super::preview_comparison::PreviewComparison;
use super::value::Values;
use super::writer::Writer;
use crate::tui::preview::words;

/// An input with more fields is shown as JSON.
const FIELDS: usize = 2_000;

/// Writes the Rendered tab: all fields of the input, the effect of approving, and the agent's own words.
pub(crate) fn rendered(writer: &mut Writer, cached: &Cached, of: &Made, zone: &jiff::tz::TimeZone) {
    settled(writer, cached, of, zone);
    approvals(writer, cached, of, zone);
    unreadable(writer, cached);
    if of.seen.is_some() {
        writer.ours(Kind::Warn, words::CHANGED);
    }
    flagged(writer, &cached.flags);
    if let Some(edits) = &of.edits {
        writer.ours(Kind::New, words::edits_replace(whose_edits(cached, edits), &listed(&edits.keys())));
        writer.blank();
    }
    if of.edits.as_ref().is_some_and(|edits| is_approved(cached, edits)) {
        writer.ours(Kind::Key, words::with_edits(words::WHAT_RUNS));
    }
    let merged = of.edits.as_ref().and_then(|edits| merge(&cached.action.input, edits).ok());
    let changes = of.edits.as_ref().map(|edits| changes(&cached.action.input, edits)).unwrap_or_default();
    let input = ran(writer, cached).or(merged.as_ref()).unwrap_or(&cached.action.input);
    let said = PreviewComparison::of(cached);
    let mut values = Values::new(writer, &said, input);
    values.changes = &changes;
    let showing = tool::showing(cached.action.row.tool.as_raw());
    match input.members() {
        Some(members) if members.len() <= FIELDS => {
            values.input(&members, showing.map_or(&[], |showing| &showing.fields));
        }
        _ if input.as_str().trim_start().starts_with(['{', '[']) => values.nested(0, input.as_str(), None),
        _ => writer.long(Kind::Plain, 0, readable(input.as_str())),
    }
    what_approving_does(writer, cached);
    if cached.action.before.is_some() {
        writer.blank();
        writer.ours(Kind::Dim, words::SEE_DIFF);
    }
    said.write(writer);
}

/// Returns the input that runs or ran, with the approver's edits.
fn ran<'a>(writer: &mut Writer, cached: &'a Cached) -> Option<&'a RawJson> {
    let action = &cached.action;
    let what = match action.row.status {
        Status::Executed | Status::Failed => words::WHAT_RAN,
        Status::Unknown => words::WHAT_MAY_HAVE_RUN,
        Status::Approved | Status::Running => words::WHAT_RUNS,
        _ => return None,
    };
    let edited = action.effective_input.as_ref().filter(|input| **input != action.input);
    if edited.is_some() {
        writer.ours(Kind::Key, words::with_edits(what));
    } else if action.row.status == Status::Unknown {
        writer.ours(Kind::Key, what);
    }
    edited
}

fn whose_edits(cached: &Cached, edits: &Edits) -> &'static str {
    if cached.action.row.status.is_pending() && !is_approved(cached, edits) {
        words::YOUR_EDITS_REPLACE
    } else {
        words::APPROVED_EDITS_REPLACE
    }
}

/// Returns true if the edits are those of an approver while further approvals are missing.
fn is_approved(cached: &Cached, edits: &Edits) -> bool {
    let action = &cached.action;
    let theirs = action.approvals.first().is_some_and(|first| first.edits.as_ref() == Some(edits));
    theirs && action.row.status.is_pending()
}

fn approvals(writer: &mut Writer, cached: &Cached, of: &Made, zone: &jiff::tz::TimeZone) {
    let action = &cached.action;
    let Some(approvals) = &action.row.approvals else { return };
    writer.ours(Kind::Key, words::approvals(approvals.given(), approvals.needed));
    for approval in &action.approvals {
        let what = match &approval.edits {
            Some(edits) => words::approved_with_edits(&listed(&edits.keys())),
            None => words::AS_PROPOSED.to_owned(),
        };
        let at = moment(approval.at, zone);
        writer.push(vec![
            (Kind::Dim, Shown::ours("  ")),
            (Kind::Plain, of.who(&approval.by)),
            (Kind::Dim, Shown::ours(format!("  {what}  {at}"))),
        ]);
    }
    writer.blank();
}

/// Writes the outcome of an ended action, with all that its executor reported.
fn settled(writer: &mut Writer, cached: &Cached, of: &Made, zone: &jiff::tz::TimeZone) {
    let action = &cached.action;
    if action.row.status.is_pending() {
        return;
    }
    let kind = kind_of(&action.row.status);
    let mut line = vec![(kind, text::status_word(&action.row.status))];
    let lost = action.row.status == Status::Unknown;
    if lost {
        line.push((kind, Shown::ours(words::THE_OUTCOME_IS_UNKNOWN)));
        writer.push(std::mem::take(&mut line));
        // Without a name, nothing shows that the decision was taken.
        let known = if action.row.resolved_by.is_some() { "approved" } else { "sent" };
        line.push((Kind::Dim, Shown::ours(known)));
    }
    if let Some(by) = &action.row.resolved_by {
        let how = if lost { " by " } else { words::THEN_DECIDED_BY };
        line.extend([(Kind::Dim, Shown::ours(how)), (Kind::Plain, of.who(by))]);
    }
    if let Some(at) = action.row.resolved_at.filter(|_| lost) {
        line.push((Kind::Dim, Shown::ours(format!("  {}", moment(at, zone)))));
    }
    writer.push(line);
    if action.row.status == Status::Approved {
        let (kind, why) =
            if of.paused { (Kind::Warn, words::GATE_PAUSED) } else { (Kind::Dim, words::WAITING) };
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

/// Writes the Raw tab: the input as indented JSON, its tokens unchanged.
pub(crate) fn raw(writer: &mut Writer, cached: &Cached, folds: &BTreeSet<usize>) {
    unreadable(writer, cached);
    flagged(writer, &cached.flags);
    json_rows::raw(writer, &json::pretty(cached.action.input.as_str()).into(), folds);
    what_approving_does(writer, cached);
    PreviewComparison::of(cached).write(writer);
    let beside = action::beside(&cached.action.raw);
    if beside.is_empty() {
        return;
    }
    writer.blank();
    writer.ours(Kind::Key, words::OTHER_FIELDS);
    for member in beside {
        writer.wrapped(Kind::Key, 2, &key_of(&member));
        writer.json(4, json::pretty(member.value));
    }
}

/// Warns that an item could not be read and is shown as bytes.
fn unreadable(writer: &mut Writer, cached: &Cached) {
    let Some(stand_in) = &cached.action.row.unreadable else { return };
    writer.ours(Kind::Warn, words::unreadable(stand_in.what));
    let can = if stand_in.has_id { words::RAW_WITH_ID } else { words::RAW_WITHOUT_ID };
    writer.ours(Kind::Dim, can);
    writer.blank();
}

fn flagged(writer: &mut Writer, flags: &Flags) {
    if flags.hidden > 0 {
        writer.ours(Kind::Warn, words::hidden_characters(flags.hidden));
    }
    if !flags.duplicates.is_empty() {
        let line = Shown::ours(words::DUPLICATE_KEYS).followed_by(some(&flags.duplicates));
        let line = line.followed_by(Shown::ours(words::EXECUTORS_DIFFER));
        writer.wrapped(Kind::Warn, 0, &line);
    }
    if !flags.alike.is_empty() {
        let line = Shown::ours(words::LOOK_ALIKE_KEYS).followed_by(some(&flags.alike));
        writer.wrapped(Kind::Warn, 0, &line);
    }
    if flags.odd > 0 {
        let words = json::ODD_WORDS.join(", ");
        writer.ours(Kind::Warn, words::odd_json(flags.odd, &words));
    }
    if flags.broken > 0 {
        writer.ours(Kind::Warn, words::broken_strings(flags.broken));
    }
    for host in text::named_hosts(&flags.leads_to) {
        writer.wrapped(Kind::Warn, 0, &Shown::ours(words::LEADS_TO).followed_by(host));
    }
    let words = flags.words();
    if !words.is_empty() {
        writer.ours(Kind::Warn, words::look_twice(&words));
    }
    let notes: Vec<_> = flags.badges.notes().map(Badge::word).collect();
    if !notes.is_empty() {
        writer.ours(Kind::Dim, format!("note: {}", notes.join(", ")));
    }
    if flags.any() || !notes.is_empty() {
        writer.blank();
    }
}

const NAMED: usize = 20;

fn some(keys: &[String]) -> Shown {
    let mut names = Shown::ours("");
    for (nth, key) in keys.iter().take(NAMED).enumerate() {
        names = names.followed_by(Shown::ours(if nth > 0 { ", " } else { "" })).followed_by(text::part(key));
    }
    let more = keys.len().saturating_sub(NAMED);
    if more > 0 { names.followed_by(Shown::ours(words::at_least_more(more))) } else { names }
}

fn what_approving_does(writer: &mut Writer, cached: &Cached) {
    if !cached.action.row.status.is_pending() || cached.action.row.unreadable.is_some() {
        return;
    }
    writer.blank();
    writer.ours(Kind::Key, words::WHAT_APPROVING_DOES);
    let name = cached.action.row.tool.as_raw();
    let known = tool::definition(name).approving.as_deref();
    if let Some(approvals) = cached.action.row.approvals.as_ref().filter(|it| it.given() + 1 < it.needed) {
        let counts = words::counts_as(approvals.given() + 1, approvals.needed);
        writer.wrapped(Kind::Plain, 2, &Shown::ours(counts));
    }
    let approving = known.unwrap_or(match cached.action.row.can.binding {
        // Only a source that compares the input guarantees this.
        Binding::Source | Binding::ReadOnly => words::NO_DESCRIPTION_RUNS,
        Binding::FreshRead => words::NO_DESCRIPTION_OF_TOOL,
    });
    writer.wrapped(Kind::Plain, 2, &Shown::ours(approving));
    let undone = match tool::showing(name).and_then(|showing| showing.reversible.as_ref()) {
        Some(Reversible::No) => (Kind::Warn, words::CANNOT_BE_UNDONE.to_owned()),
        Some(Reversible::Yes) => (Kind::Plain, words::CAN_BE_UNDONE.to_owned()),
        Some(Reversible::ByHand(how)) => (Kind::Plain, words::undone_by_hand(how)),
        None => return,
    };
    writer.wrapped(undone.0, 2, &Shown::ours(undone.1));
}
