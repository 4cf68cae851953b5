//! The Context tab: origin and state of an action. The agent's own words are labelled as such.

use crate::domain::{Capabilities, Fact, FactValue, Row, Untrusted, json};
use crate::inbox::{Answer, DecidedBefore, LATELY, Problem};
use crate::text;
use crate::text::Shown;

use super::line::{Kind, moment, readable, size};
use super::made::{Cached, Made};
use super::writer::Writer;
use crate::tui::preview::words;

const COLUMN: usize = 12;

pub(crate) fn context(
    writer: &mut Writer,
    cached: &Cached,
    row: &Row,
    (of, told): (&Made, Option<&Result<Answer, Problem>>),
    zone: &jiff::tz::TimeZone,
) {
    let action = &cached.action;
    let mut field = |name: &str, value: Option<&Untrusted>| {
        if let Some(value) = value {
            let shown = match name {
                words::DECIDED_BY => of.who(value),
                "agent" | words::ASKED_BY => text::name(value),
                "status" | "reason" | "error" | "risk" | "effect" => text::line(value),
                _ => text::identifier(value),
            };
            writer.push_pair(name, &shown);
        }
    };
    field("id", Some(row.id.untrusted()));
    field("source", Some(&of.key.source.as_str().into()));
    field("tool", Some(&row.tool));
    field("batch", row.batch.as_ref().map(crate::domain::BatchId::untrusted));
    field("workspace", row.workspace.as_ref());
    field("agent", row.agent.as_ref());
    field(words::ASKED_BY, action.requested_by.as_ref());
    field("mission", row.mission.as_ref());
    field("session", row.session.as_ref());
    field("run", row.run.as_ref());
    field(words::TOOL_CALL, action.tool_call.as_ref());
    field("checkpoint", row.checkpoint.as_ref());
    field("risk", Some(&row.risk.as_raw().into()));
    field("effect", row.effect.as_ref().map(|effect| effect.as_raw().into()).as_ref());
    // `row` is as old as the list; the action was read for this page.
    field("status", Some(&action.row.status.word()));
    field(words::DECIDED_BY, action.row.resolved_by.as_ref());
    field("reason", action.reason.as_ref());
    field("error", action.error.as_ref());
    writer.push_pair("created", &Shown::ours(moment(row.created_at, zone)));
    if let Some(at) = row.expires_at {
        writer.push_pair("expires", &Shown::ours(moment(at, zone)));
    }
    writer.push_pair("size", &Shown::ours(size(action.input.as_str().len())));
    writer.push_pair("digest", &Shown::ours(cached.digest.to_string()));
    if row.digest.is_some_and(|label| label != cached.digest) {
        writer.ours(Kind::Warn, words::OTHER_DIGEST);
    }
    if let Some(can) = &of.can {
        deciding(writer, can);
    }
    words(writer, cached);
    if let Some(Ok(Answer::Context(_, Some(before)))) = told
        && !cached.flags.any()
    {
        decided_before(writer, before);
    }
    passages(writer, told, zone);
}

/// Writes the warnings about deciding, all of them.
fn deciding(writer: &mut Writer, can: &Capabilities) {
    let told = can.told();
    if told.is_empty() {
        return;
    }
    writer.blank();
    writer.ours(Kind::Key, words::BEFORE_YOU_DECIDE);
    for (_, words) in told {
        writer.wrapped(Kind::Plain, 2, &Shown::ours(format!("- {words}")));
    }
}

/// Writes `1 excluded ("duplicate"), 14 approved in 7 days`.
fn decided_before(writer: &mut Writer, before: &DecidedBefore) {
    writer.blank();
    writer.ours(Kind::Key, words::SAME_TOOL);
    let at_least = if before.at_least { words::AT_LEAST } else { "" };
    let approved = (before.approved > 0).then(|| format!("{} approved", before.approved));
    let mut line = Shown::ours(at_least);
    if before.excluded > 0 {
        line = line.followed_by(Shown::ours(format!("{} excluded", before.excluded)));
        for (nth, reason) in before.reasons.iter().enumerate() {
            let open = if nth == 0 { " (\"" } else { ", \"" };
            line = line.followed_by(Shown::ours(open)).followed_by(text::first_line(reason));
            line = line.followed_by(Shown::ours("\""));
        }
        let close = if before.reasons.is_empty() { "" } else { ")" };
        line = line.followed_by(Shown::ours(if approved.is_some() {
            format!("{close}, ")
        } else {
            close.to_owned()
        }));
    }
    let rest = words::in_days(&approved.unwrap_or_default(), LATELY);
    writer.wrapped(Kind::Plain, 2, &line.followed_by(Shown::ours(rest)));
    writer.ours(Kind::Dim, words::ENTER_LISTS_THEM);
}

fn words(writer: &mut Writer, cached: &Cached) {
    let (summary, preview) = (cached.action.summary.as_ref(), cached.action.preview.as_ref());
    if summary.is_none() && preview.is_none() {
        return;
    }
    writer.blank();
    writer.ours(Kind::Key, words::AGENTS_NOTE);
    if let Some(summary) = summary {
        writer.long(Kind::Plain, 2, summary.as_raw());
    }
    if let Some(preview) = preview {
        let text = readable(preview.as_str());
        if text.starts_with(['{', '[']) {
            writer.json(2, json::pretty(&text));
        } else {
            writer.long(Kind::Plain, 2, text);
        }
    }
}

// The context that a source provides: the run, its earlier steps, facts. All of it is foreign text.

/// Longest name that keeps the value on the same line.
const LONGEST_NAME: usize = 18;
const MOST: usize = 1_000;
/// Longest text in bytes that may fit on one line.
const LONG: usize = 2_000;

pub(crate) fn passages(
    writer: &mut Writer,
    told: Option<&Result<Answer, Problem>>,
    zone: &jiff::tz::TimeZone,
) {
    let passages = match told {
        Some(Err(problem)) => {
            writer.blank();
            let what = words::no_more_context(&problem.what);
            writer.ours(Kind::Warn, what);
            if let Some(why) = &problem.why {
                writer.wrapped(Kind::Plain, 2, &text::line(why));
            }
            return;
        }
        Some(Ok(Answer::Context(passages, _))) => passages,
        _ => {
            writer.blank();
            return writer.ours(Kind::Dim, words::ASKING_CONTEXT);
        }
    };
    for passage in passages {
        writer.blank();
        writer.ours(Kind::Key, passage.title);
        let name = |fact: &Fact| text::line(&fact.name).width();
        let longest = passage.facts.iter().take(MOST).map(name).filter(|width| *width <= LONGEST_NAME).max();
        let column = longest.unwrap_or_default() + 2;
        for one in passage.facts.iter().take(MOST) {
            fact(writer, column, one, zone);
        }
        if passage.facts.len() > MOST {
            writer.ours(Kind::Dim, words::and_more(passage.facts.len() - MOST));
        }
    }
}

/// Writes `name  value  2026-11-21 14:22:31 UTC` if it fits, or else the value below its name.
fn fact(writer: &mut Writer, column: usize, fact: &Fact, zone: &jiff::tz::TimeZone) {
    let name = text::line(&fact.name);
    let at = fact.at.map_or_else(Shown::default, |at| Shown::ours(format!("  {}", moment(at, zone))));
    let value = match &fact.value {
        FactValue::Id(id) => Some(text::identifier(id)),
        FactValue::Text(value) => one_line(value.as_raw()),
        FactValue::Json(value) => {
            let text = readable(value.as_str());
            if text.starts_with(['{', '[']) { one_line(&json::compact(&text)) } else { one_line(&text) }
        }
    };
    let room = writer.width.saturating_sub(column + at.width());
    if let Some(value) = value.filter(|value| name.width() + 2 <= column && value.width() <= room) {
        let gap = Shown::ours(" ".repeat(column - name.width()));
        return writer.push(vec![
            (Kind::Dim, name),
            (Kind::Plain, gap),
            (Kind::Plain, value),
            (Kind::Dim, at),
        ]);
    }
    writer.wrapped(Kind::Dim, 0, &name.followed_by(at));
    match &fact.value {
        FactValue::Id(id) => writer.wrapped(Kind::Plain, 2, &text::identifier(id)),
        FactValue::Text(value) => writer.long(Kind::Plain, 2, value.as_raw()),
        FactValue::Json(value) => {
            let text = readable(value.as_str());
            if text.starts_with(['{', '[']) {
                writer.json(2, json::pretty(&text));
            } else {
                writer.long(Kind::Plain, 2, text);
            }
        }
    }
}

fn one_line(text: &str) -> Option<Shown> {
    let short = text.len() <= LONG && !text.contains('\n');
    short.then(|| text::blank(text).unwrap_or_else(|| text::part(text)))
}

impl Writer {
    fn push_pair(&mut self, name: &str, value: &Shown) {
        let pad = " ".repeat(COLUMN.saturating_sub(name.len()));
        let mut rows = value.wrap(self.width.saturating_sub(COLUMN).max(8)).into_iter();
        let first = rows.next().unwrap_or_default();
        self.push(vec![(Kind::Dim, Shown::ours(format!("{name}{pad}"))), (Kind::Plain, first)]);
        for row in rows {
            self.push(vec![(Kind::Plain, Shown::ours(" ".repeat(COLUMN))), (Kind::Plain, row)]);
        }
    }
}
