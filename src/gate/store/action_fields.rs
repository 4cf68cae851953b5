//! The fields of an action, each declared once.
//!
//! [`FIELDS`] lists what a proposal fixes. The inserts of both databases and the [`record`] of the terms come from it, and
//! the functions below it read a row back. A field that changes later is only in [`whole`] or [`stored`].

use std::sync::Arc;

use self::Table::{Actions, Payloads};
use super::approvals::{self, LIGHT_APPROVALS, WHOLE_APPROVALS};
use super::columns::Columns;
use super::ops::tx::Swept;
use super::rows::{foreign, integer, json, number, time};
use super::sql::Value;
use super::{NewAction, Origin, StoreError, Stored};
use crate::domain::{
    ActionId, BatchId, Capabilities, Digest, Edits, Effect, PendingAction, RawJson, Revision, Risk, Row,
    Status, Timestamp, Untrusted, Via,
};
use crate::gate::terms;
use crate::gate::tool::Tools;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Proposed<'a> {
    pub(crate) action: &'a PendingAction,
    /// Computed from the input, because the stored one may have been changed.
    pub(crate) digest: Digest,
    pub(crate) proposer: &'a str,
    pub(crate) origin: &'a Origin,
}

impl NewAction {
    pub(crate) const fn proposed(&self) -> Proposed<'_> {
        let Self { action, digest, proposer, origin, .. } = self;
        Proposed { action, digest: *digest, proposer: proposer.as_str(), origin }
    }
}

impl Stored {
    pub(crate) fn proposed(&self) -> Proposed<'_> {
        let Self { action, proposer, origin, .. } = self;
        Proposed { action, digest: action.digest(), proposer, origin }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Actions,
    Payloads,
}

#[derive(Debug)]
struct Field {
    column: &'static str,
    table: Table,
    is_bound: bool,
    value: fn(Proposed<'_>) -> Value,
}

const fn bound_field(table: Table, column: &'static str, value: fn(Proposed<'_>) -> Value) -> Field {
    Field { column, table, is_bound: true, value }
}

const fn field(table: Table, column: &'static str, value: fn(Proposed<'_>) -> Value) -> Field {
    Field { column, table, is_bound: false, value }
}

/// The order of the bound fields is the order in which the record digests them.
const FIELDS: [Field; 28] = [
    bound_field(Actions, "id", |it| it.action.row.id.as_raw().into()),
    bound_field(Actions, "workspace", |it| text(it.action.row.workspace.as_ref())),
    bound_field(Actions, "batch", |it| it.action.row.batch.as_ref().map(BatchId::as_raw).into()),
    bound_field(Actions, "checkpoint", |it| text(it.action.row.checkpoint.as_ref())),
    bound_field(Actions, "mission", |it| text(it.action.row.mission.as_ref())),
    bound_field(Actions, "session", |it| text(it.action.row.session.as_ref())),
    bound_field(Actions, "run", |it| text(it.action.row.run.as_ref())),
    bound_field(Actions, "tool_call", |it| text(it.action.tool_call.as_ref())),
    bound_field(Actions, "agent", |it| text(it.action.row.agent.as_ref())),
    bound_field(Actions, "requested_by", |it| text(it.action.requested_by.as_ref())),
    bound_field(Actions, "proposer", |it| it.proposer.into()),
    bound_field(Actions, "tool", |it| it.action.row.tool.as_raw().into()),
    bound_field(Actions, "title", |it| it.action.row.title.as_raw().into()),
    bound_field(Actions, "summary", |it| text(it.action.summary.as_ref())),
    bound_field(Actions, "risk", |it| it.action.row.risk.as_raw().into()),
    bound_field(Actions, "effect", |it| it.action.row.effect.as_ref().map(Effect::as_raw).into()),
    bound_field(Actions, "created_at", |it| it.action.row.created_at.as_millis().into()),
    bound_field(Actions, "expires_at", |it| it.action.row.expires_at.map(Timestamp::as_millis).into()),
    bound_field(Payloads, "preview", |it| it.action.preview.as_ref().map(RawJson::as_str).into()),
    bound_field(Actions, "digest", |it| it.digest.to_string().into()),
    bound_field(Payloads, "before", |it| it.action.before.as_ref().map(RawJson::as_str).into()),
    field(Payloads, "input", |it| it.action.input.as_str().into()),
    field(Actions, "brief", |it| it.action.row.brief.as_ref().map(RawJson::as_str).into()),
    field(Actions, "size", |it| integer(it.action.input.as_str().len() as u64).into()),
    field(Actions, "status", |it| it.action.row.status.as_raw().into()),
    field(Actions, "revision", |it| integer(it.action.row.revision.0).into()),
    field(Actions, "callback", |it| it.origin.callback.as_deref().into()),
    field(Actions, "traceparent", |it| it.origin.traceparent.as_deref().into()),
];

fn text(field: Option<&Untrusted>) -> Value {
    field.map(Untrusted::as_raw).into()
}

/// Digests the bound fields of an action: its record, a part of its terms.
pub(crate) fn record(proposed: Proposed<'_>) -> Digest {
    let bound = FIELDS.iter().filter(|it| it.is_bound);
    let fields: Vec<_> = bound.map(|it| (it.value)(proposed).into_text()).collect();
    Digest::of_fields("placet-record/v1", fields.iter().map(Option::as_deref))
}

/// Returns the columns that an insert into this table fills, separated by commas.
pub(super) fn columns(of: Table) -> String {
    let columns: Vec<_> = FIELDS.iter().filter(|it| it.table == of).map(|it| it.column).collect();
    columns.join(", ")
}

pub(super) fn values(of: Table, proposed: Proposed<'_>) -> impl Iterator<Item = Value> {
    FIELDS.iter().filter(move |it| it.table == of).map(move |it| (it.value)(proposed))
}

/// The columns of a [`Row`] in a list, in the order of a packed one. Named one by one, because the long ones (summary,
/// reason, error) are not read.
pub(super) const LIGHT: [&str; 28] = [
    "seq",
    "id",
    "workspace",
    "batch",
    "checkpoint",
    "mission",
    "session",
    "run",
    "agent",
    "tool",
    "title",
    "brief",
    "risk",
    "effect",
    "size",
    "digest",
    "status",
    "created_at",
    "expires_at",
    "resolved_at",
    "resolved_by",
    "resolved_via",
    "fence",
    "revision",
    "callback",
    "traceparent",
    "edits",
    "approvals",
];

/// Input and edits of an edited approval, to make its title. The separator does not occur in JSON.
const EDITS: &str = "CASE WHEN a.effective_digest <> a.digest AND a.size <= 65536 THEN \
     (SELECT p.input || '\u{1f}' || p.user_edits FROM payloads p WHERE p.seq = a.seq AND length(p.user_edits) <= 65536) END";

fn expression(column: &str, tools: &Tools) -> String {
    match column {
        "edits" => EDITS.to_owned(),
        "approvals" if tools.most_approvals() > 1 => LIGHT_APPROVALS.to_owned(),
        "approvals" => "NULL".to_owned(),
        column => format!("a.{column}"),
    }
}

pub(super) fn listing(tools: &Tools) -> String {
    let columns = LIGHT.map(|column| format!("{} AS {column}", expression(column, tools)));
    format!("SELECT {} FROM actions a", columns.join(", "))
}

pub(super) fn packed_listing(tools: &Tools) -> String {
    let columns = LIGHT.map(|column| expression(column, tools));
    format!("SELECT a.seq, json_array({}) AS packed FROM actions a", columns.join(", "))
}

pub(super) fn whole_with(more: &str) -> String {
    format!(
        "SELECT a.*, p.input, p.preview, p.before, p.user_edits, p.effective_input, p.result, {more}{WHOLE_APPROVALS} AS approvals \
         FROM actions a JOIN payloads p ON p.seq = a.seq"
    )
}

pub(super) fn whole_listing() -> String {
    whole_with("")
}

/// Final statuses without `unknown`, whose outcome a person must still find out. Written exactly like the condition of
/// an index, so that the index is used.
pub(super) const SETTLED: &str =
    "a.status IN ('rejected', 'executed', 'failed', 'expired', 'withdrawn', 'superseded')";

pub(super) fn light(row: &dyn Columns, tools: &Tools) -> Result<Row, StoreError> {
    let mut light = if tools.most_approvals() > 1 { approved(row, tools)? } else { bare(row)? };
    if let Some((input, edits)) = row.maybe_lent("edits")?.as_deref().and_then(|it| it.split_once('\u{1f}')) {
        light.edited = edited(&light, &RawJson::scanned(input), RawJson::scanned(edits), tools);
    }
    Ok(light)
}

fn edited(row: &Row, input: &RawJson, edits: RawJson, tools: &Tools) -> Option<Untrusted> {
    let edits = Edits::new(edits).ok().filter(|_| !row.status.is_pending())?;
    Some(tools.definition(row.tool.as_raw()).edited(&row.tool, &row.title, input, &edits))
}

fn approved(row: &dyn Columns, tools: &Tools) -> Result<Row, StoreError> {
    let mut light = bare(row)?;
    let (tool, risk) = (light.tool.as_raw(), &light.risk);
    let by = approvals::names(row, light.status.is_pending(), || tools.policy(tool, risk))?;
    let told = approvals::told(&light, by, tools.approvals(tool, risk));
    light.approvals = told.map(Arc::new);
    Ok(light)
}

/// Reads a row without the fields that depend on the tools.
fn bare(row: &dyn Columns) -> Result<Row, StoreError> {
    Ok(Row {
        id: ActionId::new(row.lent("id")?),
        batch: row.maybe_lent("batch")?.map(BatchId::new),
        checkpoint: foreign(row, "checkpoint")?,
        workspace: foreign(row, "workspace")?,
        mission: foreign(row, "mission")?,
        session: foreign(row, "session")?,
        run: foreign(row, "run")?,
        agent: foreign(row, "agent")?,
        tool: Untrusted::new(row.lent("tool")?),
        title: Untrusted::new(row.lent("title")?),
        edited: None,
        brief: row.maybe_lent("brief")?.map(|text| RawJson::scanned(&text)),
        risk: Risk::parse(&row.lent("risk")?),
        effect: row.maybe_lent("effect")?.map(|word| Effect::parse(&word)),
        status: Status::parse(&row.lent("status")?),
        created_at: Timestamp::from_millis(row.int("created_at")?),
        expires_at: time(row, "expires_at")?,
        resolved_at: time(row, "resolved_at")?,
        resolved_by: foreign(row, "resolved_by")?,
        resolved_via: row.maybe_lent("resolved_via")?.and_then(|word| Via::parse(&word)),
        size: number(row.int("size")?),
        digest: Digest::parse(&row.lent("digest")?),
        revision: Revision(number(row.int("revision")?)),
        approvals: None,
        unreadable: None,
        can: Capabilities::READ_ONLY,
    })
}

pub(super) fn whole(row: &dyn Columns, tools: &Tools) -> Result<PendingAction, StoreError> {
    let mut light = approved(row, tools)?;
    let input = json(row, "input")?.ok_or(StoreError::Corrupt("an action without an input"))?;
    let edits = json(row, "user_edits")?.map(Edits::new).transpose();
    light.edited = json(row, "user_edits")?.and_then(|edits| edited(&light, &input, edits, tools));
    let merged = json(row, "effective_input")?;
    // Without edits the merged input is the proposed one, and is not stored twice.
    let was_approved = light.resolved_at.is_some() && runs(&light.status) || light.has_lapsed();
    let policy = tools.policy(light.tool.as_raw(), &light.risk);
    let mut action = PendingAction {
        terms: None,
        effective_input: merged.or_else(|| was_approved.then(|| input.clone())),
        preview: json(row, "preview")?,
        before: json(row, "before")?,
        summary: foreign(row, "summary")?,
        requested_by: foreign(row, "requested_by")?,
        tool_call: foreign(row, "tool_call")?,
        approvals: Vec::new(),
        user_edits: edits.map_err(|_| StoreError::Corrupt("edits that are no edits"))?,
        reason: foreign(row, "reason")?,
        result: json(row, "result")?,
        error: foreign(row, "error")?,
        executed_at: time(row, "executed_at")?,
        goes_on: false,
        // There is no reply yet whose bytes could be here; the gate never reads this field.
        raw: input.clone(),
        input,
        row: light,
    };
    let (proposer, origin) = (row.text("proposer")?, origin(row)?);
    let digest = action.digest();
    let record = record(Proposed { action: &action, digest, proposer: &proposer, origin: &origin });
    action.terms = Some(terms::terms(record, policy));
    action.approvals = approvals::standing(approvals::kept(row)?, &action);
    Ok(action)
}

pub(super) fn stored(row: &dyn Columns, tools: &Tools) -> Result<Stored, StoreError> {
    let damaged = StoreError::Corrupt("a digest that is none");
    let effective = row.maybe_text("effective_digest")?;
    Ok(Stored {
        seq: row.int("seq")?,
        action: whole(row, tools)?,
        proposer: row.text("proposer")?,
        origin: origin(row)?,
        approvals: approvals::kept(row)?,
        effective_digest: effective.map(|text| Digest::parse(&text).ok_or(damaged)).transpose()?,
        approved_terms: row.maybe_text("approved_terms")?,
        decision_revision: row.maybe_int("decision_revision")?.map(number),
        fence: number(row.int("fence")?),
        lease_by: row.maybe_text("lease_by")?,
        lease_until: time(row, "lease_until")?,
        renewed_until: time(row, "renewed_until")?,
    })
}

fn origin(row: &dyn Columns) -> Result<Origin, StoreError> {
    Ok(Origin { callback: row.maybe_text("callback")?, traceparent: row.maybe_text("traceparent")? })
}

/// A damaged row must not keep the others from being swept.
pub(super) fn swept(row: &dyn Columns) -> Option<Swept> {
    let swept = || {
        let fence = number(row.int("fence")?);
        Ok::<_, StoreError>(Swept { seq: row.int("seq")?, row: bare(row)?, origin: origin(row)?, fence })
    };
    swept().inspect_err(|error| tracing::error!(%error, "a row cannot be swept")).ok()
}

fn runs(status: &Status) -> bool {
    matches!(status, Status::Approved | Status::Running | Status::Executed | Status::Failed | Status::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(origin: &Origin) -> [String; 2] {
        let text = |text: &str| Some(Untrusted::from(text));
        let row = Row {
            workspace: text("w"),
            batch: Some(BatchId::new("batch")),
            checkpoint: text("checkpoint"),
            mission: text("mission"),
            session: text("session"),
            run: text("run"),
            agent: text("agent"),
            risk: Risk::High,
            effect: Some(Effect::External),
            created_at: Timestamp::from_millis(1_776_794_531_420),
            expires_at: Some(Timestamp::from_millis(1_776_794_531_421)),
            revision: Revision(7),
            ..Row::new(ActionId::new("id"), "tool".into(), "title".into())
        };
        let input = RawJson::parse(r#"{"n":1.10}"#).unwrap();
        let action = PendingAction {
            tool_call: text("call"),
            requested_by: text("asker"),
            summary: text(""),
            before: Some(RawJson::parse(r#"{"n":1}"#).unwrap()),
            ..PendingAction::new(row, input.clone(), input)
        };
        let digest = action.digest();
        let record = record(Proposed { action: &action, digest, proposer: "proposer", origin });
        let policy = Digest::of_fields("placet-policy/v1", [None, Some("manual"), Some("pull")]);
        [record, terms::terms(record, policy)].map(|digest| digest.to_string())
    }

    /// Computed independently, with Python's hashlib. Approvals that were given name these digests.
    #[test]
    fn record_and_terms_digest_the_published_fields_in_order() {
        let origin = Origin { callback: Some("hook".to_owned()), traceparent: Some("00-1".to_owned()) };

        assert_eq!(digests(&origin), digests(&Origin::default()), "the origin is in no digest");
        assert_eq!(
            digests(&origin),
            [
                "sha256:dd6ade2d422f3275a7a4383cd023c7e99bb21b4035cd8507bdf3fee305a21aa1",
                "sha256:1ad9fe3502b45cda073ee6521d65db8100ca6035d9ff9b6c18e4de8f6ae206ea",
            ]
        );
    }
}
