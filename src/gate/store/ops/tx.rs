//! The primitives of a write transaction, as the rules need them.
//!
//! **One lock order.** Every write locks the head of its workspace first ([`lock`]), then reads, then changes the row
//! if its revision is still the one it read. So the second of two writers in a workspace sees the changes of the first,
//! on every database and in every process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::{Claim, Digest, Flow, RawJson, Row, Status, Timestamp, Via};
use crate::gate::audit::AuditRow;
use crate::gate::store::KeptApproval;
use crate::gate::store::{
    Actor, Callback, Group, Keyed, NewAction, Origin, Prunable, StoreError, Stored, SweptCallbacks,
};
use crate::gate::token::Token;
use crate::gate::tool::Tools;
use crate::gate::which::Which;

/// Maximum number of rows per sweep and workspace; the rest waits for the next sweep.
pub(crate) const SWEEP: i64 = 500;

#[async_trait]
pub(crate) trait Tx: Send {
    fn state(&mut self) -> &mut TxState;

    /// Reads the head of a workspace, and locks out its other writers until this transaction ends. Sets the state's
    /// `now`. `None` if the workspace has no changes yet.
    async fn lock_head(&mut self, workspace: &str) -> Result<Option<Head>, StoreError>;
    async fn put_head(&mut self, head: &Head) -> Result<(), StoreError>;
    async fn append_audit(&mut self, row: &AuditRow, hash: &[u8]) -> Result<(), StoreError>;
    async fn count_flow(
        &mut self,
        workspace: &str,
        at: Timestamp,
        flow: &Counted<'_>,
    ) -> Result<(), StoreError>;

    /// The workspace of an action, without a lock because it never changes.
    async fn workspace_of(&mut self, action: &str) -> Result<Option<String>, StoreError>;
    async fn load(&mut self, id: &str) -> Result<Option<Stored>, StoreError>;
    async fn load_all(&mut self, ids: &[&str]) -> Result<Vec<Loaded>, StoreError>;
    async fn insert_action(&mut self, action: NewAction) -> Result<(), StoreError>;
    /// Writes a step to the row if its revision is still `from`. False if it is not.
    async fn compare_and_set(&mut self, seq: i64, from: u64, to: &Written<'_>) -> Result<bool, StoreError>;
    async fn put_edits(&mut self, seq: i64, edits: &RawJson, merged: &RawJson) -> Result<(), StoreError>;
    /// Replaces the approvals of an action that several people must approve.
    async fn put_approvals(&mut self, seq: i64, approvals: &[KeptApproval]) -> Result<(), StoreError>;
    async fn put_result(&mut self, seq: i64, result: &RawJson) -> Result<(), StoreError>;
    /// Removes an action that was pending from the counts of pending ones.
    async fn count_out(&mut self, seq: i64) -> Result<(), StoreError>;
    /// Adds to the count of this status. Pending actions are counted in the head.
    async fn count_state(&mut self, workspace: &str, status: &Status, more: i64) -> Result<(), StoreError>;
    async fn put_renewal(&mut self, seq: i64, until: Timestamp) -> Result<(), StoreError>;
    /// At most [`SWEEP`] due actions of a workspace, without damaged ones.
    async fn due(&mut self, workspace: &str, due: &Due) -> Result<Vec<Swept>, StoreError>;

    async fn has_group(&mut self, workspace: &str, group: &Group) -> Result<bool, StoreError>;
    async fn has_group_elsewhere(&mut self, group: &Group) -> Result<bool, StoreError>;
    async fn foreign_among(&mut self, workspace: &str, ids: &[&str]) -> Result<Option<String>, StoreError>;

    /// The holder of the newest lease of an action; `None` for the gate, or if there was no lease.
    async fn newest_holder(&mut self, action: &str) -> Result<Option<String>, StoreError>;
    async fn newest_details(&mut self, action: &str) -> Result<Option<String>, StoreError>;

    async fn reply(&mut self, by: &Actor, key: &str) -> Result<Option<KeptReply>, StoreError>;
    async fn put_reply(&mut self, by: &Actor, key: &Keyed, answer: Answer<'_>) -> Result<(), StoreError>;
    async fn recorded_call(&mut self, action: &NewAction) -> Result<Option<RecordedCall>, StoreError>;
    async fn forget_replies(&mut self, replies: Timestamp, tombstones: Timestamp) -> Result<u64, StoreError>;
    async fn forget_flows(&mut self, before: Timestamp) -> Result<u64, StoreError>;

    /// Removes a settled action that is unchanged, and leaves tombstones of its key and call. False if it changed.
    async fn bury(&mut self, workspace: &str, action: &Prunable) -> Result<bool, StoreError>;

    async fn claim_of(
        &mut self,
        workspace: &str,
        action: &str,
        now: Timestamp,
    ) -> Result<Option<(String, Option<String>)>, StoreError>;
    /// Claims a pending action from `now` on, unless another person holds it, and deletes ended claims of the
    /// workspace. Returns the current claim and whether it is new; `None` if the action is not pending.
    async fn put_claim(
        &mut self,
        by: &Actor,
        action: &str,
        now: Timestamp,
    ) -> Result<Option<(Claim, bool)>, StoreError>;
    async fn end_claim(&mut self, by: &Actor, action: &str, now: Timestamp) -> Result<bool, StoreError>;

    async fn put_callback(&mut self, callback: &Callback) -> Result<(), StoreError>;
    /// Begins an attempt for at most `most` messages of this callback that are due; they are due again at `until`.
    async fn take_callbacks(
        &mut self,
        name: &str,
        (now, until): (Timestamp, Timestamp),
        most: u32,
    ) -> Result<Vec<Callback>, StoreError>;
    async fn put_callback_end(&mut self, callback: &Callback) -> Result<(), StoreError>;
    async fn sweep_callbacks(
        &mut self,
        now: Timestamp,
        old: Timestamp,
        over: Timestamp,
    ) -> Result<SweptCallbacks, StoreError>;

    /// False if that changed nothing.
    async fn put_pause(
        &mut self,
        workspace: &str,
        paused: bool,
        who: Option<&str>,
    ) -> Result<bool, StoreError>;
    /// When dispatching was paused in this workspace. Waits for a pause that another transaction is setting.
    async fn paused_since(&mut self, workspace: &str) -> Result<Option<Timestamp>, StoreError>;

    async fn insert_token(&mut self, token: &Token, hash: &[u8]) -> Result<(), StoreError>;
    async fn owner_of_token(&mut self, id: &str) -> Result<Option<Actor>, StoreError>;
    /// Approvals of actions that have not run: action id and subject, by id.
    async fn open_approvals(&mut self, workspace: &str) -> Result<Vec<(String, String)>, StoreError>;
    /// Ends a token at this time if it would end later. False if not, or if it is no live token.
    async fn shorten_token(&mut self, id: &str, until: Timestamp) -> Result<bool, StoreError>;
    /// No change of the workspace, so no revision.
    async fn note_use(&mut self, id: &str, at: Timestamp) -> Result<(), StoreError>;
    /// Records that a proxy named this person. No change of the workspace, so no revision.
    async fn put_proxied(&mut self, person: &Token, at: Timestamp) -> Result<(), StoreError>;
    /// False if there is no such live token.
    async fn end_token(&mut self, id: &str) -> Result<bool, StoreError>;
}

/// One of several loaded actions: the action, `None`, or [`StoreError::Corrupt`].
pub(crate) type Loaded = Result<Option<Stored>, StoreError>;

#[derive(Debug)]
pub(crate) struct TxState {
    pub(crate) now: Timestamp,
    pub(crate) tools: Arc<Tools>,
    pub(crate) heads: BTreeMap<String, Head>,
    pub(crate) wakes: Wakes,
}

impl TxState {
    pub(crate) const fn new(now: Timestamp, tools: Arc<Tools>) -> Self {
        Self { now, tools, heads: BTreeMap::new(), wakes: Wakes::NONE }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Wakes {
    pub(crate) revisions: BTreeMap<String, u64>,
    /// An action may be run.
    pub(crate) approved: bool,
    pub(crate) called: bool,
    pub(crate) claimed: BTreeSet<String>,
    /// Timeline words of the changes, for metrics.
    pub(crate) kinds: Vec<&'static str>,
}

impl Wakes {
    const NONE: Self = Self {
        revisions: BTreeMap::new(),
        approved: false,
        called: false,
        claimed: BTreeSet::new(),
        kinds: Vec::new(),
    };

    pub(crate) fn add(&mut self, other: Self) {
        self.revisions.extend(other.revisions);
        self.approved |= other.approved;
        self.called |= other.called;
        self.claimed.extend(other.claimed);
        self.kinds.extend(other.kinds);
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) workspace: String,
    pub(crate) revision: u64,
    pub(crate) pending: u64,
    /// The revision of the newest prune; 0 if there was none.
    pub(crate) pruned: u64,
    /// Hash of the newest audit row; `None` if there is none.
    pub(crate) hash: Option<Vec<u8>>,
    pub(crate) is_changed: bool,
}

impl Head {
    pub(crate) fn new(workspace: &str) -> Self {
        Self {
            workspace: workspace.to_owned(),
            revision: 0,
            pending: 0,
            pruned: 0,
            hash: None,
            is_changed: false,
        }
    }
}

/// Locks a workspace against other writers. Call this before reading anything of it.
pub(super) async fn lock(tx: &mut dyn Tx, workspace: &str) -> Result<(), StoreError> {
    if !tx.state().heads.contains_key(workspace) {
        let head = tx.lock_head(workspace).await?.unwrap_or_else(|| Head::new(workspace));
        tx.state().heads.insert(workspace.to_owned(), head);
    }
    Ok(())
}

pub(super) fn locked<'t>(tx: &'t mut dyn Tx, workspace: &str) -> Result<&'t mut Head, StoreError> {
    tx.state()
        .heads
        .get_mut(workspace)
        .ok_or(StoreError::Corrupt("a change in a workspace that is not locked"))
}

/// Writes the changed heads, right before the commit.
pub(crate) async fn put_heads(tx: &mut dyn Tx) -> Result<(), StoreError> {
    let changed = |head: &Head| head.is_changed.then(|| head.clone());
    let heads: Vec<Head> = tx.state().heads.values().filter_map(changed).collect();
    for head in heads {
        tx.put_head(&head).await?;
        locked(tx, &head.workspace)?.is_changed = false;
    }
    Ok(())
}

/// Columns written by a step. `None` leaves a column unchanged, except lease and error, which belong to one run.
#[derive(Debug)]
pub(crate) struct Written<'a> {
    pub(crate) status: Status,
    pub(crate) revision: u64,
    pub(crate) resolved_at: Option<Timestamp>,
    pub(crate) resolved_by: Option<&'a str>,
    pub(crate) resolved_via: Option<Via>,
    pub(crate) reason: Option<&'a str>,
    /// Digests of the approved input and terms. This revision becomes the decision's.
    pub(crate) approved: Option<(Digest, Digest)>,
    pub(crate) is_taken: bool,
    pub(crate) lease_until: Option<Timestamp>,
    pub(crate) lease_by: Option<&'a str>,
    pub(crate) error: Option<&'a str>,
    pub(crate) executed_at: Option<Timestamp>,
}

impl Written<'_> {
    /// Returns a step that leaves the action pending under a new revision.
    pub(crate) const fn pending(revision: u64) -> Self {
        Self {
            status: Status::Pending,
            revision,
            resolved_at: None,
            resolved_by: None,
            resolved_via: None,
            reason: None,
            approved: None,
            is_taken: false,
            lease_until: None,
            lease_by: None,
            error: None,
            executed_at: None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted<'a> {
    /// Empty if the action names no agent.
    pub(crate) agent: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) flow: Flow,
}

#[derive(Debug, Clone)]
pub(crate) enum Due {
    /// Pending, and past their time.
    Expired,
    /// Running with an ended lease, except `going_on`, whose runs continue.
    LeaseOver { safe: Which, going_on: Vec<String> },
    /// Approved not later than `before`, and never claimed.
    Unclaimed { tools: Which, before: Timestamp },
}

/// The columns a sweep reads of an action. It reads hundreds at once, so it skips payloads.
#[derive(Debug)]
pub(crate) struct Swept {
    pub(crate) seq: i64,
    pub(crate) row: Row,
    pub(crate) origin: Origin,
    pub(crate) fence: u64,
}

#[derive(Debug)]
pub(crate) struct KeptReply {
    pub(crate) fingerprint: Vec<u8>,
    /// A body, or for a proposal the id of its action.
    pub(crate) answer: String,
    pub(crate) is_pruned: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer<'a> {
    /// Kept for a day.
    Body(&'a str),
    /// A proposal's action id, kept as long as the action.
    Action(&'a str),
}

/// The action of a call, or its tombstone; at most one row.
pub(in crate::gate::store) const RECORDED_CALL: &str = "SELECT id, digest FROM actions WHERE workspace = $1 AND proposer = $2 AND session = $3 AND tool_call = $4 \
     UNION ALL SELECT NULL, digest FROM pruned_calls \
     WHERE workspace = $1 AND proposer = $2 AND session = $3 AND tool_call = $4";

#[derive(Debug)]
pub(crate) struct RecordedCall {
    /// `None` if its action was pruned.
    pub(crate) id: Option<String>,
    pub(crate) digest: String,
}
