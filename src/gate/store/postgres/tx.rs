//! What the rules ask of a write transaction of PostgreSQL.

use std::collections::HashMap;

use async_trait::async_trait;
use sqlx::{AssertSqlSafe, QueryBuilder, Row as _};

use super::transaction::{PostgresTx, locking};
use super::{approvals, callbacks, claims, due, read, tokens};
use crate::domain::{Claim, Minute, RawJson, Status, Timestamp, Via};
use crate::gate::audit::{AuditRow, WHOLE_GATE};
use crate::gate::store::KeptApproval;
use crate::gate::store::ops::tx::{
    Answer, Counted, Due, Head, KeptReply, Loaded, RECORDED_CALL, RecordedCall, SWEEP, Swept, Tx, TxState,
    Written,
};
use crate::gate::store::rows::{self, integer};
use crate::gate::store::write_buffer::WriteBuffer;
use crate::gate::store::{
    Actor, Callback, Group, Keyed, NewAction, Prunable, StoreError, Stored, SweptCallbacks,
};
use crate::gate::token::{Scope, Token};

/// At most so many rows of one kind go in one sweep, so that nobody waits long for the writer.
const FORGET: i64 = 5_000;

/// A head that is not there cannot be locked. Whoever comes second waits here for the first.
const NEW_HEAD: &str =
    "INSERT INTO heads (workspace, revision, pending, pruned) VALUES ($1, 0, 0, 0) ON CONFLICT DO NOTHING";

/// Held by everybody who looks whether the whole gate is paused, and alone by who pauses it: so nothing is dispatched after a pause was
/// acknowledged. The number has no meaning.
const PAUSE_LOCK: i64 = 0x706c_6163_6574;

/// Minutes that nobody may ask for any more. Workspace by workspace, where the table's own order leads to the oldest.
const OLD_FLOWS: &str = "DELETE FROM flows WHERE workspace IN (SELECT workspace FROM heads) AND minute < $1";

/// Is there a batch, or a checkpoint, of this name in any workspace? No index leads there but through each of them.
const ELSEWHERE: [&str; 2] = [
    "SELECT EXISTS (SELECT 1 FROM heads h CROSS JOIN LATERAL (SELECT 1 FROM actions a WHERE a.workspace = h.workspace \
     AND a.batch = $1 LIMIT 1) AS there)",
    "SELECT EXISTS (SELECT 1 FROM heads h CROSS JOIN LATERAL (SELECT 1 FROM actions a WHERE a.workspace = h.workspace \
     AND a.checkpoint = $1 LIMIT 1) AS there)",
];

/// A step; the parameters in the order of [`Written`].
const STEP: &str = "UPDATE actions SET status = $3, revision = $4, resolved_at = COALESCE($5, resolved_at), \
     resolved_by = COALESCE($6, resolved_by), reason = COALESCE($7, reason), \
     effective_digest = COALESCE($8, effective_digest), approved_terms = COALESCE($9, approved_terms), \
     decision_revision = COALESCE($10, decision_revision), fence = fence + $11, lease_until = $12, lease_by = $13, \
     renewed_until = NULL, error = $14, executed_at = COALESCE($15, executed_at), \
     resolved_via = COALESCE($16, resolved_via) WHERE seq = $1 AND revision = $2";

/// By the index of an action's rows.
const NEWEST_DETAILS: &str = "SELECT details FROM audit WHERE action = $1 ORDER BY revision DESC LIMIT 1";

/// An action goes: its key and its call stay behind. `$1` is its place, `$2` the moment.
const BURY: &str = "WITH a AS (SELECT * FROM actions WHERE seq = $1), \
     r AS (UPDATE replies SET pruned_at = $2 FROM a WHERE replies.action = a.id), \
     c AS (INSERT INTO pruned_calls (workspace, proposer, session, tool_call, digest, pruned_at) \
     SELECT workspace, proposer, session, tool_call, digest, $2 FROM a \
     WHERE session IS NOT NULL AND tool_call IS NOT NULL AND tool_call <> '' \
     ON CONFLICT (workspace, proposer, session, tool_call) DO UPDATE SET digest = excluded.digest, pruned_at = excluded.pruned_at), \
     v AS (DELETE FROM approvals WHERE seq = $1), p AS (DELETE FROM payloads WHERE seq = $1) DELETE FROM actions WHERE seq = $1";

/// Answers of which a day is enough.
const OLD_REPLIES: &str = "DELETE FROM replies WHERE (workspace, subject, key) IN \
    (SELECT workspace, subject, key FROM replies WHERE action IS NULL AND at < $1 ORDER BY at LIMIT $2)";
const OLD_KEYS: &str = "DELETE FROM replies WHERE (workspace, subject, key) IN \
    (SELECT workspace, subject, key FROM replies WHERE pruned_at IS NOT NULL AND pruned_at < $1 ORDER BY pruned_at LIMIT $2)";
const OLD_CALLS: &str = "DELETE FROM pruned_calls WHERE (workspace, proposer, session, tool_call) IN \
    (SELECT workspace, proposer, session, tool_call FROM pruned_calls WHERE pruned_at < $1 ORDER BY pruned_at LIMIT $2)";
#[async_trait]
impl Tx for PostgresTx {
    fn state(&mut self) -> &mut TxState {
        &mut self.state
    }

    async fn lock_head(&mut self, workspace: &str) -> Result<Option<Head>, StoreError> {
        if let Some(head) = self.known.get(workspace) {
            return Ok(Some(head.clone()));
        }
        let lock = || sqlx::raw_sql(AssertSqlSafe(locking(workspace)));
        let row = match lock().fetch_optional(self.ask()).await? {
            Some(row) => row,
            None => {
                sqlx::query(NEW_HEAD).bind(workspace).execute(self.conn()).await?;
                lock().fetch_one(self.ask()).await?
            }
        };
        self.lock(workspace, &row).map(Some)
    }

    async fn put_head(&mut self, head: &Head) -> Result<(), StoreError> {
        self.own.head(head);
        Ok(())
    }

    async fn append_audit(&mut self, row: &AuditRow, hash: &[u8]) -> Result<(), StoreError> {
        self.own.note(row, hash);
        Ok(())
    }

    async fn count_flow(
        &mut self,
        workspace: &str,
        at: Timestamp,
        counted: &Counted<'_>,
    ) -> Result<(), StoreError> {
        self.own.count_flow(workspace, at, counted);
        Ok(())
    }

    async fn workspace_of(&mut self, action: &str) -> Result<Option<String>, StoreError> {
        let found = sqlx::query_scalar("SELECT workspace FROM actions WHERE id = $1").bind(action);
        Ok(found.fetch_optional(self.written_if(|it| it.has_action(action)).await?).await?)
    }

    async fn load(&mut self, id: &str) -> Result<Option<Stored>, StoreError> {
        let mut query = QueryBuilder::new(rows::WHOLE);
        query.push(" WHERE a.id = ").push_bind(id);
        let found = query.build().fetch_optional(self.written_if(|it| it.has_action(id)).await?).await?;
        found.map(|row| rows::stored(&row, &self.state.tools)).transpose()
    }

    async fn load_all(&mut self, ids: &[&str]) -> Result<Vec<Loaded>, StoreError> {
        let mut query = QueryBuilder::new(rows::WHOLE);
        query.push(" WHERE a.id = ANY (").push_bind(ids).push(")");
        let conn = self.written_if(|it| ids.iter().any(|id| it.has_action(id))).await?;
        let found = query.build().fetch_all(conn).await?;
        let mut loaded = HashMap::with_capacity(found.len());
        for row in &found {
            loaded.insert(row.try_get::<&str, _>("id")?, rows::stored(row, &self.state.tools));
        }
        Ok(ids.iter().map(|id| loaded.remove(*id).transpose()).collect())
    }

    async fn insert_action(&mut self, action: &NewAction, revision: u64) -> Result<(), StoreError> {
        self.own.insert(action, revision, self.state.now);
        Ok(())
    }

    async fn compare_and_set(&mut self, seq: i64, from: u64, to: &Written<'_>) -> Result<bool, StoreError> {
        let changed = sqlx::query(STEP)
            .bind(seq)
            .bind(integer(from))
            .bind(to.status.as_raw())
            .bind(integer(to.revision))
            .bind(to.resolved_at.map(Timestamp::as_millis))
            .bind(to.resolved_by)
            .bind(to.reason)
            .bind(to.approved.map(|(digest, _)| digest.to_string()))
            .bind(to.approved.map(|(_, terms)| terms.to_string()))
            .bind(to.approved.map(|_| integer(to.revision)))
            .bind(i64::from(to.is_taken))
            .bind(to.lease_until.map(Timestamp::as_millis))
            .bind(to.lease_by)
            .bind(to.error)
            .bind(to.executed_at.map(Timestamp::as_millis))
            .bind(to.resolved_via.map(Via::word))
            .execute(self.conn())
            .await?;
        Ok(changed.rows_affected() == 1)
    }

    async fn put_edits(&mut self, seq: i64, edits: &RawJson, merged: &RawJson) -> Result<(), StoreError> {
        sqlx::query("UPDATE payloads SET user_edits = $1, effective_input = $2 WHERE seq = $3")
            .bind(edits.as_str())
            .bind(merged.as_str())
            .bind(seq)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    async fn put_approvals(&mut self, seq: i64, approvals: &[KeptApproval]) -> Result<(), StoreError> {
        approvals::put(self.conn(), seq, approvals).await
    }

    async fn put_result(&mut self, seq: i64, result: &RawJson) -> Result<(), StoreError> {
        sqlx::query("UPDATE payloads SET result = $1 WHERE seq = $2")
            .bind(result.as_str())
            .bind(seq)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    async fn count_out(&mut self, seq: i64) -> Result<(), StoreError> {
        self.own.count_out(seq);
        Ok(())
    }

    async fn count_state(&mut self, workspace: &str, status: &Status, more: i64) -> Result<(), StoreError> {
        self.own.count_state(workspace, status, more);
        Ok(())
    }

    async fn put_renewal(&mut self, seq: i64, until: Timestamp) -> Result<(), StoreError> {
        let renew = sqlx::query("UPDATE actions SET renewed_until = $1 WHERE seq = $2");
        renew.bind(until.as_millis()).bind(seq).execute(self.conn()).await?;
        Ok(())
    }

    async fn due(&mut self, workspace: &str, due: &Due) -> Result<Vec<Swept>, StoreError> {
        let mut query = QueryBuilder::new(rows::LIGHT);
        let oldest = due::push(&mut query, due, self.state.now);
        query.push(" AND a.workspace = ").push_bind(workspace.to_owned());
        query.push(" ORDER BY ").push(oldest).push(" LIMIT ").push_bind(SWEEP);
        let found = query.build().fetch_all(self.written_if(WriteBuffer::has_actions).await?).await?;
        Ok(found.iter().filter_map(|row| rows::swept(row)).collect())
    }

    async fn has_group(&mut self, workspace: &str, group: &Group) -> Result<bool, StoreError> {
        let (sql, name) = match group {
            Group::Batch(name) => {
                ("SELECT EXISTS (SELECT 1 FROM actions WHERE workspace = $1 AND batch = $2)", name)
            }
            Group::Checkpoint(name) => {
                ("SELECT EXISTS (SELECT 1 FROM actions WHERE workspace = $1 AND checkpoint = $2)", name)
            }
        };
        Ok(sqlx::query_scalar(sql)
            .bind(workspace)
            .bind(name)
            .fetch_one(self.written_if(WriteBuffer::has_actions).await?)
            .await?)
    }

    async fn has_group_elsewhere(&mut self, group: &Group) -> Result<bool, StoreError> {
        let [in_batches, in_checkpoints] = ELSEWHERE;
        let (sql, name) = match group {
            Group::Batch(name) => (in_batches, name),
            Group::Checkpoint(name) => (in_checkpoints, name),
        };
        Ok(sqlx::query_scalar(sql)
            .bind(name)
            .fetch_one(self.written_if(WriteBuffer::has_actions).await?)
            .await?)
    }

    async fn foreign_among(&mut self, workspace: &str, ids: &[&str]) -> Result<Option<String>, StoreError> {
        let mut query = QueryBuilder::new("SELECT id FROM actions WHERE id IN (");
        let mut list = query.separated(", ");
        for id in ids {
            list.push_bind((*id).to_owned());
        }
        query.push(") AND workspace <> ").push_bind(workspace.to_owned()).push(" LIMIT 1");
        Ok(query
            .build_query_scalar()
            .fetch_optional(self.written_if(|it| ids.iter().any(|id| it.has_action(id))).await?)
            .await?)
    }

    async fn newest_holder(&mut self, action: &str) -> Result<Option<String>, StoreError> {
        let dispatched =
            "SELECT who FROM audit WHERE action = $1 AND kind = 'dispatched' ORDER BY revision DESC LIMIT 1";
        let found: Option<Option<String>> =
            sqlx::query_scalar(dispatched).bind(action).fetch_optional(self.written().await?).await?;
        Ok(found.flatten())
    }

    async fn newest_details(&mut self, action: &str) -> Result<Option<String>, StoreError> {
        let newest = sqlx::query_scalar(NEWEST_DETAILS).bind(action);
        let found: Option<Option<String>> = newest.fetch_optional(self.written().await?).await?;
        Ok(found.flatten())
    }

    async fn reply(&mut self, by: &Actor, key: &str) -> Result<Option<KeptReply>, StoreError> {
        let found: Option<(Vec<u8>, String, bool)> = sqlx::query_as(
            "SELECT fingerprint, COALESCE(action, body), pruned_at IS NOT NULL FROM replies \
             WHERE workspace = $1 AND subject = $2 AND key = $3",
        )
        .bind(&by.workspace)
        .bind(&by.subject)
        .bind(key)
        .fetch_optional(self.written_if(|it| it.has_answer(by, key)).await?)
        .await?;
        Ok(found.map(|(fingerprint, answer, is_pruned)| KeptReply { fingerprint, answer, is_pruned }))
    }

    async fn put_reply(&mut self, by: &Actor, key: &Keyed, answer: Answer<'_>) -> Result<(), StoreError> {
        self.own.answer(by, key, answer, self.state.now);
        Ok(())
    }

    async fn recorded_call(&mut self, action: &NewAction) -> Result<Option<RecordedCall>, StoreError> {
        let found: Option<(Option<String>, String)> = sqlx::query_as(RECORDED_CALL)
            .bind(&action.workspace)
            .bind(&action.proposer)
            .bind(&action.session)
            .bind(&action.tool_call)
            .fetch_optional(self.written_if(|it| it.has_call_of(action)).await?)
            .await?;
        Ok(found.map(|(id, digest)| RecordedCall { id, digest }))
    }

    async fn forget_replies(&mut self, replies: Timestamp, tombstones: Timestamp) -> Result<u64, StoreError> {
        let mut gone = 0;
        for (sql, before) in [(OLD_REPLIES, replies), (OLD_KEYS, tombstones), (OLD_CALLS, tombstones)] {
            let deleted =
                sqlx::query(sql).bind(before.as_millis()).bind(FORGET).execute(self.conn()).await?;
            gone += deleted.rows_affected();
        }
        Ok(gone)
    }

    async fn forget_flows(&mut self, before: Timestamp) -> Result<u64, StoreError> {
        let gone =
            sqlx::query(OLD_FLOWS).bind(Minute::of(before).number()).execute(self.conn()).await?;
        Ok(gone.rows_affected())
    }

    async fn bury(
        &mut self,
        workspace: &str,
        Prunable { action, .. }: &Prunable,
    ) -> Result<bool, StoreError> {
        let mut find = QueryBuilder::new("SELECT a.seq FROM actions a WHERE a.id = ");
        find.push_bind(action.row.id.as_raw().to_owned());
        find.push(" AND a.workspace = ").push_bind(workspace.to_owned());
        find.push(" AND a.revision = ").push_bind(integer(action.row.revision.0));
        find.push(" AND ").push(rows::SETTLED);
        let seq: Option<i64> = find.build_query_scalar().fetch_optional(self.written().await?).await?;
        let Some(seq) = seq else { return Ok(false) };
        let now = self.state.now.as_millis();
        sqlx::query(BURY).bind(seq).bind(now).execute(self.conn()).await?;
        Ok(true)
    }

    async fn claim_of(
        &mut self,
        workspace: &str,
        action: &str,
        now: Timestamp,
    ) -> Result<Option<(String, Option<String>)>, StoreError> {
        claims::about(self.conn(), workspace, action, now).await
    }

    async fn put_claim(
        &mut self,
        by: &Actor,
        action: &str,
        now: Timestamp,
    ) -> Result<Option<(Claim, bool)>, StoreError> {
        self.written().await?;
        claims::put(self.conn(), by, action, now).await
    }

    async fn end_claim(&mut self, by: &Actor, action: &str, now: Timestamp) -> Result<bool, StoreError> {
        claims::end(self.conn(), by, action, now).await
    }

    async fn put_callback(&mut self, callback: &Callback) -> Result<(), StoreError> {
        callbacks::put(self.conn(), callback).await
    }

    async fn take_callbacks(
        &mut self,
        name: &str,
        from: (Timestamp, Timestamp),
        most: u32,
    ) -> Result<Vec<Callback>, StoreError> {
        callbacks::take(self.conn(), name, from, most).await
    }

    async fn put_callback_end(&mut self, callback: &Callback) -> Result<(), StoreError> {
        callbacks::end(self.conn(), callback).await
    }

    async fn sweep_callbacks(
        &mut self,
        now: Timestamp,
        old: Timestamp,
        over: Timestamp,
    ) -> Result<SweptCallbacks, StoreError> {
        callbacks::sweep(self.conn(), now, old, over).await
    }

    async fn put_pause(
        &mut self,
        workspace: &str,
        paused: bool,
        who: Option<&str>,
    ) -> Result<bool, StoreError> {
        if workspace == WHOLE_GATE {
            sqlx::query("SELECT pg_advisory_xact_lock($1)")
                .bind(PAUSE_LOCK)
                .execute(self.conn())
                .await?;
        }
        let now = self.state.now.as_millis();
        let statement = if paused {
            let insert = "INSERT INTO pauses (workspace, at, who) VALUES ($1, $2, $3) ON CONFLICT (workspace) DO NOTHING";
            sqlx::query(insert).bind(workspace).bind(now).bind(who)
        } else {
            sqlx::query("DELETE FROM pauses WHERE workspace = $1").bind(workspace)
        };
        Ok(statement.execute(self.conn()).await?.rows_affected() > 0)
    }

    async fn paused_since(&mut self, workspace: &str) -> Result<Option<Timestamp>, StoreError> {
        sqlx::query("SELECT pg_advisory_xact_lock_shared($1)").bind(PAUSE_LOCK).execute(self.ask()).await?;
        read::paused_since(self.ask(), workspace).await
    }

    async fn insert_token(&mut self, token: &Token, hash: &[u8]) -> Result<(), StoreError> {
        let now = self.state.now.as_millis();
        sqlx::query(
            "INSERT INTO tokens (id, hash, subject, workspace, scopes, created_at, expires_at, name, groups) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(&token.id)
        .bind(hash)
        .bind(&token.subject)
        .bind(&token.workspace)
        .bind(Scope::write(&token.scopes))
        .bind(now)
        .bind(token.expires_at.map(Timestamp::as_millis))
        .bind(&token.name)
        .bind(token.groups.join(" "))
        .execute(self.conn())
        .await?;
        Ok(())
    }

    async fn owner_of_token(&mut self, id: &str) -> Result<Option<Actor>, StoreError> {
        let found = sqlx::query_as("SELECT subject, workspace FROM tokens WHERE id = $1").bind(id);
        let found: Option<(String, String)> = found.fetch_optional(self.ask()).await?;
        Ok(found.map(|(subject, workspace)| Actor { subject, workspace }))
    }

    async fn open_approvals(&mut self, workspace: &str) -> Result<Vec<(String, String)>, StoreError> {
        let open = "SELECT id, resolved_by FROM actions WHERE workspace = $1 AND status IN ('approved', 'running') \
                    AND resolved_by IS NOT NULL \
                    UNION SELECT a.id, v.subject FROM actions a JOIN approvals v ON v.seq = a.seq \
                    WHERE a.workspace = $1 AND a.status IN ('pending', 'approved', 'running') ORDER BY 1";
        Ok(sqlx::query_as(open).bind(workspace).fetch_all(self.written().await?).await?)
    }

    async fn shorten_token(&mut self, id: &str, until: Timestamp) -> Result<bool, StoreError> {
        let ends = "UPDATE tokens SET expires_at = $1 WHERE id = $2 AND revoked_at IS NULL \
                    AND (expires_at IS NULL OR expires_at > $1)";
        let ends = sqlx::query(ends).bind(until.as_millis()).bind(id);
        Ok(ends.execute(self.conn()).await?.rows_affected() > 0)
    }

    async fn note_use(&mut self, id: &str, at: Timestamp) -> Result<(), StoreError> {
        let later = "UPDATE tokens SET last_used_at = $1 WHERE id = $2 AND COALESCE(last_used_at, 0) < $1";
        sqlx::query(later).bind(at.as_millis()).bind(id).execute(self.conn()).await?;
        Ok(())
    }

    async fn put_proxied(&mut self, person: &Token, at: Timestamp) -> Result<(), StoreError> {
        tokens::put_proxied(self.conn(), person, at).await
    }

    async fn end_token(&mut self, id: &str) -> Result<bool, StoreError> {
        let now = self.state.now.as_millis();
        let revoked = sqlx::query("UPDATE tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL");
        Ok(revoked.bind(now).bind(id).execute(self.conn()).await?.rows_affected() > 0)
    }
}
