//! The trait `Store`: what the gate keeps, and the rules of changing it.
//!
//! Reads (`sql/ask.rs`) run on any connection. Writes (`ops/mod.rs`) become jobs, of which a writer runs many in one
//! transaction ([`Tx`](ops::tx::Tx)) and answers after the commit. A job locks the head of its workspace, reads, and writes
//! by compare-and-set on the row's revision; rows that no later query needs are buffered ([`write_buffer`]). The rules
//! are in [`ops`] and [`decision_rules`], the SQL of both databases in [`sql`]. Status changes only along
//! [`Status::after`](crate::domain::Status::after), in `ops/advance.rs`.
//!
//! Tried before: rules and SQL for each database, which drifted apart. Drawbacks: each signature of `Store` and `Tx` exists
//! twice, in a trait and in its one implementation; a query names the buffered rows that it depends on, unchecked.

pub(crate) mod action_fields;
pub(crate) mod approvals;
mod callback;
mod columns;
pub(crate) mod context;
mod counted;
mod deciders;
pub(crate) mod decision_rules;
pub(in crate::gate) mod moving;
mod ops;
mod pages;
mod piece;
pub(crate) mod postgres;
mod rows;
mod sql;
pub(crate) mod sqlite;
#[cfg(test)]
mod tests;
mod write_buffer;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

pub use self::callback::Callback;
pub(crate) use self::callback::{Delivery, Origin, SweptCallbacks};
pub(crate) use self::counted::{AskedFlows, Batches, Briefed, Counts, OpenBatch};
pub(crate) use self::pages::{Filter, LookedUp, Page, PageEnd};

use super::audit::{AuditHead, AuditRow, Verified};
use super::policies::Registered;
use super::token::Token;
use super::which::Which;
use crate::contract::settle::SettleAs;
use crate::domain::{
    Claim, Digest, Flows, Outstanding, PendingAction, RawJson, Row, Status, Timestamp, Untrusted, Via,
};

/// A proposal to record. The transaction sets the time and the revision of its action.
#[derive(Debug, Clone)]
pub(crate) struct NewAction {
    pub(crate) action: PendingAction,
    /// Digest of the input. Computed once, before the transaction.
    pub(crate) digest: Digest,
    pub(crate) proposer: String,
    pub(crate) supersedes: Option<String>,
    pub(crate) origin: Origin,
}

impl NewAction {
    pub(crate) fn workspace(&self) -> &str {
        self.action.row.workspace.as_ref().map_or("", Untrusted::as_raw)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) seq: i64,
    pub(crate) action: PendingAction,
    pub(crate) proposer: String,
    pub(crate) origin: Origin,
    /// Approvals if several people must approve, by revision. Includes those that no longer count, because the terms
    /// changed.
    pub(crate) approvals: Vec<KeptApproval>,
    pub(crate) effective_digest: Option<Digest>,
    pub(crate) approved_terms: Option<String>,
    pub(crate) decision_revision: Option<u64>,
    pub(crate) fence: u64,
    pub(crate) lease_by: Option<String>,
    /// End of the lease in the audit. For an approved action after a lost run: the earliest time of the next run.
    pub(crate) lease_until: Option<Timestamp>,
    /// End of the lease after its last renewal.
    pub(crate) renewed_until: Option<Timestamp>,
}

impl Stored {
    pub(crate) fn lease_end(&self) -> Option<Timestamp> {
        self.lease_until.max(self.renewed_until)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Prunable {
    pub(crate) action: PendingAction,
    pub(crate) proposer: String,
    /// Digest of its unchanging fields, as in the audit.
    pub(crate) record: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptApproval {
    pub(crate) revision: u64,
    pub(crate) subject: String,
    pub(crate) at: Timestamp,
    pub(crate) effective: Digest,
    pub(crate) terms: Digest,
    pub(crate) policy: Digest,
    pub(crate) edits: Option<RawJson>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenApproval {
    pub id: String,
    pub tool: String,
    pub status: Status,
    pub is_voided: bool,
}

/// A token's subject in its workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Actor {
    pub(crate) subject: String,
    pub(crate) workspace: String,
}

/// One decision as sent. The transaction checks its rules.
#[derive(Debug, Clone)]
pub(crate) struct Ruling {
    pub(crate) id: String,
    pub(crate) verdict: Verdict,
    pub(crate) expected_digest: Option<String>,
    pub(crate) expected_effective_digest: Option<String>,
    pub(crate) expected_terms: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) via: Via,
    /// `None` if no judgement is needed, or the action was not found.
    pub(crate) judged: Option<Judgement>,
}

/// Whether an input fits the tool's schema. Determined before the transaction, because it can take long.
#[derive(Debug, Clone)]
pub(crate) struct Judgement {
    /// Digest of the judged input, after the edits.
    pub(crate) input: Digest,
    pub(crate) fits: Fits,
}

pub(crate) type Fits = Result<(), String>;

#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    Approve { edits: Option<RawJson> },
    Reject,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Group {
    Batch(String),
    /// All batches of a subtask.
    Checkpoint(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) id: String,
    pub(crate) missions: Vec<String>,
    pub(crate) batches: Vec<OpenBatch>,
}

/// An `Idempotency-Key` and a fingerprint of its request.
#[derive(Debug, Clone)]
pub(crate) struct Keyed {
    pub(crate) key: String,
    pub(crate) fingerprint: Vec<u8>,
}

/// Writes the reply that is kept for a key, so that a repeated request gets the same bytes.
pub(crate) type WriteReply<T> = fn(&T) -> Result<String, StoreError>;

pub(crate) struct KeyedReply<T> {
    pub(crate) key: Keyed,
    pub(crate) write: WriteReply<T>,
}

#[derive(Debug)]
pub(crate) enum Answered<T> {
    Now(T),
    /// The reply to an earlier request under the same key.
    Before(String),
}

#[derive(Debug)]
pub(crate) struct DecidedGroup {
    pub(crate) group: Group,
    pub(crate) by: String,
    pub(crate) items: Vec<DecidedItem>,
}

#[derive(Debug)]
pub(crate) struct DecidedItem {
    pub(crate) id: String,
    pub(crate) batch: Option<String>,
    pub(crate) outcome: Result<Decided, Refused>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    Approved,
    Rejected,
    Accepted { given: u64, needed: u64 },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) id: String,
    pub(crate) again: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) seq: i64,
    pub(crate) id: String,
    pub(crate) tool: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Lease {
    pub(crate) by: Option<Actor>,
    pub(crate) millis: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) id: String,
    pub(crate) tool: String,
    /// The merged input, byte for byte.
    pub(crate) input: RawJson,
    pub(crate) fence: u64,
    /// `<action id>:<decision revision>`, the same for every run of one decision.
    pub(crate) key: String,
    pub(crate) lease_until: Timestamp,
    pub(crate) traceparent: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dispatched {
    Run(Work),
    /// It no longer matches the approval. The action is now `failed`, with this reason.
    NotAsApproved(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finished {
    Executed(RawJson),
    Failed(String),
    /// Another input ran than the approved one: an object with that input, and the result.
    RanOther(RawJson),
    /// It is unknown whether the write was applied.
    Lost(String),
    /// Like `Lost`, but the tool may safely run again. The number of attempts is limited.
    Again(String),
}

pub(crate) const RAN_OTHER: &str = "something else ran than what was approved";
/// Milliseconds for which briefings count such a run.
pub(crate) const HOUR: i64 = 60 * 60 * 1_000;

pub(crate) const CLAIMS_MAX: u32 = 1_000;

/// Columns of a token as stored, for comparison with the audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptToken {
    pub(crate) hash: Vec<u8>,
    pub(crate) scopes: String,
}

/// Receives the rows of a page one by one, while the next ones are read.
pub(crate) type TakeRow<'a> = dyn FnMut(&Row) -> Result<(), StoreError> + Send + 'a;

#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) rows: Vec<Row>,
    pub(crate) revision: u64,
    pub(crate) more: bool,
    pub(crate) complete: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Census {
    pub(crate) pending: u64,
    pub(crate) oldest: Option<Timestamp>,
    /// Statuses with no actions are left out.
    pub(crate) by_status: Vec<(Status, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("there is no such pending action")]
    Missing,
    #[error("it was settled and has been pruned; the audit still says what became of it")]
    Pruned,
    #[error("there is no such batch")]
    MissingBatch,
    #[error("there is no such checkpoint")]
    MissingCheckpoint,
    #[error("the gate is paused; nothing is run until it is resumed")]
    Paused,
    #[error("it belongs to another workspace")]
    Foreign,
    #[error("{0:?} belongs to another workspace; nothing was decided. Send the actions of one workspace")]
    CrossesWorkspaces(String),
    #[error("nobody decides their own proposal; ask somebody else")]
    Own,
    #[error("only who proposed it may do this")]
    NotProposer,
    #[error("no approval of yours stands; there is nothing to take back")]
    NotApproved,
    #[error("it is {} already", .status.as_raw())]
    State { status: Status, by: Option<String>, at: Option<Timestamp> },
    #[error(
        "its row was changed outside the gate: the audit says that it is {0}, so it does not run; \
         `placet gate audit verify` says what else was changed"
    )]
    Tampered(String),
    #[error("{0}")]
    Changed(&'static str),
    #[error("{0}")]
    Invalid(String),
    #[error("this Idempotency-Key was used with another request; choose a new one")]
    KeyReused,
    #[error(
        "this call id was used for another call in this session, or is proposed again to take another one's place; \
         choose a new toolCallId"
    )]
    CallReused,
    #[error(
        "this request was recorded before, and its action was pruned since; it is not recorded a second time"
    )]
    RecordedAndPruned,
    #[error("it would have expired already; send a later expiresAt")]
    Late,
    #[error("the workspace has {0} pending actions, which is the limit; decide some first")]
    Full(u64),
    #[error(
        "this run is over, or is not yours: its lease ran out, its fence is old, or another subject claimed it"
    )]
    StaleFence,
}

impl Refused {
    /// Returns whether to log this for the action. A row changed outside the gate is refused at every sweep, but logged
    /// once.
    pub(crate) fn is_news(&self, id: &str) -> bool {
        static LOGGED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let mut logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(self, Self::Tampered(_)) || logged.insert(format!("{id} {self}"))
    }
}

/// A store error. Cloned for every job of a failed transaction.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum StoreError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the database failed: {}", words(.0))]
    Database(Arc<sqlx::Error>),
    #[error("the database failed: {0}")]
    Commit(String),
    #[error("stored data cannot be read: {0}")]
    Corrupt(&'static str),
    #[error("the gate is closing")]
    Closed,
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(Arc::new(error))
    }
}

pub(crate) fn words(error: &sqlx::Error) -> String {
    postgres::usual(error).map_or_else(|| crate::sqlite::Words(error).to_string(), str::to_owned)
}

/// Returns true if this text is one of the gate's own, without database details.
pub(crate) fn is_usual(words: &str) -> bool {
    postgres::is_usual(words) || crate::sqlite::is_usual(words)
}

#[async_trait]
pub(crate) trait Store: Reads + Writes {
    async fn rows(&self, filter: &Filter, take: &mut TakeRow<'_>) -> Result<PageEnd, StoreError>;
    async fn verify_counting(&self, kept: &[AuditHead], read: &AtomicU64) -> Result<Verified, StoreError>;
    #[cfg(test)]
    async fn verify(&self, kept: &[AuditHead]) -> Result<Verified, StoreError> {
        self.verify_counting(kept, &AtomicU64::new(0)).await
    }
    /// Fails if the database cannot be read or written. Writes at most every few seconds.
    async fn ping(&self) -> Result<(), StoreError>;
    /// Registers this gate, removes gates that stopped reporting, and returns the others. A single-gate database has no
    /// others.
    async fn beat(&self, _me: &Registered) -> Result<Vec<Registered>, StoreError> {
        Ok(Vec::new())
    }
    async fn leave(&self, _me: &str) -> Result<(), StoreError> {
        Ok(())
    }
    /// Frees the disk space of a long log.
    async fn shorten_log(&self) -> Result<(), StoreError>;
    async fn token(&self, hash: &[u8], now: Timestamp) -> Result<Option<Token>, StoreError>;
    async fn close(&self);
}

#[async_trait]
pub(crate) trait Reads: fmt::Debug + Send + Sync {
    /// Approved actions of these tools except the `full` ones, with a `seq` above `after`, in order of arrival. Skips
    /// actions whose pause after a lost run ends later than `now`.
    async fn approved(
        &self,
        tools: &Which,
        full: &[String],
        after: i64,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<Waiting>, StoreError>;
    /// Number of approvals that were not claimed within three quarters of their lifetime.
    async fn lapsing(&self, counts: &Counts) -> Result<u64, StoreError>;
    /// Actions of a workspace settled before this time, oldest first: at most `limit`, and beyond the first about
    /// `bytes` bytes of input.
    async fn settled(
        &self,
        workspace: &str,
        before: Timestamp,
        limit: u32,
        bytes: u64,
    ) -> Result<Vec<Prunable>, StoreError>;
    async fn get(&self, id: &str) -> Result<Option<Stored>, StoreError>;
    async fn was_there(&self, id: &str) -> Result<Option<String>, StoreError>;
    async fn actions(&self, filter: &Filter) -> Result<Page<PendingAction>, StoreError>;
    /// At most `limit` rows and, beyond the first, about `bytes` bytes on the wire.
    async fn changes(
        &self,
        workspace: &str,
        since: u64,
        limit: u32,
        bytes: u64,
    ) -> Result<Changes, StoreError>;
    /// The newest revision; 0 without changes.
    async fn revision(&self, workspace: &str) -> Result<u64, StoreError>;
    async fn briefing(&self, counts: &Counts, batches: Batches) -> Result<Briefed, StoreError>;
    /// Checkpoints with pending actions, of one mission or of all. At most 500 batches, oldest first.
    async fn checkpoints(
        &self,
        workspace: &str,
        mission: Option<&str>,
    ) -> Result<Vec<Checkpoint>, StoreError>;
    /// At most `limit` ids with this prefix, of any workspace.
    async fn beginning(&self, prefix: &str, limit: u32) -> Result<Vec<String>, StoreError>;
    async fn outstanding(&self, workspace: &str) -> Result<Outstanding, StoreError>;
    /// Pending actions by queue, and changes by minute, from one snapshot.
    async fn flows(&self, asked: &AskedFlows) -> Result<Flows, StoreError>;
    async fn timeline(&self, id: &str) -> Result<Vec<AuditRow>, StoreError>;
    /// Claims on pending actions, newest first, at most [`CLAIMS_MAX`].
    async fn claims(&self, workspace: &str) -> Result<Vec<Claim>, StoreError>;
    /// Callbacks of all workspaces, at most `most`: undelivered ones first, then the newest.
    async fn callbacks(&self, most: u32) -> Result<Vec<Callback>, StoreError>;
    async fn paused(&self, workspace: &str) -> Result<Option<Timestamp>, StoreError>;
    async fn audit(&self, workspace: &str, since: u64, limit: u32) -> Result<Vec<AuditRow>, StoreError>;
    async fn audit_heads(&self, workspace: Option<&str>) -> Result<Vec<AuditHead>, StoreError>;
    async fn census(&self, workspace: &str) -> Result<Census, StoreError>;
    async fn tokens(&self) -> Result<Vec<Token>, StoreError>;
    /// People named by a proxy in this workspace, as of their last request; see [`Token::by_proxy`].
    async fn proxied(&self, workspace: &str) -> Result<Vec<Token>, StoreError>;
}

/// Changes to the gate's data. Every method returns after its commit.
#[async_trait]
pub(crate) trait Writes: Send + Sync {
    /// Records a proposal, unless the workspace has `limit` pending ones. A repeated request (same key), or a repeated
    /// call of a session, returns the existing action in any status.
    async fn record(&self, action: NewAction, limit: u64, key: Option<Keyed>)
    -> Result<Recorded, StoreError>;
    async fn decide(
        &self,
        ruling: Ruling,
        by: Actor,
        key: Option<KeyedReply<Stored>>,
    ) -> Result<Answered<Stored>, StoreError>;
    /// Decides the listed actions one by one.
    async fn decide_group(
        &self,
        group: Group,
        rulings: Vec<Ruling>,
        by: Actor,
        key: Option<KeyedReply<DecidedGroup>>,
    ) -> Result<Answered<DecidedGroup>, StoreError>;
    async fn take_back(&self, id: String, by: Actor) -> Result<Stored, StoreError>;
    async fn withdraw(&self, id: String, by: Actor) -> Result<Stored, StoreError>;
    /// Records the outcome of an `unknown` action, as a person found it.
    async fn settle(
        &self,
        id: String,
        how: SettleAs,
        reason: Option<String>,
        by: Actor,
    ) -> Result<Stored, StoreError>;
    /// Leases an approved action, after checking that its input and terms match the approval. A repeated claim (same
    /// key) returns the same work under the same fence.
    async fn dispatch(&self, id: String, lease: Lease, key: Option<Keyed>) -> Result<Dispatched, StoreError>;
    /// Extends the lease of a run, for its holder under the newest fence. Returns its end, which never moves back.
    async fn renew(&self, id: String, fence: u64, lease: Lease) -> Result<Timestamp, StoreError>;
    /// Ends a run. A repeated report is answered like the first. Refused if the fence is not the newest, or `by` does
    /// not hold the lease (for an `unknown` action: did not hold the last one).
    async fn finish(
        &self,
        id: String,
        fence: u64,
        by: Option<Actor>,
        how: Finished,
    ) -> Result<Stored, StoreError>;
    /// Expires pending actions past their time. Returns how many.
    async fn expire(&self) -> Result<u64, StoreError>;
    /// Expires approved actions that no agent claimed in time. Returns how many.
    async fn lapse(&self) -> Result<u64, StoreError>;
    /// Handles running actions whose lease ended, except `going_on`: tools in `safe` run again, a limited number of
    /// times; others become `unknown`. Returns how many.
    async fn recover(&self, safe: Which, going_on: Vec<String>) -> Result<u64, StoreError>;
    /// Removes these actions if they did not change since they were read. The audit keeps their ids and record digests.
    /// Returns how many.
    async fn prune(
        &self,
        workspace: String,
        actions: Vec<Prunable>,
        who: Option<String>,
    ) -> Result<u64, StoreError>;
    /// Deletes replies older than `millis`, except to proposals, and tombstones of proposals pruned `tombstones`
    /// milliseconds ago.
    async fn forget_replies(&self, millis: i64, tombstones: i64) -> Result<u64, StoreError>;
    async fn forget_flows(&self, millis: i64) -> Result<u64, StoreError>;
    /// Claims a pending action or extends one's claim. Returns the current claim: the first one is kept.
    async fn claim(&self, id: String, by: Actor) -> Result<Claim, StoreError>;
    /// Ends one's own claim. False if there was none.
    async fn end_claim(&self, id: String, by: Actor) -> Result<bool, StoreError>;
    /// Begins the deliveries of this callback that are due. No other gate takes them for `lease` milliseconds.
    async fn take_callbacks(&self, name: String, lease: i64, most: u32) -> Result<Vec<Callback>, StoreError>;
    /// Records the result of an attempt, unless a later one began.
    async fn end_callback(&self, callback: Callback, how: Delivery) -> Result<(), StoreError>;
    /// Gives up messages that were not delivered within `old` milliseconds, and deletes some that finished `over`
    /// milliseconds ago.
    async fn sweep_callbacks(&self, old: i64, over: i64) -> Result<SweptCallbacks, StoreError>;
    /// Pauses (`true`) or resumes dispatching in a workspace, or in the whole gate (`*`). False if that changed
    /// nothing.
    async fn pause(&self, workspace: String, paused: bool, who: Option<String>) -> Result<bool, StoreError>;
    async fn add_token(&self, token: Token, hash: Vec<u8>) -> Result<(), StoreError>;
    /// Adds a token that replaces `old`, which ends at `until`. Returns false and adds nothing if `old` is no live
    /// token.
    async fn rotate_token(
        &self,
        old: String,
        until: Timestamp,
        new: Token,
        hash: Vec<u8>,
    ) -> Result<bool, StoreError>;
    async fn note_uses(&self, uses: Vec<(String, Timestamp)>) -> Result<(), StoreError>;
    async fn note_proxied(&self, person: Token, at: Timestamp) -> Result<(), StoreError>;
    /// Ends a token and returns its subject's approvals that have not run; `None` if there is no such live token.
    /// `void` withdraws those no executor has taken, also for an already revoked token.
    async fn revoke_token(
        &self,
        id: String,
        void: bool,
        who: Option<String>,
    ) -> Result<Option<Vec<OpenApproval>>, StoreError>;
}
