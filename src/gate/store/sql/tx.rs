//! Implements [`Tx`] once for both databases. A [`Transaction`] has the differences.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Sql, Statement, approvals, callbacks, claims, due, read, tokens};
use crate::domain::{Claim, Minute, RawJson, Status, Timestamp, Untrusted, Via};
use crate::gate::audit::{AuditRow, WHOLE_GATE};
use crate::gate::store::action_fields;
use crate::gate::store::columns::Columns as _;
use crate::gate::store::ops::tx::{
    Answer, Counted, Due, Head, KeptReply, Loaded, RECORDED_CALL, RecordedCall, SWEEP, Swept, Tx, TxState,
    Written,
};
use crate::gate::store::rows::integer;
use crate::gate::store::write_buffer::{Buffers, WriteBuffer};
use crate::gate::store::{
    Actor, Callback, Group, KeptApproval, Keyed, NewAction, Prunable, StoreError, Stored, SweptCallbacks,
};
use crate::gate::token::{Scope, Token};
use crate::gate::tool::Tools;

/// At most this many rows of a kind are deleted per sweep, because other writes wait.
const FORGET: i64 = 5_000;
const MAX_IDS: usize = 500;

const HAS_BATCH: &str = "SELECT EXISTS (SELECT 1 FROM actions WHERE workspace = $1 AND batch = $2) AS there";
const HAS_CHECKPOINT: &str =
    "SELECT EXISTS (SELECT 1 FROM actions WHERE workspace = $1 AND checkpoint = $2) AS there";

/// A step; the parameters are in the order of [`Written`].
const STEP: &str = "UPDATE actions SET status = $3, revision = $4, resolved_at = COALESCE($5, resolved_at), \
     resolved_by = COALESCE($6, resolved_by), reason = COALESCE($7, reason), \
     effective_digest = COALESCE($8, effective_digest), approved_terms = COALESCE($9, approved_terms), \
     decision_revision = COALESCE($10, decision_revision), fence = fence + $11, lease_until = $12, lease_by = $13, \
     renewed_until = NULL, error = $14, executed_at = COALESCE($15, executed_at), \
     resolved_via = COALESCE($16, resolved_via) WHERE seq = $1 AND revision = $2";

/// Uses the index by action.
pub(in crate::gate::store) const NEWEST_DETAILS: &str =
    "SELECT details FROM audit WHERE action = $1 ORDER BY revision DESC LIMIT 1";
const NEWEST_HOLDER: &str =
    "SELECT who FROM audit WHERE action = $1 AND kind = 'dispatched' ORDER BY revision DESC LIMIT 1";

const REPLY: &str = "SELECT fingerprint, COALESCE(action, body) AS answer, pruned_at IS NOT NULL AS is_pruned \
     FROM replies WHERE workspace = $1 AND subject = $2 AND key = $3";

pub(in crate::gate::store) const FORGETTING: [&str; 3] = [
    "DELETE FROM replies WHERE (workspace, subject, key) IN \
     (SELECT workspace, subject, key FROM replies WHERE action IS NULL AND at < $1 ORDER BY at LIMIT $2)",
    "DELETE FROM replies WHERE (workspace, subject, key) IN \
     (SELECT workspace, subject, key FROM replies WHERE pruned_at IS NOT NULL AND pruned_at < $1 ORDER BY pruned_at LIMIT $2)",
    "DELETE FROM pruned_calls WHERE (workspace, proposer, session, tool_call) IN \
     (SELECT workspace, proposer, session, tool_call FROM pruned_calls WHERE pruned_at < $1 ORDER BY pruned_at LIMIT $2)",
];
/// Minutes that can no longer be requested. By workspace, because the key begins with it.
pub(in crate::gate::store) const OLD_FLOWS: &str =
    "DELETE FROM flows WHERE workspace IN (SELECT workspace FROM heads) AND minute < $1";

const PAUSE: &str =
    "INSERT INTO pauses (workspace, at, who) VALUES ($1, $2, $3) ON CONFLICT (workspace) DO NOTHING";

const INSERT_TOKEN: &str = "INSERT INTO tokens (id, hash, subject, workspace, scopes, created_at, expires_at, name, groups) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const OPEN_APPROVALS: &str = "SELECT id, resolved_by AS subject FROM actions WHERE workspace = $1 AND status IN ('approved', 'running') \
     AND resolved_by IS NOT NULL \
     UNION SELECT a.id, v.subject FROM actions a JOIN approvals v ON v.seq = a.seq \
     WHERE a.workspace = $1 AND a.status IN ('pending', 'approved', 'running') ORDER BY 1";
const SHORTEN_TOKEN: &str = "UPDATE tokens SET expires_at = $1 WHERE id = $2 AND revoked_at IS NULL \
     AND (expires_at IS NULL OR expires_at > $1)";
const NOTE_USE: &str = "UPDATE tokens SET last_used_at = $1 WHERE id = $2 AND COALESCE(last_used_at, 0) < $1";
const END_TOKEN: &str = "UPDATE tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL";

pub(in crate::gate::store) trait Transaction: Send {
    type Conn: Sql;

    /// Whether any workspace has a batch or checkpoint named `$1`. The index must be searched by workspace.
    const ELSEWHERE: [&'static str; 2];
    /// Removes an action, and leaves tombstones of its key and call. `$1` is its `seq`, `$2` the time.
    const BURY: &'static [&'static str];

    fn state(&mut self) -> &mut TxState;
    fn buffers(&mut self) -> &mut Buffers;
    /// For queries that buffered rows cannot affect.
    fn ask(&mut self) -> &mut Self::Conn;
    /// For writes that are not buffered.
    fn conn(&mut self) -> impl Future<Output = Result<&mut Self::Conn, StoreError>> + Send;
    /// For any query: writes the buffers first.
    fn written(&mut self) -> impl Future<Output = Result<&mut Self::Conn, StoreError>> + Send;
    fn lock_head(&mut self, workspace: &str)
    -> impl Future<Output = Result<Option<Head>, StoreError>> + Send;
    /// Locks out dispatches until the commit, to pause the whole gate.
    fn lock_pauses(&mut self, whole_gate: bool) -> impl Future<Output = Result<(), StoreError>> + Send;
    /// Waits for a pause of the whole gate that another transaction is setting.
    fn share_pauses(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// For queries that buffered rows may affect: writes the buffers first if `about` says so.
    fn written_if(
        &mut self,
        about: impl Fn(&WriteBuffer) -> bool + Send,
    ) -> impl Future<Output = Result<&mut Self::Conn, StoreError>> + Send {
        async move { if self.buffers().any(about) { self.written().await } else { Ok(self.ask()) } }
    }
}

#[async_trait]
impl<T: Transaction> Tx for T {
    fn state(&mut self) -> &mut TxState {
        Transaction::state(self)
    }

    async fn lock_head(&mut self, workspace: &str) -> Result<Option<Head>, StoreError> {
        Transaction::lock_head(self, workspace).await
    }

    async fn put_head(&mut self, head: &Head) -> Result<(), StoreError> {
        self.buffers().own.head(head);
        Ok(())
    }

    async fn append_audit(&mut self, row: &AuditRow, hash: &[u8]) -> Result<(), StoreError> {
        self.buffers().own.note(row, hash);
        Ok(())
    }

    async fn count_flow(
        &mut self,
        workspace: &str,
        at: Timestamp,
        counted: &Counted<'_>,
    ) -> Result<(), StoreError> {
        self.buffers().own.count_flow(workspace, at, counted);
        Ok(())
    }

    async fn workspace_of(&mut self, action: &str) -> Result<Option<String>, StoreError> {
        let query = Statement::new("SELECT workspace FROM actions WHERE id = $1").bind(action);
        let found = self.written_if(|it| it.has_action(action)).await?.fetch_optional(query).await?;
        Ok(found.map(|row| row.text("workspace")).transpose()?)
    }

    async fn load(&mut self, id: &str) -> Result<Option<Stored>, StoreError> {
        let tools = Arc::clone(&Transaction::state(self).tools);
        read::get(self.written_if(|it| it.has_action(id)).await?, id, &tools).await
    }

    async fn load_all(&mut self, ids: &[&str]) -> Result<Vec<Loaded>, StoreError> {
        let tools = Arc::clone(&Transaction::state(self).tools);
        let conn = self.written_if(|it| ids.iter().any(|id| it.has_action(id))).await?;
        let mut loaded = HashMap::with_capacity(ids.len());
        for part in ids.chunks(MAX_IDS) {
            let mut query = Statement::new(action_fields::whole_listing());
            query.push(" WHERE a.id IN ").push_list(part.iter().copied());
            for row in conn.fetch_all(query).await? {
                loaded.insert(row.text("id")?, action_fields::stored(&row, &tools));
            }
        }
        Ok(ids.iter().map(|id| loaded.remove(*id).transpose()).collect())
    }

    async fn insert_action(&mut self, action: NewAction) -> Result<(), StoreError> {
        self.buffers().own.proposals.push(action);
        Ok(())
    }

    async fn compare_and_set(&mut self, seq: i64, from: u64, to: &Written<'_>) -> Result<bool, StoreError> {
        let step = Statement::new(STEP)
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
            .bind(to.resolved_via.map(Via::word));
        Ok(self.conn().await?.execute(step).await? == 1)
    }

    async fn put_edits(&mut self, seq: i64, edits: &RawJson, merged: &RawJson) -> Result<(), StoreError> {
        let put = Statement::new("UPDATE payloads SET user_edits = $1, effective_input = $2 WHERE seq = $3");
        self.conn().await?.execute(put.bind(edits.as_str()).bind(merged.as_str()).bind(seq)).await?;
        Ok(())
    }

    async fn put_approvals(&mut self, seq: i64, approvals: &[KeptApproval]) -> Result<(), StoreError> {
        approvals::put(self.conn().await?, seq, approvals).await
    }

    async fn put_result(&mut self, seq: i64, result: &RawJson) -> Result<(), StoreError> {
        let put = Statement::new("UPDATE payloads SET result = $1 WHERE seq = $2");
        self.conn().await?.execute(put.bind(result.as_str()).bind(seq)).await?;
        Ok(())
    }

    async fn count_out(&mut self, seq: i64) -> Result<(), StoreError> {
        self.buffers().own.count_out(seq);
        Ok(())
    }

    async fn count_state(&mut self, workspace: &str, status: &Status, more: i64) -> Result<(), StoreError> {
        self.buffers().own.count_state(workspace, status, more);
        Ok(())
    }

    async fn put_renewal(&mut self, seq: i64, until: Timestamp) -> Result<(), StoreError> {
        let renew = Statement::new("UPDATE actions SET renewed_until = $1 WHERE seq = $2");
        self.conn().await?.execute(renew.bind(until.as_millis()).bind(seq)).await?;
        Ok(())
    }

    async fn due(&mut self, workspace: &str, due: &Due) -> Result<Vec<Swept>, StoreError> {
        let mut query = Statement::new(action_fields::listing(&Tools::none()));
        let oldest = due::push::<T::Conn>(&mut query, due, Transaction::state(self).now);
        // Otherwise SQLite would read the whole workspace if few actions are due.
        query.push(" AND ").push(T::Conn::UNINDEXED).push("a.workspace = ").push_bind(workspace);
        query.push(" ORDER BY ").push(oldest).push(" LIMIT ").push_bind(SWEEP);
        let found = self.written_if(WriteBuffer::has_actions).await?.fetch_all(query).await?;
        Ok(found.iter().filter_map(|row| action_fields::swept(row)).collect())
    }

    async fn has_group(&mut self, workspace: &str, group: &Group) -> Result<bool, StoreError> {
        let (text, name) = match group {
            Group::Batch(name) => (HAS_BATCH, name),
            Group::Checkpoint(name) => (HAS_CHECKPOINT, name),
        };
        let query = Statement::new(text).bind(workspace).bind(name);
        Ok(self.written_if(WriteBuffer::has_actions).await?.fetch_one(query).await?.flag("there")?)
    }

    async fn has_group_elsewhere(&mut self, group: &Group) -> Result<bool, StoreError> {
        let [in_batches, in_checkpoints] = T::ELSEWHERE;
        let (text, name) = match group {
            Group::Batch(name) => (in_batches, name),
            Group::Checkpoint(name) => (in_checkpoints, name),
        };
        let query = Statement::new(text).bind(name);
        Ok(self.written_if(WriteBuffer::has_actions).await?.fetch_one(query).await?.flag("there")?)
    }

    async fn foreign_among(&mut self, workspace: &str, ids: &[&str]) -> Result<Option<String>, StoreError> {
        let mut query = Statement::new("SELECT id FROM actions WHERE id IN ");
        query.push_list(ids.iter().copied()).push(" AND ").push(T::Conn::UNINDEXED);
        query.push("workspace <> ").push_bind(workspace).push(" LIMIT 1");
        let conn = self.written_if(|it| ids.iter().any(|id| it.has_action(id))).await?;
        Ok(conn.fetch_optional(query).await?.map(|row| row.text("id")).transpose()?)
    }

    async fn newest_holder(&mut self, action: &str) -> Result<Option<String>, StoreError> {
        let found = self.written().await?.fetch_optional(Statement::new(NEWEST_HOLDER).bind(action)).await?;
        Ok(found.map(|row| row.maybe_text("who")).transpose()?.flatten())
    }

    async fn newest_details(&mut self, action: &str) -> Result<Option<String>, StoreError> {
        let found = self.written().await?.fetch_optional(Statement::new(NEWEST_DETAILS).bind(action)).await?;
        Ok(found.map(|row| row.maybe_text("details")).transpose()?.flatten())
    }

    async fn reply(&mut self, by: &Actor, key: &str) -> Result<Option<KeptReply>, StoreError> {
        let query = Statement::new(REPLY).bind(&by.workspace).bind(&by.subject).bind(key);
        let found = self.written_if(|it| it.has_answer(by, key)).await?.fetch_optional(query).await?;
        let Some(row) = found else { return Ok(None) };
        Ok(Some(KeptReply {
            fingerprint: row.bytes("fingerprint")?,
            answer: row.text("answer")?,
            is_pruned: row.flag("is_pruned")?,
        }))
    }

    async fn put_reply(&mut self, by: &Actor, key: &Keyed, answer: Answer<'_>) -> Result<(), StoreError> {
        let now = Transaction::state(self).now;
        self.buffers().own.answer(by, key, answer, now);
        Ok(())
    }

    async fn recorded_call(&mut self, action: &NewAction) -> Result<Option<RecordedCall>, StoreError> {
        let query = Statement::new(RECORDED_CALL)
            .bind(action.workspace())
            .bind(&action.proposer)
            .bind(action.action.row.session.as_ref().map(Untrusted::as_raw))
            .bind(action.action.tool_call.as_ref().map(Untrusted::as_raw));
        let found = self.written_if(|it| it.has_call_of(action)).await?.fetch_optional(query).await?;
        let Some(row) = found else { return Ok(None) };
        Ok(Some(RecordedCall { id: row.maybe_text("id")?, digest: row.text("digest")? }))
    }

    async fn forget_replies(&mut self, replies: Timestamp, tombstones: Timestamp) -> Result<u64, StoreError> {
        let mut gone = 0;
        for (text, before) in FORGETTING.into_iter().zip([replies, tombstones, tombstones]) {
            let old = Statement::new(text).bind(before.as_millis()).bind(FORGET);
            gone += self.conn().await?.execute(old).await?;
        }
        Ok(gone)
    }

    async fn forget_flows(&mut self, before: Timestamp) -> Result<u64, StoreError> {
        let old = Statement::new(OLD_FLOWS).bind(Minute::of(before).number());
        Ok(self.conn().await?.execute(old).await?)
    }

    async fn bury(
        &mut self,
        workspace: &str,
        Prunable { action, .. }: &Prunable,
    ) -> Result<bool, StoreError> {
        let mut find = Statement::new("SELECT a.seq FROM actions a WHERE a.id = ");
        find.push_bind(action.row.id.as_raw()).push(" AND a.workspace = ").push_bind(workspace);
        find.push(" AND a.revision = ").push_bind(integer(action.row.revision.0));
        find.push(" AND ").push(action_fields::SETTLED);
        let Some(found) = self.written().await?.fetch_optional(find).await? else { return Ok(false) };
        let (seq, now) = (found.int("seq")?, Transaction::state(self).now.as_millis());
        for text in T::BURY {
            self.conn().await?.execute(Statement::new(*text).bind(seq).bind(now)).await?;
        }
        Ok(true)
    }

    async fn claim_of(
        &mut self,
        workspace: &str,
        action: &str,
        now: Timestamp,
    ) -> Result<Option<(String, Option<String>)>, StoreError> {
        claims::about(self.written().await?, workspace, action, now).await
    }

    async fn put_claim(
        &mut self,
        by: &Actor,
        action: &str,
        now: Timestamp,
    ) -> Result<Option<(Claim, bool)>, StoreError> {
        self.written().await?;
        claims::put(self.conn().await?, by, action, now).await
    }

    async fn end_claim(&mut self, by: &Actor, action: &str, now: Timestamp) -> Result<bool, StoreError> {
        claims::end(self.conn().await?, by, action, now).await
    }

    async fn put_callback(&mut self, callback: &Callback) -> Result<(), StoreError> {
        callbacks::put(self.conn().await?, callback).await
    }

    async fn take_callbacks(
        &mut self,
        name: &str,
        from: (Timestamp, Timestamp),
        most: u32,
    ) -> Result<Vec<Callback>, StoreError> {
        callbacks::take(self.conn().await?, name, from, most).await
    }

    async fn put_callback_end(&mut self, callback: &Callback) -> Result<(), StoreError> {
        callbacks::end(self.conn().await?, callback).await
    }

    async fn sweep_callbacks(
        &mut self,
        now: Timestamp,
        old: Timestamp,
        over: Timestamp,
    ) -> Result<SweptCallbacks, StoreError> {
        callbacks::sweep(self.conn().await?, now, old, over).await
    }

    async fn put_pause(
        &mut self,
        workspace: &str,
        paused: bool,
        who: Option<&str>,
    ) -> Result<bool, StoreError> {
        self.lock_pauses(workspace == WHOLE_GATE).await?;
        let now = Transaction::state(self).now.as_millis();
        let put = if paused {
            Statement::new(PAUSE).bind(workspace).bind(now).bind(who)
        } else {
            Statement::new("DELETE FROM pauses WHERE workspace = $1").bind(workspace)
        };
        Ok(self.conn().await?.execute(put).await? > 0)
    }

    async fn paused_since(&mut self, workspace: &str) -> Result<Option<Timestamp>, StoreError> {
        self.share_pauses().await?;
        read::paused_since(self.ask(), workspace).await
    }

    async fn insert_token(&mut self, token: &Token, hash: &[u8]) -> Result<(), StoreError> {
        let now = Transaction::state(self).now.as_millis();
        let insert = Statement::new(INSERT_TOKEN)
            .bind(&token.id)
            .bind(hash)
            .bind(&token.subject)
            .bind(&token.workspace)
            .bind(Scope::write(&token.scopes))
            .bind(now)
            .bind(token.expires_at.map(Timestamp::as_millis))
            .bind(token.name.as_deref())
            .bind(token.groups.join(" "));
        self.conn().await?.execute(insert).await?;
        Ok(())
    }

    async fn owner_of_token(&mut self, id: &str) -> Result<Option<Actor>, StoreError> {
        let query = Statement::new("SELECT subject, workspace FROM tokens WHERE id = $1").bind(id);
        let Some(row) = self.ask().fetch_optional(query).await? else { return Ok(None) };
        Ok(Some(Actor { subject: row.text("subject")?, workspace: row.text("workspace")? }))
    }

    async fn open_approvals(&mut self, workspace: &str) -> Result<Vec<(String, String)>, StoreError> {
        let open = Statement::new(OPEN_APPROVALS).bind(workspace);
        let found = self.written().await?.fetch_all(open).await?;
        found.iter().map(|row| Ok((row.text("id")?, row.text("subject")?))).collect()
    }

    async fn shorten_token(&mut self, id: &str, until: Timestamp) -> Result<bool, StoreError> {
        let shorten = Statement::new(SHORTEN_TOKEN).bind(until.as_millis()).bind(id);
        Ok(self.conn().await?.execute(shorten).await? > 0)
    }

    async fn note_use(&mut self, id: &str, at: Timestamp) -> Result<(), StoreError> {
        self.conn().await?.execute(Statement::new(NOTE_USE).bind(at.as_millis()).bind(id)).await?;
        Ok(())
    }

    async fn put_proxied(&mut self, person: &Token, at: Timestamp) -> Result<(), StoreError> {
        tokens::put_proxied(self.conn().await?, person, at).await
    }

    async fn end_token(&mut self, id: &str) -> Result<bool, StoreError> {
        let now = Transaction::state(self).now.as_millis();
        Ok(self.conn().await?.execute(Statement::new(END_TOKEN).bind(now).bind(id)).await? > 0)
    }
}
