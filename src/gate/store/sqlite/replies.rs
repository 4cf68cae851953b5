//! What keeps a request from being done twice: answers under an `Idempotency-Key`, the ids of calls, and what is left of both when
//! their action was pruned.

use super::writer::Tx;
use crate::domain::Timestamp;
use crate::gate::store::{Actor, Keyed, NewAction, Refused, StoreError};

/// At most so many rows of one kind go in one sweep, so that nobody waits long for the writer.
const FORGET: i64 = 5_000;

/// What is kept under a key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer<'a> {
    /// For a day.
    Body(&'a str),
    /// Of a proposal: for as long as this action, which it was recorded as.
    Action(&'a str),
}

/// The first answer under this key, if there was one to the same request: a body, or of a proposal the id of its action.
pub(super) async fn kept(tx: &mut Tx, by: &Actor, key: Option<&Keyed>) -> Result<Option<String>, StoreError> {
    let Some(key) = key else { return Ok(None) };
    let found: Option<(Vec<u8>, String, bool)> = sqlx::query_as(
        "SELECT fingerprint, COALESCE(action, body), pruned_at IS NOT NULL FROM replies \
         WHERE workspace = ?1 AND subject = ?2 AND key = ?3",
    )
    .bind(&by.workspace)
    .bind(&by.subject)
    .bind(&key.key)
    .fetch_optional(tx.conn())
    .await?;
    match found {
        None => Ok(None),
        Some((fingerprint, ..)) if fingerprint != key.fingerprint => Err(Refused::KeyReused.into()),
        Some((.., true)) => Err(Refused::RecordedAndPruned.into()),
        Some((_, answer, _)) => Ok(Some(answer)),
    }
}

/// Keeps an answer, in the transaction of what it answers.
pub(super) async fn keep(
    tx: &mut Tx,
    by: &Actor,
    key: Option<&Keyed>,
    answer: Answer<'_>,
) -> Result<(), StoreError> {
    let Some(key) = key else { return Ok(()) };
    let (body, action) = match answer {
        Answer::Body(body) => (body, None),
        Answer::Action(id) => ("", Some(id)),
    };
    let now = tx.now.as_millis();
    sqlx::query(
        "INSERT INTO replies (workspace, subject, key, fingerprint, body, at, action) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )
    .bind(&by.workspace)
    .bind(&by.subject)
    .bind(&key.key)
    .bind(&key.fingerprint)
    .bind(body)
    .bind(now)
    .bind(action)
    .execute(tx.conn())
    .await?;
    Ok(())
}

/// The action that this very call was recorded as: the same proposer, session and call id, the same tool and input. A call of that id
/// that is not the same is refused, and so is one whose action was pruned.
pub(super) async fn recorded_call(tx: &mut Tx, action: &NewAction) -> Result<Option<String>, StoreError> {
    let Some((session, call)) = action.session.as_ref().zip(action.tool_call.as_ref()) else {
        return Ok(None);
    };
    if call.is_empty() {
        return Ok(None);
    }
    // A database from before calls were compared may have several of one id.
    let live = "SELECT id, digest FROM actions WHERE workspace = ?1 AND proposer = ?2 AND session = ?3 AND tool_call = ?4 \
                ORDER BY digest = ?5 DESC, seq DESC LIMIT 1";
    let pruned = "SELECT NULL, digest FROM pruned_calls WHERE workspace = ?1 AND proposer = ?2 AND session = ?3 \
                  AND tool_call = ?4 ORDER BY digest = ?5 LIMIT 1";
    for sql in [live, pruned] {
        let digest = action.digest.to_string();
        let found: Option<(Option<String>, String)> = sqlx::query_as(sql)
            .bind(&action.workspace)
            .bind(&action.proposer)
            .bind(session)
            .bind(call)
            .bind(&digest)
            .fetch_optional(tx.conn())
            .await?;
        match found {
            None => {}
            Some((_, other)) if other != digest => return Err(Refused::CallReused.into()),
            // It takes the place of another one, and was recorded already without doing so.
            Some(_) if action.supersedes.is_some() => return Err(Refused::CallReused.into()),
            Some((None, _)) => return Err(Refused::RecordedAndPruned.into()),
            Some((id, _)) => return Ok(id),
        }
    }
    Ok(None)
}

/// The action goes: its key and its call stay behind as tombstones. It must still be there.
pub(super) async fn leave_behind(tx: &mut Tx, seq: i64) -> Result<(), StoreError> {
    let now = tx.now.as_millis();
    for sql in [
        "UPDATE replies SET pruned_at = ?2 WHERE action = (SELECT id FROM actions WHERE seq = ?1)",
        "INSERT INTO pruned_calls (workspace, proposer, session, tool_call, digest, pruned_at) \
         SELECT workspace, proposer, session, tool_call, digest, ?2 FROM actions \
         WHERE seq = ?1 AND session IS NOT NULL AND tool_call IS NOT NULL AND tool_call <> '' \
         ON CONFLICT DO UPDATE SET digest = excluded.digest, pruned_at = excluded.pruned_at",
    ] {
        sqlx::query(sql).bind(seq).bind(now).execute(tx.conn()).await?;
    }
    Ok(())
}

/// Answers of which a day is enough.
const OLD_REPLIES: &str = "DELETE FROM replies WHERE (workspace, subject, key) IN \
    (SELECT workspace, subject, key FROM replies WHERE action IS NULL AND at < ?1 ORDER BY at LIMIT ?2)";
const OLD_KEYS: &str = "DELETE FROM replies WHERE (workspace, subject, key) IN \
    (SELECT workspace, subject, key FROM replies WHERE pruned_at IS NOT NULL AND pruned_at < ?1 ORDER BY pruned_at LIMIT ?2)";
const OLD_CALLS: &str = "DELETE FROM pruned_calls WHERE (workspace, proposer, session, tool_call) IN \
    (SELECT workspace, proposer, session, tool_call FROM pruned_calls WHERE pruned_at < ?1 ORDER BY pruned_at LIMIT ?2)";

/// Drops answers that are older than `millis`, and tombstones that are older than `tombstones` milliseconds; some of them, where there
/// are many. Returns how many.
pub(super) async fn forget(tx: &mut Tx, millis: i64, tombstones: i64) -> Result<u64, StoreError> {
    let before = |millis: i64| -> Timestamp { tx.now.plus_millis(-millis) };
    let due =
        [(OLD_REPLIES, before(millis)), (OLD_KEYS, before(tombstones)), (OLD_CALLS, before(tombstones))];
    let mut gone = 0;
    for (sql, before) in due {
        let deleted = sqlx::query(sql).bind(before.as_millis()).bind(FORGET).execute(tx.conn()).await?;
        gone += deleted.rows_affected();
    }
    Ok(gone)
}

/// How the database goes about forgetting, for a test.
#[cfg(test)]
pub(super) async fn plans(pool: &sqlx::SqlitePool) -> Vec<String> {
    let mut plans = Vec::new();
    for sql in [OLD_REPLIES, OLD_KEYS, OLD_CALLS] {
        let explained = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
        let steps: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(explained).bind(0_i64).bind(0_i64).fetch_all(pool).await.unwrap();
        plans.extend(steps.into_iter().map(|(.., step)| step));
    }
    plans
}
