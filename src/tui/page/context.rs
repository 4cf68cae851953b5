//! Where an action comes from and where it stands. The agent's own words are labelled as such.

use crate::domain::{Capabilities, Passage, Row, Timestamp, Untrusted, json};
use crate::inbox::Problem;
use crate::text::{self, Shown};
use crate::tui::model::Cached;

use super::fields::{readable, size};
use super::passage::passages;
use super::{Kind, Made, Writer};

const COLUMN: usize = 12;

pub(super) fn context(
    writer: &mut Writer,
    cached: &Cached,
    row: &Row,
    (of, told): (&Made, Option<&Result<Vec<Passage>, Problem>>),
    zone: &jiff::tz::TimeZone,
) {
    let action = &cached.action;
    let mut field = |name: &str, value: Option<&Untrusted>| {
        if let Some(value) = value {
            let shown = match name {
                "agent" | "asked by" | "decided by" => text::name(value),
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
    field("asked by", action.requested_by.as_ref());
    field("mission", row.mission.as_ref());
    field("session", row.session.as_ref());
    field("run", row.run.as_ref());
    field("tool call", action.tool_call.as_ref());
    field("checkpoint", row.checkpoint.as_ref());
    field("risk", Some(&row.risk.as_raw().into()));
    field("effect", row.effect.as_ref().map(|effect| effect.as_raw().into()).as_ref());
    // The list's row is as old as the list; the action was read for this page.
    field("status", Some(&action.row.status.word()));
    field("decided by", action.row.resolved_by.as_ref());
    field("reason", action.reason.as_ref());
    field("error", action.error.as_ref());
    writer.push_pair("created", &Shown::ours(moment(row.created_at, zone)));
    if let Some(at) = row.expires_at {
        writer.push_pair("expires", &Shown::ours(moment(at, zone)));
    }
    writer.push_pair("size", &Shown::ours(size(action.input.as_str().len())));
    writer.push_pair("digest", &Shown::ours(cached.digest.to_string()));
    if row.digest.is_some_and(|label| label != cached.digest) {
        writer.ours(Kind::Warn, "! the source labels this content with another digest");
    }
    if let Some(can) = &of.can {
        deciding(writer, can);
    }
    words(writer, cached);
    passages(writer, told, zone);
}

/// What to know before a key is pressed, all of it.
fn deciding(writer: &mut Writer, can: &Capabilities) {
    let told = can.told();
    if told.is_empty() {
        return;
    }
    writer.blank();
    writer.ours(Kind::Key, "Before you decide");
    for (_, words) in told {
        writer.wrapped(Kind::Plain, 2, &Shown::ours(format!("- {words}")));
    }
}

/// What the proposing side says about its own proposal.
fn words(writer: &mut Writer, cached: &Cached) {
    let (summary, preview) = (cached.action.summary.as_ref(), cached.action.preview.as_ref());
    if summary.is_none() && preview.is_none() {
        return;
    }
    writer.blank();
    writer.ours(Kind::Key, "The agent's words (not what runs)");
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

pub(super) fn moment(at: Timestamp, zone: &jiff::tz::TimeZone) -> String {
    jiff::Timestamp::from_millisecond(at.as_millis()).map_or_else(
        |_| "out of range".to_owned(),
        |at| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string(),
    )
}
