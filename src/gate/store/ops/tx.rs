//! What the rules ask of a database: the primitives of one write transaction.
//!
//! **One lock order.** Every write locks the head of its workspace first ([`lock`]), then reads what it is about, then changes it where
//! its revision is still the one that was read. So of two writers in one workspace the second sees
//! what the first did, on every database and in every process.

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

/// How many rows one sweep settles in one workspace; the rest waits for the next.
pub(crate) const SWEEP: i64 = 500;

/// A transaction of one database. Nothing of it is seen by others before it is committed.
#[async_trait]
pub(crate) trait Tx: Send {
    fn state(&mut self) -> &mut TxState;

    /// Reads the head of a workspace and keeps every other writer of this workspace out until this transaction ends. `None`: nothing
    /// happened there yet. Sets the state's `now`.
    async fn lock_head(&mut self, workspace: &str) -> Result<Option<Head>, StoreError>;
    async fn put_head(&mut self, head: &Head) -> Result<(), StoreError>;
    async fn append_audit(&mut self, row: &AuditRow, hash: &[u8]) -> Result<(), StoreError>;
    /// Adds to what happened in a minute, by who proposed and what.
    async fn count_flow(
        &mut self,
        workspace: &str,
        at: Timestamp,
        flow: &Counted<'_>,
    ) -> Result<(), StoreError>;

    /// The workspace of an action, without a lock: it never changes.
    async fn workspace_of(&mut self, action: &str) -> Result<Option<String>, StoreError>;
    async fn load(&mut self, id: &str) -> Result<Option<Stored>, StoreError>;
    /// Loads distinct ids in order. One bad row does not fail the others.
    async fn load_all(&mut self, ids: &[&str]) -> Result<Vec<Loaded>, StoreError>;
    /// Puts a proposal into the tables, pending, and counts it among what waits.
    async fn insert_action(&mut self, action: &NewAction, revision: u64) -> Result<(), StoreError>;
    /// Writes a step to the row, where its revision is still `from`. False where it is not.
    async fn compare_and_set(&mut self, seq: i64, from: u64, to: &Written<'_>) -> Result<bool, StoreError>;
    async fn put_edits(&mut self, seq: i64, edits: &RawJson, merged: &RawJson) -> Result<(), StoreError>;
    /// These are the approvals of an action that more than one person must approve, and no others.
    async fn put_approvals(&mut self, seq: i64, approvals: &[KeptApproval]) -> Result<(), StoreError>;
    async fn put_result(&mut self, seq: i64, result: &RawJson) -> Result<(), StoreError>;
    /// Counts an action, which was pending until now, out of what waits.
    async fn count_out(&mut self, seq: i64) -> Result<(), StoreError>;
    /// One more is in this status, or one less. What is pending is counted in the head.
    async fn count_state(&mut self, workspace: &str, status: &Status, more: i64) -> Result<(), StoreError>;
    async fn put_renewal(&mut self, seq: i64, until: Timestamp) -> Result<(), StoreError>;
    /// At most [`SWEEP`] actions of a workspace with which time has something to do. Damaged ones are left out.
    async fn due(&mut self, workspace: &str, due: &Due) -> Result<Vec<Swept>, StoreError>;

    /// Is there such a batch or checkpoint in this workspace?
    async fn has_group(&mut self, workspace: &str, group: &Group) -> Result<bool, StoreError>;
    /// Is there one in any?
    async fn has_group_elsewhere(&mut self, group: &Group) -> Result<bool, StoreError>;
    /// One of these actions that is of another workspace.
    async fn foreign_among(&mut self, workspace: &str, ids: &[&str]) -> Result<Option<String>, StoreError>;

    /// Who took the newest lease of an action; `None`: the gate, or nobody.
    async fn newest_holder(&mut self, action: &str) -> Result<Option<String>, StoreError>;
    /// Details of the newest audit row of an action: what its last step left it as.
    async fn newest_details(&mut self, action: &str) -> Result<Option<String>, StoreError>;

    async fn reply(&mut self, by: &Actor, key: &str) -> Result<Option<KeptReply>, StoreError>;
    async fn put_reply(&mut self, by: &Actor, key: &Keyed, answer: Answer<'_>) -> Result<(), StoreError>;
    /// The action or the tombstone of this call of an agent.
    async fn recorded_call(&mut self, action: &NewAction) -> Result<Option<RecordedCall>, StoreError>;
    /// Drops some of the answers from before `replies`, and of the tombstones from before `tombstones`.
    async fn forget_replies(&mut self, replies: Timestamp, tombstones: Timestamp) -> Result<u64, StoreError>;
    async fn forget_flows(&mut self, before: Timestamp) -> Result<u64, StoreError>;

    /// Removes a settled action that is still as it was read, and leaves its key and its call as tombstones. False where it is not.
    async fn bury(&mut self, workspace: &str, action: &Prunable) -> Result<bool, StoreError>;

    /// Who proposed an action, and who is on it now.
    async fn claim_of(
        &mut self,
        workspace: &str,
        action: &str,
        now: Timestamp,
    ) -> Result<Option<(String, Option<String>)>, StoreError>;
    /// Writes that somebody is on a pending action, unless somebody else is, and for how long from `now` on; drops claims of the
    /// workspace that are over. Returns whose it is, and whether that is news; `None`: it is not pending.
    async fn put_claim(
        &mut self,
        by: &Actor,
        action: &str,
        now: Timestamp,
    ) -> Result<Option<(Claim, bool)>, StoreError>;
    /// False when they were not on it.
    async fn end_claim(&mut self, by: &Actor, action: &str, now: Timestamp) -> Result<bool, StoreError>;

    /// Keeps what a callback is to be told.
    async fn put_callback(&mut self, callback: &Callback) -> Result<(), StoreError>;
    /// Begins a try of at most `most` of what this callback is to be told by `now`; others get it again from `until` on.
    async fn take_callbacks(
        &mut self,
        name: &str,
        (now, until): (Timestamp, Timestamp),
        most: u32,
    ) -> Result<Vec<Callback>, StoreError>;
    /// Writes what became of it, if it is still this try.
    async fn put_callback_end(&mut self, callback: &Callback) -> Result<(), StoreError>;
    /// Ends what did not arrive and is from before `old`; drops some of what ended before `over`.
    async fn sweep_callbacks(
        &mut self,
        now: Timestamp,
        old: Timestamp,
        over: Timestamp,
    ) -> Result<SweptCallbacks, StoreError>;

    /// False when it was so already.
    async fn put_pause(
        &mut self,
        workspace: &str,
        paused: bool,
        who: Option<&str>,
    ) -> Result<bool, StoreError>;
    /// Since when nothing is dispatched in this workspace; a pause that is being set is waited for.
    async fn paused_since(&mut self, workspace: &str) -> Result<Option<Timestamp>, StoreError>;

    async fn insert_token(&mut self, token: &Token, hash: &[u8]) -> Result<(), StoreError>;
    /// Workspace and subject of a token.
    async fn owner_of_token(&mut self, id: &str) -> Result<Option<Actor>, StoreError>;
    /// Approvals of actions that have not run: id of the action and subject, in order of ids.
    async fn open_approvals(&mut self, workspace: &str) -> Result<Vec<(String, String)>, StoreError>;
    /// It ends at this time, if it would end later. False when it would not, or is no live token.
    async fn shorten_token(&mut self, id: &str, until: Timestamp) -> Result<bool, StoreError>;
    /// No change of the workspace: it has no revision.
    async fn note_use(&mut self, id: &str, at: Timestamp) -> Result<(), StoreError>;
    /// Writes that a proxy named this person. No change of the workspace: it has no revision.
    async fn put_proxied(&mut self, person: &Token, at: Timestamp) -> Result<(), StoreError>;
    /// False when there is no such live token.
    async fn end_token(&mut self, id: &str) -> Result<bool, StoreError>;
}

/// One of several actions: it, nothing, or [`StoreError::Corrupt`].
pub(crate) type Loaded = Result<Option<Stored>, StoreError>;

/// What a transaction knows, whichever database it is of.
#[derive(Debug)]
pub(crate) struct TxState {
    pub(crate) now: Timestamp,
    pub(crate) tools: Arc<Tools>,
    /// The locked ones.
    pub(crate) heads: BTreeMap<String, Head>,
    pub(crate) wakes: Wakes,
}

impl TxState {
    pub(crate) const fn new(now: Timestamp, tools: Arc<Tools>) -> Self {
        Self { now, tools, heads: BTreeMap::new(), wakes: Wakes::NONE }
    }
}

/// Whom a commit wakes.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    /// Workspaces that changed, with their newest revision.
    pub(crate) revisions: BTreeMap<String, u64>,
    /// Something is to be run.
    pub(crate) approved: bool,
    /// A callback is to be told.
    pub(crate) called: bool,
    /// Workspaces in which somebody began or ended to be on something.
    pub(crate) claimed: BTreeSet<String>,
    /// Words of the timeline, to be counted.
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

/// The head of a workspace: what numbers its changes.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) workspace: String,
    pub(crate) revision: u64,
    pub(crate) pending: u64,
    /// The revision under which actions were pruned last; 0: never.
    pub(crate) pruned: u64,
    /// Of the newest audit row; `None`: none is chained yet.
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

/// Keeps the other writers of this workspace out. Before anything of it is read.
pub(super) async fn lock(tx: &mut dyn Tx, workspace: &str) -> Result<(), StoreError> {
    if !tx.state().heads.contains_key(workspace) {
        let head = tx.lock_head(workspace).await?.unwrap_or_else(|| Head::new(workspace));
        tx.state().heads.insert(workspace.to_owned(), head);
    }
    Ok(())
}

/// The head of a locked workspace.
pub(super) fn locked<'t>(tx: &'t mut dyn Tx, workspace: &str) -> Result<&'t mut Head, StoreError> {
    tx.state()
        .heads
        .get_mut(workspace)
        .ok_or(StoreError::Corrupt("a change in a workspace that is not locked"))
}

/// Writes the heads that changed. The last thing before a commit.
pub(crate) async fn put_heads(tx: &mut dyn Tx) -> Result<(), StoreError> {
    let changed = |head: &Head| head.is_changed.then(|| head.clone());
    let heads: Vec<Head> = tx.state().heads.values().filter_map(changed).collect();
    for head in heads {
        tx.put_head(&head).await?;
        locked(tx, &head.workspace)?.is_changed = false;
    }
    Ok(())
}

/// What a step writes to its row. `None` leaves a column as it is, but for the lease and the error, which belong to one run.
#[derive(Debug)]
pub(crate) struct Written<'a> {
    pub(crate) status: Status,
    pub(crate) revision: u64,
    pub(crate) resolved_at: Option<Timestamp>,
    pub(crate) resolved_by: Option<&'a str>,
    pub(crate) resolved_via: Option<Via>,
    pub(crate) reason: Option<&'a str>,
    /// What was approved, and under which terms; this revision is then the decision's.
    pub(crate) approved: Option<(Digest, Digest)>,
    /// It is taken under a new fence.
    pub(crate) is_taken: bool,
    pub(crate) lease_until: Option<Timestamp>,
    pub(crate) lease_by: Option<&'a str>,
    pub(crate) error: Option<&'a str>,
    pub(crate) executed_at: Option<Timestamp>,
}

impl Written<'_> {
    /// It stays pending, under a new revision.
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

/// What happened, and whose it is counted as.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted<'a> {
    /// Empty where the action names none.
    pub(crate) agent: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) flow: Flow,
}

/// Actions with which time has something to do.
#[derive(Debug, Clone)]
pub(crate) enum Due {
    /// Pending, and past their time.
    Expired,
    /// Running, but those of which a run still goes on; their lease is over.
    LeaseOver { safe: Which, going_on: Vec<String> },
    /// Approved not later than `before`, and never claimed.
    Unclaimed { tools: Which, before: Timestamp },
}

/// What a sweep reads of an action: hundreds at once, so nothing heavy.
#[derive(Debug)]
pub(crate) struct Swept {
    pub(crate) seq: i64,
    pub(crate) row: Row,
    pub(crate) origin: Origin,
    pub(crate) fence: u64,
}

/// What stands under an `Idempotency-Key`.
#[derive(Debug)]
pub(crate) struct KeptReply {
    pub(crate) fingerprint: Vec<u8>,
    /// A body, or of a proposal the id of its action.
    pub(crate) answer: String,
    pub(crate) is_pruned: bool,
}

/// What is kept under a key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer<'a> {
    /// For a day.
    Body(&'a str),
    /// Of a proposal: for as long as this action, which it was recorded as.
    Action(&'a str),
}

/// The action of a call, or its tombstone: never both, and never several.
pub(in crate::gate::store) const RECORDED_CALL: &str = "SELECT id, digest FROM actions WHERE workspace = $1 AND proposer = $2 AND session = $3 AND tool_call = $4 \
     UNION ALL SELECT NULL, digest FROM pruned_calls \
     WHERE workspace = $1 AND proposer = $2 AND session = $3 AND tool_call = $4";

/// A call of an agent that is known.
#[derive(Debug)]
pub(crate) struct RecordedCall {
    /// `None`: its action was pruned.
    pub(crate) id: Option<String>,
    pub(crate) digest: String,
}
