//! The trait `Store`: everything that the gate keeps and decides about it.
//!
//! A database answers what is read ([`Reads`]) and does work in transactions; what is written, and when it is refused, stands once for
//! all of them in [`ops`], which decides with the rules of [`decision_rules`] and moves a row only along
//! [`Status::after`](crate::domain::Status::after). Nothing is acknowledged before it is committed.

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
pub(crate) use self::counted::{AskedFlows, Batches, Counts};
pub(crate) use self::pages::{Filter, LookedUp, Page, PageEnd};

use super::audit::{AuditHead, AuditRow, Verified};
use super::policies::Registered;
use super::token::Token;
use super::which::Which;
use crate::contract::briefing::{BatchBody, BriefingBody};
use crate::contract::settle::SettleAs;
use crate::domain::{
    Claim, Digest, Effect, Flows, Outstanding, PendingAction, RawJson, Risk, Row, Status, Timestamp, Via,
};

/// A proposal, checked and ready to be recorded.
#[derive(Debug, Clone)]
pub(crate) struct NewAction {
    pub(crate) id: String,
    pub(crate) workspace: String,
    pub(crate) mission: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) run: Option<String>,
    pub(crate) tool_call: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) requested_by: Option<String>,
    pub(crate) batch: Option<String>,
    pub(crate) checkpoint: Option<String>,
    /// The token's subject.
    pub(crate) proposer: String,
    pub(crate) tool: String,
    pub(crate) title: String,
    pub(crate) summary: Option<String>,
    pub(crate) risk: Risk,
    pub(crate) effect: Option<Effect>,
    pub(crate) input: RawJson,
    pub(crate) preview: Option<RawJson>,
    pub(crate) before: Option<RawJson>,
    pub(crate) digest: Digest,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) supersedes: Option<String>,
    pub(crate) origin: Origin,
}

/// An action as stored, with what only the gate needs to know.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) seq: i64,
    pub(crate) action: PendingAction,
    pub(crate) proposer: String,
    pub(crate) origin: Origin,
    /// Where more than one person must approve, by revision: also those that count no more, because the terms are others by now.
    pub(crate) approvals: Vec<KeptApproval>,
    pub(crate) effective_digest: Option<Digest>,
    /// A digest.
    pub(crate) approved_terms: Option<String>,
    pub(crate) decision_revision: Option<u64>,
    pub(crate) fence: u64,
    pub(crate) lease_by: Option<String>,
    /// As the audit has it. Of what is approved and rests after a lost run: until when.
    pub(crate) lease_until: Option<Timestamp>,
    /// Until when its holder renewed the lease.
    pub(crate) renewed_until: Option<Timestamp>,
}

impl Stored {
    /// The end of the newest lease.
    pub(crate) fn lease_end(&self) -> Option<Timestamp> {
        self.lease_until.max(self.renewed_until)
    }
}

/// A settled action that may go.
#[derive(Debug, Clone)]
pub(crate) struct Prunable {
    pub(crate) action: PendingAction,
    pub(crate) proposer: String,
    /// Of everything of it that never changed, as the audit has it.
    pub(crate) record: Digest,
}

/// One person's approval, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptApproval {
    /// Under which it was given.
    pub(crate) revision: u64,
    pub(crate) subject: String,
    pub(crate) at: Timestamp,
    /// Of what would run.
    pub(crate) effective: Digest,
    pub(crate) terms: Digest,
    /// Of the tool, for its risk; a part of the terms.
    pub(crate) policy: Digest,
    pub(crate) edits: Option<RawJson>,
}

/// An approval of an action that has not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenApproval {
    pub id: String,
    pub tool: String,
    /// The action's status before anything was withdrawn.
    pub status: Status,
    pub is_voided: bool,
}

/// Who asks: a token's subject inside its workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Actor {
    pub(crate) subject: String,
    pub(crate) workspace: String,
}

/// One decision as it was sent; its rules are checked inside the transaction.
#[derive(Debug, Clone)]
pub(crate) struct Ruling {
    pub(crate) id: String,
    pub(crate) verdict: Verdict,
    pub(crate) expected_digest: Option<String>,
    pub(crate) expected_effective_digest: Option<String>,
    pub(crate) expected_terms: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) via: Via,
    /// `None` for what needs no judgement, and for an action that was not found.
    pub(crate) judged: Option<Judgement>,
}

/// The verdict of the tool's schema on an input. Made before the transaction, because it can take long.
#[derive(Debug, Clone)]
pub(crate) struct Judgement {
    /// Digest of the judged input, after the edits.
    pub(crate) input: Digest,
    pub(crate) fits: Fits,
}

/// Why an input does not fit.
pub(crate) type Fits = Result<(), String>;

#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    Approve { edits: Option<RawJson> },
    Reject,
}

/// What is decided in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Group {
    Batch(String),
    /// The batches of a subtask, in one cascade.
    Checkpoint(String),
}

/// A checkpoint with what waits in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) id: String,
    pub(crate) missions: Vec<String>,
    pub(crate) batches: Vec<BatchBody>,
}

/// An `Idempotency-Key` and what was asked under it.
#[derive(Debug, Clone)]
pub(crate) struct Keyed {
    pub(crate) key: String,
    /// SHA-256 of the route and the body.
    pub(crate) fingerprint: Vec<u8>,
}

/// The body of an answer, and whether it is the first one again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) body: String,
    pub(crate) replayed: bool,
}

/// What a proposal came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) id: String,
    /// It was recorded before: under the same key, or as the same call.
    pub(crate) again: bool,
}

/// An approved action that nothing runs yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Its place in the order of arrival.
    pub(crate) seq: i64,
    pub(crate) id: String,
    pub(crate) tool: String,
}

/// Permission to run one approved action, for a while.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    /// `None`: the gate itself.
    pub(crate) by: Option<Actor>,
    pub(crate) millis: i64,
}

/// An approved action under a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) id: String,
    pub(crate) tool: String,
    /// The merged input, byte for byte.
    pub(crate) input: RawJson,
    pub(crate) fence: u64,
    /// `<action id>:<decision revision>`: the same for every run of one decision.
    pub(crate) key: String,
    pub(crate) lease_until: Timestamp,
    pub(crate) traceparent: Option<String>,
}

/// What a dispatch came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dispatched {
    Run(Work),
    /// It is not what was approved any more; the action is now `failed` and says why.
    NotAsApproved(&'static str),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finished {
    Executed(RawJson),
    Failed(String),
    /// Something else ran than what was approved. An object with that input, and how it ended.
    RanOther(RawJson),
    /// Nobody knows whether the write landed.
    Lost(String),
    /// The same, of a tool that may safely be run again: it is, a bounded number of times.
    Again(String),
}

/// The error of [`Finished::RanOther`].
pub(crate) const RAN_OTHER: &str = "something else ran than what was approved";
/// Milliseconds for which such a run is counted in briefings.
pub(crate) const HOUR: i64 = 60 * 60 * 1_000;

/// Claims in one answer at most.
pub(crate) const CLAIMS_MAX: u32 = 1_000;

/// A token's columns as they are written, where their meaning is not enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptToken {
    pub(crate) hash: Vec<u8>,
    pub(crate) scopes: String,
}

/// Takes the rows of a page, one after another: each is written into an answer while the next ones are read.
pub(crate) type TakeRow<'a> = dyn FnMut(&Row) -> Result<(), StoreError> + Send + 'a;

/// What changed after a revision.
#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) rows: Vec<Row>,
    pub(crate) revision: u64,
    pub(crate) more: bool,
    pub(crate) complete: bool,
}

/// A workspace in numbers.
#[derive(Debug, Default)]
pub(crate) struct Census {
    pub(crate) pending: u64,
    /// When the oldest pending action arrived.
    pub(crate) oldest: Option<Timestamp>,
    /// Statuses that nothing is in are left out.
    pub(crate) by_status: Vec<(Status, u64)>,
}

/// The gate understood and will not do it.
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
    /// Whether to log this of the action. A row that was changed outside the gate is refused at every sweep, and logged once.
    pub(crate) fn is_news(&self, id: &str) -> bool {
        static LOGGED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let mut logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(self, Self::Tampered(_)) || logged.insert(format!("{id} {self}"))
    }
}

/// Everybody whose work was in the same transaction is told the same.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum StoreError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the database failed: {}", words(.0))]
    Database(Arc<sqlx::Error>),
    /// With what is wrong, in plain words.
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

/// What an error of a database means, in plain words.
pub(crate) fn words(error: &sqlx::Error) -> String {
    postgres::usual(error).map_or_else(|| crate::sqlite::Words(error).to_string(), str::to_owned)
}

/// Whether these are words of ours, without details of the database.
pub(crate) fn is_usual(words: &str) -> bool {
    postgres::is_usual(words) || crate::sqlite::is_usual(words)
}

/// The gate's memory.
#[async_trait]
pub(crate) trait Store: Reads + Writes {
    /// A page whose rows were all given to `take`.
    async fn rows(&self, filter: &Filter, take: &mut TakeRow<'_>) -> Result<PageEnd, StoreError>;
    /// Reads everything and says what does not fit together, or does not fit the heads that were kept. Adds each row that it read to
    /// `read`; it reads every row of the audit twice.
    async fn verify_counting(&self, kept: &[AuditHead], read: &AtomicU64) -> Result<Verified, StoreError>;
    #[cfg(test)]
    async fn verify(&self, kept: &[AuditHead]) -> Result<Verified, StoreError> {
        self.verify_counting(kept, &AtomicU64::new(0)).await
    }
    /// Fails when the database cannot be read or written. Writes at most every few seconds, however often it is asked.
    async fn ping(&self) -> Result<(), StoreError>;
    /// Says that this gate is there, and returns the others that are; those that were silent for long are gone. A database that only one
    /// gate can have has no others.
    async fn beat(&self, _me: &Registered) -> Result<Vec<Registered>, StoreError> {
        Ok(Vec::new())
    }
    /// The gate of this id beats no more.
    async fn leave(&self, _me: &str) -> Result<(), StoreError> {
        Ok(())
    }
    /// Gives back the room that a long log took.
    async fn shorten_log(&self) -> Result<(), StoreError>;
    /// The live token with this hash.
    async fn token(&self, hash: &[u8], now: Timestamp) -> Result<Option<Token>, StoreError>;
    /// Finishes what is queued and closes the database.
    async fn close(&self);
}

/// What is asked of the gate's memory.
#[async_trait]
pub(crate) trait Reads: fmt::Debug + Send + Sync {
    /// Approved actions of these tools, but the `full` ones, that arrived after the place `after`, in the order of their arrival; without
    /// those whose pause before the next attempt lasts beyond `now`.
    async fn approved(
        &self,
        tools: &Which,
        full: &[String],
        after: i64,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<Waiting>, StoreError>;
    /// How many approvals no agent claimed in three quarters of their time.
    async fn lapsing(&self, counts: &Counts) -> Result<u64, StoreError>;
    /// Actions of a workspace that were settled before this moment, the first settled first: at most `limit`, and beyond the first
    /// about `bytes` bytes of input.
    async fn settled(
        &self,
        workspace: &str,
        before: Timestamp,
        limit: u32,
        bytes: u64,
    ) -> Result<Vec<Prunable>, StoreError>;
    async fn get(&self, id: &str) -> Result<Option<Stored>, StoreError>;
    /// The workspace of an action that was pruned.
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
    /// Of the newest change; 0 while there was none.
    async fn revision(&self, workspace: &str) -> Result<u64, StoreError>;
    async fn briefing(&self, counts: &Counts, batches: Batches) -> Result<BriefingBody, StoreError>;
    /// Checkpoints in which something waits, of one mission or of all; the oldest 500 batches of them.
    async fn checkpoints(
        &self,
        workspace: &str,
        mission: Option<&str>,
    ) -> Result<Vec<Checkpoint>, StoreError>;
    /// What waits in each queue, and what came and went minute by minute: of one moment, so that both fit each other.
    /// At most `limit` ids that begin so, of any workspace.
    async fn beginning(&self, prefix: &str, limit: u32) -> Result<Vec<String>, StoreError>;
    async fn outstanding(&self, workspace: &str) -> Result<Outstanding, StoreError>;
    async fn flows(&self, asked: &AskedFlows) -> Result<Flows, StoreError>;
    /// What happened to one action, oldest first.
    async fn timeline(&self, id: &str) -> Result<Vec<AuditRow>, StoreError>;
    /// What somebody said to be on, of what is pending: at most [`CLAIMS_MAX`], the newest first.
    async fn claims(&self, workspace: &str) -> Result<Vec<Claim>, StoreError>;
    /// What callbacks are told and were told lately, of all workspaces: at most `most`, the newest first, but before them those that wait.
    async fn callbacks(&self, most: u32) -> Result<Vec<Callback>, StoreError>;
    /// Since when nothing is dispatched in this workspace.
    async fn paused(&self, workspace: &str) -> Result<Option<Timestamp>, StoreError>;
    /// At most `limit` rows of the audit after a revision.
    async fn audit(&self, workspace: &str, since: u64, limit: u32) -> Result<Vec<AuditRow>, StoreError>;
    /// The newest of every workspace, or of one.
    async fn audit_heads(&self, workspace: Option<&str>) -> Result<Vec<AuditHead>, StoreError>;
    async fn census(&self, workspace: &str) -> Result<Census, StoreError>;
    async fn tokens(&self) -> Result<Vec<Token>, StoreError>;
    /// People whom a proxy named in this workspace, each as their last request had them; see [`Token::by_proxy`].
    async fn proxied(&self, workspace: &str) -> Result<Vec<Token>, StoreError>;
}

/// What changes the gate's memory. Every method returns after its commit.
#[async_trait]
pub(crate) trait Writes: Send + Sync {
    /// Records a proposal, unless the workspace has `limit` pending ones. The same request under the same key, and the same call of
    /// one session, is the action that is there, whatever became of it.
    async fn record(&self, action: NewAction, limit: u64, key: Option<Keyed>)
    -> Result<Recorded, StoreError>;
    /// Decides one action; the reply is the action as it stands then.
    async fn decide(&self, ruling: Ruling, by: Actor, key: Option<Keyed>) -> Result<Reply, StoreError>;
    /// Decides what is listed, item by item; the reply is a [`BatchReply`](crate::contract::batch::BatchReply) or a
    /// [`CheckpointReply`](crate::contract::checkpoint::CheckpointReply).
    async fn decide_group(
        &self,
        group: Group,
        rulings: Vec<Ruling>,
        by: Actor,
        key: Option<Keyed>,
    ) -> Result<Reply, StoreError>;
    /// An approver takes their approval back, while more people must approve.
    async fn take_back(&self, id: String, by: Actor) -> Result<Stored, StoreError>;
    async fn withdraw(&self, id: String, by: Actor) -> Result<Stored, StoreError>;
    /// A human ends what is `unknown`.
    async fn settle(
        &self,
        id: String,
        how: SettleAs,
        reason: Option<String>,
        by: Actor,
    ) -> Result<Stored, StoreError>;
    /// Takes an approved action under a lease, after checking that its bytes and its terms are those that were approved.
    /// A claim under a key that was answered before gets the same work again, under the same fence.
    async fn dispatch(&self, id: String, lease: Lease, key: Option<Keyed>) -> Result<Dispatched, StoreError>;
    /// Extends the lease of a run from now on, for its holder under the newest fence. Returns its end; it never becomes shorter.
    async fn renew(&self, id: String, fence: u64, lease: Lease) -> Result<Timestamp, StoreError>;
    /// Ends a run; the same end a second time is answered as the first. Refused when the fence is not the newest, or `by` does not hold the lease, or did not hold the last
    /// one of what is `unknown` by now.
    async fn finish(
        &self,
        id: String,
        fence: u64,
        by: Option<Actor>,
        how: Finished,
    ) -> Result<Stored, StoreError>;
    /// Pending actions past their time become `expired`. Returns how many.
    async fn expire(&self) -> Result<u64, StoreError>;
    /// Approved actions that no agent claimed in time become `expired`. Returns how many.
    async fn lapse(&self) -> Result<u64, StoreError>;
    /// Running actions whose lease ran out, but those of which a run still goes on: tools in `safe` run again, a bounded number of times;
    /// others become `unknown`. Returns how many.
    async fn recover(&self, safe: Which, going_on: Vec<String>) -> Result<u64, StoreError>;
    /// Removes these, where nothing happened to them since they were read; the audit keeps their ids and records. Returns how many.
    async fn prune(
        &self,
        workspace: String,
        actions: Vec<Prunable>,
        who: Option<String>,
    ) -> Result<u64, StoreError>;
    /// Drops kept answers that are older than `millis`, but those to proposals; and of these what is left of them since their action was
    /// pruned, `tombstones` milliseconds ago.
    async fn forget_replies(&self, millis: i64, tombstones: i64) -> Result<u64, StoreError>;
    /// Drops counted minutes that are older than `millis`.
    async fn forget_flows(&self, millis: i64) -> Result<u64, StoreError>;
    /// Says that somebody is on a pending action, or still is. Returns whose it is then: whoever was first keeps it.
    async fn claim(&self, id: String, by: Actor) -> Result<Claim, StoreError>;
    /// Ends one's own claim. False when there was none.
    async fn end_claim(&self, id: String, by: Actor) -> Result<bool, StoreError>;
    /// Takes what this callback is to be told now: nobody else gets it for `lease` milliseconds.
    async fn take_callbacks(&self, name: String, lease: i64, most: u32) -> Result<Vec<Callback>, StoreError>;
    /// Writes down what a try came to, unless another one began since.
    async fn end_callback(&self, callback: Callback, how: Delivery) -> Result<(), StoreError>;
    /// Gives up what is `old` milliseconds old and did not arrive, and drops some of what is over for `over`.
    async fn sweep_callbacks(&self, old: i64, over: i64) -> Result<SweptCallbacks, StoreError>;
    /// Stops (`true`) or allows dispatching in a workspace, or in the whole gate (`*`). False when it was so already.
    async fn pause(&self, workspace: String, paused: bool, who: Option<String>) -> Result<bool, StoreError>;
    async fn add_token(&self, token: Token, hash: Vec<u8>) -> Result<(), StoreError>;
    /// Adds a token in the place of another one, which ends at `until`; false, and nothing is added, when that is no live token.
    async fn rotate_token(
        &self,
        old: String,
        until: Timestamp,
        new: Token,
        hash: Vec<u8>,
    ) -> Result<bool, StoreError>;
    /// These tokens were used then.
    async fn note_uses(&self, uses: Vec<(String, Timestamp)>) -> Result<(), StoreError>;
    /// A proxy named this person at this moment.
    async fn note_proxied(&self, person: Token, at: Timestamp) -> Result<(), StoreError>;
    /// Ends a token, and returns the approvals of its subject that have not run; `None` when there is no such live token.
    /// `void` withdraws those that no executor has taken, also of a token that was revoked before.
    async fn revoke_token(
        &self,
        id: String,
        void: bool,
        who: Option<String>,
    ) -> Result<Option<Vec<OpenApproval>>, StoreError>;
}
