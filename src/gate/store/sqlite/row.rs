//! Converts rows of the database to actions.

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::domain::{
    ActionId, BatchId, Capabilities, Digest, Edits, Effect, PendingAction, RawJson, Revision, Risk, Row,
    Status, Timestamp, Untrusted,
};
use crate::gate::store::{StoreError, Stored};
use crate::gate::terms;
use crate::gate::tool::Tools;

/// Everything a [`Row`] needs, and where it stands. By name: what is long (summary, reason, error) stays in the database.
pub(super) const LIGHT: &str = "SELECT a.seq, a.id, a.workspace, a.batch, a.checkpoint, a.mission, a.session, a.run, \
     a.agent, a.tool, a.title, a.risk, a.effect, a.size, a.digest, a.status, a.created_at, a.expires_at, \
     a.resolved_at, a.resolved_by, a.fence, a.revision FROM actions a";
/// Everything a [`Stored`] needs.
pub(super) const WHOLE: &str = "SELECT a.*, p.input, p.preview, p.before, p.user_edits, p.effective_input, p.result \
     FROM actions a JOIN payloads p ON p.seq = a.seq";

pub(super) fn light(row: &SqliteRow) -> Result<Row, StoreError> {
    let batch: Option<String> = row.try_get("batch")?;
    let effect: Option<String> = row.try_get("effect")?;
    Ok(Row {
        id: ActionId::new(row.try_get::<String, _>("id")?),
        batch: batch.map(BatchId::new),
        checkpoint: foreign(row, "checkpoint")?,
        workspace: foreign(row, "workspace")?,
        mission: foreign(row, "mission")?,
        session: foreign(row, "session")?,
        run: foreign(row, "run")?,
        agent: foreign(row, "agent")?,
        tool: Untrusted::from(row.try_get::<String, _>("tool")?),
        title: Untrusted::from(row.try_get::<String, _>("title")?),
        risk: Risk::parse(row.try_get("risk")?),
        effect: effect.map(|word| Effect::parse(&word)),
        status: Status::parse(row.try_get("status")?),
        created_at: Timestamp::from_millis(row.try_get("created_at")?),
        expires_at: time(row, "expires_at")?,
        resolved_at: time(row, "resolved_at")?,
        resolved_by: foreign(row, "resolved_by")?,
        size: number(row.try_get("size")?),
        digest: Digest::parse(row.try_get("digest")?),
        revision: Revision(number(row.try_get("revision")?)),
        unreadable: None,
        can: Capabilities::READ_ONLY,
    })
}

pub(super) fn whole(row: &SqliteRow, tools: &Tools) -> Result<PendingAction, StoreError> {
    let light = light(row)?;
    let input = json(row, "input")?.ok_or(StoreError::Corrupt("an action without an input"))?;
    let edits = json(row, "user_edits")?.map(Edits::new).transpose();
    let merged = json(row, "effective_input")?;
    // Without edits the merged input is the proposed one, and is not stored twice.
    let was_approved = light.resolved_at.is_some() && runs(&light.status) || light.has_lapsed();
    let policy = tools.policy(light.tool.as_raw());
    let mut action = PendingAction {
        terms: None,
        effective_input: merged.or_else(|| was_approved.then(|| input.clone())),
        preview: json(row, "preview")?,
        before: json(row, "before")?,
        summary: foreign(row, "summary")?,
        requested_by: foreign(row, "requested_by")?,
        tool_call: foreign(row, "tool_call")?,
        user_edits: edits.map_err(|_| StoreError::Corrupt("edits that are no edits"))?,
        reason: foreign(row, "reason")?,
        result: json(row, "result")?,
        error: foreign(row, "error")?,
        executed_at: time(row, "executed_at")?,
        // There is no reply yet whose bytes could stand here; the gate never reads this field.
        raw: input.clone(),
        input,
        row: light,
    };
    let record = terms::record(&action, row.try_get("proposer")?);
    action.terms = Some(terms::terms(record, policy));
    Ok(action)
}

pub(super) fn stored(row: &SqliteRow, tools: &Tools) -> Result<Stored, StoreError> {
    let effective: Option<String> = row.try_get("effective_digest")?;
    let damaged = StoreError::Corrupt("a digest that is none");
    Ok(Stored {
        seq: row.try_get("seq")?,
        action: whole(row, tools)?,
        proposer: row.try_get("proposer")?,
        effective_digest: effective.map(|text| Digest::parse(&text).ok_or(damaged)).transpose()?,
        approved_terms: row.try_get("approved_terms")?,
        decision_revision: row.try_get::<Option<i64>, _>("decision_revision")?.map(number),
        fence: number(row.try_get("fence")?),
        lease_by: row.try_get("lease_by")?,
    })
}

/// SQLite's integers are signed; ours in these columns never are. A negative one is absurd, not 0.
pub(super) fn number(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// The other way round.
pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn runs(status: &Status) -> bool {
    matches!(status, Status::Approved | Status::Running | Status::Executed | Status::Failed | Status::Unknown)
}

fn foreign(row: &SqliteRow, column: &str) -> Result<Option<Untrusted>, StoreError> {
    Ok(row.try_get::<Option<String>, _>(column)?.map(Untrusted::from))
}

fn time(row: &SqliteRow, column: &str) -> Result<Option<Timestamp>, StoreError> {
    Ok(row.try_get::<Option<i64>, _>(column)?.map(Timestamp::from_millis))
}

fn json(row: &SqliteRow, column: &str) -> Result<Option<RawJson>, StoreError> {
    let text: Option<String> = row.try_get(column)?;
    text.map(RawJson::parse).transpose().map_err(|_| StoreError::Corrupt("a payload that is no JSON"))
}
