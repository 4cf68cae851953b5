//! Receipts: what was decided, what had been seen of it and what came of it, chained by hashes, so that what is changed
//! afterwards is found.
//!
//! A receipt's hash is SHA-256 over `placet-receipt/v2` and the fields in the order of [`Receipt`], the hash of the receipt
//! before it last (absent before the first). `at` of a `sent` one is when its submission began. Receipts of form 1 say
//! `placet-receipt/v1` and end with `outcome`: they do not cover what stands behind it. Numbers are decimal, moments in milliseconds since 1970. Each has its length in
//! front (unsigned 64-bit, big-endian); each after the first begins with one byte, which is counted: 1, or 0 and nothing
//! behind it for what is absent, so that absent is not empty. The chain shows what somebody changed who could not also change
//! a head that was exported before.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, Sqlite, Transaction};

use super::shape;
use super::state::{Journal, JournalError};
use crate::contract::time;
use crate::domain::{ActionKey, DecisionKind, Digest, Item, SourceName, Submission, SubmissionId};

pub(super) type Tx = Transaction<'static, Sqlite>;

/// One receipt, as it stands in the journal. Foreign text is in it as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// 1, 2, 3 … without gaps.
    pub seq: i64,
    /// `sent`, `answered` or `followed`.
    pub kind: String,
    pub at: i64,
    pub submission: String,
    pub source: String,
    pub action: String,
    /// The version of placet.
    pub client: String,
    /// Who decided: the configured name, else the one that the source knows.
    pub reviewer: Option<String>,
    /// Whose login it was.
    pub login: Option<String>,
    pub tool: Option<String>,
    /// `approve`, `approve_with_edits`, `reject` or `retry`.
    pub decision: Option<String>,
    /// The comment, the reason or the guidance.
    pub said: Option<String>,
    /// Of the content that was decided.
    pub digest: Option<String>,
    /// Of what would run: the content with the edits.
    pub effective: Option<String>,
    pub terms: Option<String>,
    /// How much of exactly this content was on screen: `never`, `opened` or `in_full`.
    pub seen: Option<String>,
    /// For how long, in front of somebody who worked. Milliseconds.
    pub dwell_ms: Option<i64>,
    /// What came of it, as JSON.
    pub outcome: Option<String>,
    pub title: Option<String>,
    /// `None`: it stood alone.
    pub batch: Option<String>,
    /// As it was on the review sheet.
    pub risk: Option<String>,
    /// The run that sent it.
    pub owner: Option<String>,
    /// What stayed undecided in the batches of its submission.
    pub left_pending: Option<i64>,
    /// Which fields its hash covers: 1 up to `outcome`, 2 all.
    pub form: i64,
    /// `sha256:` and 64 hex digits.
    pub hash: String,
}

const COLUMNS: &str = "seq, kind, at, submission, source, action, client, reviewer, login, tool, decision, said, digest, \
                       effective, terms, seen, dwell_ms, outcome, hash, title, batch, risk, owner, left_pending, form";

/// Of the receipts that are written now.
pub(super) const FORM: i64 = 2;

impl Receipt {
    /// The hash that it must have behind `before`.
    pub fn hash_after(&self, before: Option<&str>) -> String {
        let (seq, at) = (self.seq.to_string(), self.at.to_string());
        let dwell = self.dwell_ms.map(|millis| millis.to_string());
        let left = self.left_pending.map(|left| left.to_string());
        let all = [
            Some(seq.as_str()),
            Some(&self.kind),
            Some(&at),
            Some(&self.submission),
            Some(&self.source),
            Some(&self.action),
            Some(&self.client),
            self.reviewer.as_deref(),
            self.login.as_deref(),
            self.tool.as_deref(),
            self.decision.as_deref(),
            self.said.as_deref(),
            self.digest.as_deref(),
            self.effective.as_deref(),
            self.terms.as_deref(),
            self.seen.as_deref(),
            dwell.as_deref(),
            self.outcome.as_deref(),
        ];
        let more = [
            self.title.as_deref(),
            self.batch.as_deref(),
            self.risk.as_deref(),
            self.owner.as_deref(),
            left.as_deref(),
        ];
        let more = more.into_iter().filter(|_| self.covers_all());
        let fields = all.into_iter().chain(more).chain([before]);
        Digest::of_fields(&self.format(), fields).to_string()
    }

    /// The label of its form, under its hash.
    pub fn format(&self) -> String {
        format!("placet-receipt/v{}", self.form)
    }

    /// Title, batch, risk and when it began are under its hash, too.
    pub const fn covers_all(&self) -> bool {
        self.form >= FORM
    }

    /// It has a field that its form does not cover: nobody wrote that with it.
    pub(super) const fn holds_more_than_it_covers(&self) -> bool {
        let any = self.title.is_some()
            || self.batch.is_some()
            || self.risk.is_some()
            || self.owner.is_some()
            || self.left_pending.is_some();
        any && !self.covers_all()
    }

    fn about(kind: &str, submission: &SubmissionId, source: &SourceName, action: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            form: FORM,
            at: time::now().as_millis(),
            submission: submission.as_str().to_owned(),
            source: source.as_str().to_owned(),
            action: action.to_owned(),
            client: env!("CARGO_PKG_VERSION").to_owned(),
            ..Self::default()
        }
    }

    fn read(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            seq: row.try_get("seq")?,
            kind: row.try_get("kind")?,
            at: row.try_get("at")?,
            submission: row.try_get("submission")?,
            source: row.try_get("source")?,
            action: row.try_get("action")?,
            client: row.try_get("client")?,
            reviewer: row.try_get("reviewer")?,
            login: row.try_get("login")?,
            tool: row.try_get("tool")?,
            decision: row.try_get("decision")?,
            said: row.try_get("said")?,
            digest: row.try_get("digest")?,
            effective: row.try_get("effective")?,
            terms: row.try_get("terms")?,
            seen: row.try_get("seen")?,
            dwell_ms: row.try_get("dwell_ms")?,
            outcome: row.try_get("outcome")?,
            hash: row.try_get("hash")?,
            title: row.try_get("title")?,
            batch: row.try_get("batch")?,
            risk: row.try_get("risk")?,
            owner: row.try_get("owner")?,
            left_pending: row.try_get("left_pending")?,
            form: row.try_get("form")?,
        })
    }
}

/// What all decisions of a submission have in common when it begins.
pub(super) struct Begun<'a> {
    /// Milliseconds since 1970.
    pub(super) at: i64,
    pub(super) reviewer: Option<&'a str>,
    pub(super) left_pending: i64,
}

impl<'a> Begun<'a> {
    pub(super) fn now(left_pending: u64, reviewer: Option<&'a str>) -> Self {
        let left_pending = i64::try_from(left_pending).unwrap_or(i64::MAX);
        Self { at: time::now().as_millis(), reviewer, left_pending }
    }
}

impl Journal {
    /// The same journal, for somebody with this login: receipts name it.
    #[must_use]
    pub fn signed_by(self, login: Option<&str>) -> Self {
        Self { login: login.map(Into::into), ..self }
    }

    /// One receipt for every decision of a submission that is about to be sent.
    pub(super) async fn sign(
        &self,
        tx: &mut Tx,
        submission: &Submission,
        begun: &Begun<'_>,
    ) -> sqlx::Result<()> {
        for batch in submission.batches() {
            for item in batch.items() {
                let (seen, dwell_ms) = looked(tx, batch.source(), item).await?;
                let decision = &item.decision;
                append(
                    tx,
                    Receipt {
                        at: begun.at,
                        reviewer: begun.reviewer.map(str::to_owned),
                        login: self.login.as_deref().map(str::to_owned),
                        tool: Some(item.tool.as_raw().to_owned()),
                        decision: Some(word(decision.kind()).to_owned()),
                        said: decision.said().map(str::to_owned),
                        digest: Some(item.digest.to_string()),
                        effective: Some(item.effective.to_string()),
                        terms: item.terms.map(|terms| terms.to_string()),
                        seen: Some(seen),
                        dwell_ms: Some(dwell_ms),
                        title: Some(item.title.as_raw().to_owned()),
                        batch: batch.batch().map(|batch| batch.as_raw().to_owned()),
                        risk: Some(item.risk.as_raw().to_owned()),
                        owner: Some(self.owner.id.clone()),
                        left_pending: Some(begun.left_pending),
                        ..Receipt::about("sent", submission.id(), batch.source(), item.id.as_raw())
                    },
                )
                .await?;
            }
        }
        Ok(())
    }

    /// What became of an action that was approved from here, once for each thing that did. Of another action, nothing.
    pub async fn followed(
        &self,
        key: &ActionKey,
        status: &str,
        error: Option<&str>,
    ) -> Result<(), JournalError> {
        let mut tx = self.begin_write().await?;
        let outcome = shape::write_followed(status, error);
        followed(&mut tx, key, outcome).await.map_err(|error| self.failed(error))?;
        self.commit(tx).await
    }

    /// The receipts of one submission, in order.
    pub async fn receipts_of(&self, id: &SubmissionId) -> Result<Vec<Receipt>, JournalError> {
        let sql = format!("SELECT {COLUMNS} FROM receipt WHERE submission = $1 ORDER BY seq");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id.as_str()).fetch_all(self.read()).await;
        rows.and_then(|rows| rows.iter().map(Receipt::read).collect()).map_err(|error| self.failed(error))
    }

    /// At most `limit` receipts behind the one with number `seq`, in order.
    pub async fn receipts(&self, seq: i64, limit: u32) -> Result<Vec<Receipt>, JournalError> {
        let sql = format!("SELECT {COLUMNS} FROM receipt WHERE seq > $1 ORDER BY seq LIMIT $2");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(seq).bind(limit).fetch_all(self.read()).await;
        rows.and_then(|rows| rows.iter().map(Receipt::read).collect()).map_err(|error| self.failed(error))
    }
}

/// What became of one decision: a receipt of that.
pub(super) async fn answered(
    tx: &mut Tx,
    submission: &SubmissionId,
    key: &ActionKey,
    outcome: &str,
) -> sqlx::Result<()> {
    let receipt = Receipt::about("answered", submission, &key.source, key.id.as_raw());
    append(tx, Receipt { outcome: Some(outcome.to_owned()), ..receipt }).await
}

/// What became of an action, unless that is what its last receipt says, or it has none.
pub(super) async fn followed(tx: &mut Tx, key: &ActionKey, outcome: String) -> sqlx::Result<()> {
    let last: Option<(String, String, Option<String>)> = sqlx::query_as(
        "SELECT submission, kind, outcome FROM receipt
         WHERE source = $1 AND action = $2 AND kind <> 'answered' ORDER BY seq DESC LIMIT 1",
    )
    .bind(key.source.as_str())
    .bind(key.id.as_raw())
    .fetch_optional(&mut **tx)
    .await?;
    match last {
        Some((submission, kind, known))
            if !(kind == "followed" && known.as_deref() == Some(outcome.as_str())) =>
        {
            let of = SubmissionId::new(submission);
            let receipt = Receipt::about("followed", &of, &key.source, key.id.as_raw());
            append(tx, Receipt { outcome: Some(outcome), ..receipt }).await
        }
        Some(_) | None => Ok(()),
    }
}

/// Chains it to the newest. Under the write lock, so that there is one chain, however many write.
async fn append(tx: &mut Tx, receipt: Receipt) -> sqlx::Result<()> {
    let head: Option<(i64, String)> =
        sqlx::query_as("SELECT seq, hash FROM receipt ORDER BY seq DESC LIMIT 1")
            .fetch_optional(&mut **tx)
            .await?;
    let (last, before) = head.map_or((0, None), |(seq, hash)| (seq, Some(hash)));
    let receipt = Receipt { seq: last + 1, ..receipt };
    let hash = receipt.hash_after(before.as_deref());
    insert(tx, Receipt { hash, ..receipt }).await
}

pub(super) async fn insert(tx: &mut Tx, receipt: Receipt) -> sqlx::Result<()> {
    let sql = format!(
        "INSERT INTO receipt ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
         $18, $19, $20, $21, $22, $23, $24, $25)"
    );
    sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(receipt.seq)
        .bind(receipt.kind)
        .bind(receipt.at)
        .bind(receipt.submission)
        .bind(receipt.source)
        .bind(receipt.action)
        .bind(receipt.client)
        .bind(receipt.reviewer)
        .bind(receipt.login)
        .bind(receipt.tool)
        .bind(receipt.decision)
        .bind(receipt.said)
        .bind(receipt.digest)
        .bind(receipt.effective)
        .bind(receipt.terms)
        .bind(receipt.seen)
        .bind(receipt.dwell_ms)
        .bind(receipt.outcome)
        .bind(receipt.hash)
        .bind(receipt.title)
        .bind(receipt.batch)
        .bind(receipt.risk)
        .bind(receipt.owner)
        .bind(receipt.left_pending)
        .bind(receipt.form)
        .execute(&mut **tx)
        .await
        .map(drop)
}

/// How much of exactly this content was on screen, and for how many milliseconds.
async fn looked(tx: &mut Tx, source: &SourceName, item: &Item) -> sqlx::Result<(String, i64)> {
    let seen =
        sqlx::query_as("SELECT seen, dwell_ms FROM seen WHERE source = $1 AND action = $2 AND digest = $3")
            .bind(source.as_str())
            .bind(item.id.as_raw())
            .bind(item.digest.to_string())
            .fetch_optional(&mut **tx)
            .await?;
    Ok(seen.unwrap_or_else(|| ("never".to_owned(), 0)))
}

/// A kind of decision, as receipts spell it.
pub(super) const fn word(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Approve => "approve",
        DecisionKind::ApproveWithEdits => "approve_with_edits",
        DecisionKind::Reject => "reject",
        DecisionKind::Retry => "retry",
    }
}
