//! Converts database rows to domain types.

use std::sync::Arc;

use super::approvals::{self, light_approvals, whole_approvals};
use super::columns::Columns;
use super::ops::tx::Swept;
use super::{Callback, KeptToken, Origin, StoreError, Stored};
use crate::domain::{
    ActionId, BatchId, Capabilities, Claim, Digest, Edits, Effect, PendingAction, RawJson, Revision, Risk,
    Row, Status, Timestamp, Untrusted, Via,
};
use crate::gate::audit::AuditRow;
use crate::gate::terms;
use crate::gate::token::{Scope, Token};
use crate::gate::tool::Tools;

/// The columns of a [`Row`], and their source. Named one by one, because the long ones (summary, reason, error) are not
/// read.
macro_rules! light_columns {
    ($as:ident) => {
        $as!(
            seq,
            id,
            workspace,
            batch,
            checkpoint,
            mission,
            session,
            run,
            agent,
            tool,
            title,
            risk,
            effect,
            size,
            digest,
            status,
            created_at,
            expires_at,
            resolved_at,
            resolved_by,
            resolved_via,
            fence,
            revision,
            callback,
            traceparent
        )
    };
}
macro_rules! names {
    ($($column:ident),*) => { [$(stringify!($column),)* "edits", "approvals"] };
}
macro_rules! apart {
    ($first:ident, $($column:ident),*) => { concat!("a.", stringify!($first), $(", a.", stringify!($column)),*) };
}
/// Selects these columns, then input and edits of an edited approval, to make its title. The separator does not occur
/// in JSON.
macro_rules! select {
    ($head:literal, $($tail:tt)+) => {
        concat!(
            $head,
            light_columns!(apart),
            ", CASE WHEN a.effective_digest <> a.digest AND a.size <= 65536 THEN \
             (SELECT p.input || '\u{1f}' || p.user_edits FROM payloads p WHERE p.seq = a.seq AND length(p.user_edits) <= 65536) END",
            $($tail)+
        )
    };
}
pub(super) const PACKED_COLUMNS: usize = 27;
/// The columns of a packed row, in order; the last is the NULL in [`PACKED`].
pub(super) const NAMES: [&str; PACKED_COLUMNS] = light_columns!(names);
pub(super) const LIGHT: &str = select!("SELECT ", " AS edits FROM actions a");
/// [`LIGHT`] with approvals, if some tool needs several.
pub(super) const LIGHT_APPROVED: &str =
    select!("SELECT ", " AS edits, ", light_approvals!(), " AS approvals FROM actions a");
/// [`LIGHT`] and [`LIGHT_APPROVED`] with all columns in one.
pub(super) const PACKED: &str = select!("SELECT a.seq, json_array(", ", NULL) AS packed FROM actions a");
pub(super) const PACKED_APPROVED: &str =
    select!("SELECT a.seq, json_array(", ", ", light_approvals!(), ") AS packed FROM actions a");

pub(super) const fn listing(tools: &Tools) -> &'static str {
    if tools.most_approvals() > 1 { LIGHT_APPROVED } else { LIGHT }
}

pub(super) const fn packed_listing(tools: &Tools) -> &'static str {
    if tools.most_approvals() > 1 { PACKED_APPROVED } else { PACKED }
}

pub(super) const WHOLE: &str = concat!(
    "SELECT a.*, p.input, p.preview, p.before, p.user_edits, p.effective_input, p.result, ",
    whole_approvals!(),
    " AS approvals FROM actions a JOIN payloads p ON p.seq = a.seq"
);
/// [`WHOLE`] with the time of the newest audit row.
pub(super) const WHOLE_SETTLED: &str = concat!(
    "SELECT a.*, p.input, p.preview, p.before, p.user_edits, p.effective_input, p.result, h.at AS settled_at, ",
    whole_approvals!(),
    " AS approvals FROM actions a JOIN payloads p ON p.seq = a.seq JOIN audit h ON h.workspace = a.workspace AND h.revision = a.revision"
);
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

/// Reads a row with its approvers.
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
    let record = terms::record(&action, &row.text("proposer")?);
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

pub(super) fn callback(row: &dyn Columns) -> Result<Callback, StoreError> {
    Ok(Callback {
        workspace: row.text("workspace")?,
        revision: number(row.int("revision")?),
        id: row.text("id")?,
        name: row.text("name")?,
        action: row.text("action")?,
        status: row.text("status")?,
        who: row.maybe_text("who")?,
        at: Timestamp::from_millis(row.int("at")?),
        traceparent: row.maybe_text("traceparent")?,
        tries: number(row.int("tries")?),
        next_at: time(row, "next_at")?,
        error: row.maybe_text("error")?,
        ended_at: time(row, "ended_at")?,
        held_until: time(row, "held_until")?,
    })
}

pub(super) fn claim(row: &dyn Columns) -> Result<Claim, StoreError> {
    Ok(Claim {
        id: ActionId::new(row.text("action")?),
        by: row.text("who")?.into(),
        since: Timestamp::from_millis(row.int("since")?),
    })
}

pub(super) fn audit_row(row: &dyn Columns) -> Result<AuditRow, StoreError> {
    Ok(AuditRow {
        workspace: row.text("workspace")?,
        revision: number(row.int("revision")?),
        action: row.maybe_text("action")?,
        kind: row.text("kind")?,
        at: Timestamp::from_millis(row.int("at")?),
        who: row.maybe_text("who")?,
        details: row.maybe_text("details")?,
        hash: row.bytes("hash")?,
    })
}

pub(super) fn token(row: &dyn Columns) -> Result<(Token, KeptToken), StoreError> {
    let scopes = row.text("scopes")?;
    let token = Token {
        id: row.text("id")?,
        subject: row.text("subject")?,
        name: row.maybe_text("name")?,
        groups: row.text("groups")?.split_terminator(' ').map(str::to_owned).collect(),
        workspace: row.text("workspace")?,
        scopes: Scope::read(&scopes),
        created_at: Timestamp::from_millis(row.int("created_at")?),
        revoked_at: time(row, "revoked_at")?,
        expires_at: time(row, "expires_at")?,
        last_used_at: time(row, "last_used_at")?,
    };
    Ok((token, KeptToken { hash: row.bytes("hash")?, scopes }))
}

pub(super) fn proxied(row: &dyn Columns) -> Result<Token, StoreError> {
    let seen_at = Timestamp::from_millis(row.int("seen_at")?);
    // Names in a directory may contain spaces.
    let groups = row.text("groups")?.split_terminator('\n').map(str::to_owned).collect();
    let (workspace, scopes) = (row.text("workspace")?, Scope::read(&row.text("scopes")?));
    let person = Token::by_proxy(row.text("subject")?, row.maybe_text("name")?, groups);
    Ok(Token { workspace, scopes, last_used_at: Some(seen_at), ..person })
}

/// A damaged row must not keep the others from being swept.
pub(super) fn swept(row: &dyn Columns) -> Option<Swept> {
    let swept = || {
        let fence = number(row.int("fence")?);
        Ok::<_, StoreError>(Swept { seq: row.int("seq")?, row: bare(row)?, origin: origin(row)?, fence })
    };
    swept().inspect_err(|error| tracing::error!(%error, "a row cannot be swept")).ok()
}

/// Converts a signed column that is never negative. A negative value becomes absurdly large, not 0.
pub(super) fn number(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn runs(status: &Status) -> bool {
    matches!(status, Status::Approved | Status::Running | Status::Executed | Status::Failed | Status::Unknown)
}

fn foreign(row: &dyn Columns, column: &str) -> Result<Option<Untrusted>, StoreError> {
    Ok(row.maybe_lent(column)?.map(Untrusted::new))
}

fn time(row: &dyn Columns, column: &str) -> Result<Option<Timestamp>, StoreError> {
    Ok(row.maybe_int(column)?.map(Timestamp::from_millis))
}

fn json(row: &dyn Columns, column: &str) -> Result<Option<RawJson>, StoreError> {
    let text = row.maybe_text(column)?;
    text.map(RawJson::parse).transpose().map_err(|_| StoreError::Corrupt("a payload that is no JSON"))
}
