//! Receipts of decisions and their outcomes, chained by hashes ([`chain`]) over the label `placet-receipt/v1` and
//! [`Receipt::fields`]. A `sent` receipt's `at` is the time its submission began.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sqlx::sqlite::{SqliteColumn, SqliteRow};
use sqlx::{Column as _, QueryBuilder, Row as _, Sqlite, SqlitePool, Transaction};

use super::shape;
use super::state::{Journal, JournalError};
use crate::clock;
use crate::domain::{ActionKey, Item, SourceName, Submission, SubmissionId, Via, chain};

type Asked<'q> = sqlx::query::Query<'q, Sqlite, sqlx::sqlite::SqliteArguments>;
pub(super) type Tx = Transaction<'static, Sqlite>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReceiptKind {
    #[default]
    Sent,
    Answered,
    Followed,
}

impl ReceiptKind {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Answered => "answered",
            Self::Followed => "followed",
        }
    }
}

/// A receipt as stored in the journal. Text from sources is not sanitized, and stays text because the hash covers its
/// bytes. As JSON it is the export format: the label, the hashed fields and the hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "format", rename = "placet-receipt/v1", rename_all(serialize = "camelCase"))]
pub struct Receipt {
    /// The number, counted from 1 without gaps.
    pub seq: i64,
    pub kind: ReceiptKind,
    /// Milliseconds since 1970.
    pub at: i64,
    pub submission: String,
    pub source: String,
    pub action: String,
    pub client: String,
    /// The configured name, or the one that the source reports.
    pub reviewer: Option<String>,
    /// The login name of the operating system user.
    pub login: Option<String>,
    pub tool: Option<String>,
    /// `approve`, `approve_with_edits`, `reject` or `retry`.
    pub decision: Option<String>,
    /// The comment, reason or guidance.
    pub said: Option<String>,
    /// The digest of the content that was decided.
    pub digest: Option<String>,
    /// The digest of the content with the edits applied.
    pub effective: Option<String>,
    pub terms: Option<String>,
    /// The part of exactly this content that was shown: `never`, `opened` or `in_full`.
    pub seen: Option<String>,
    /// The time it was shown to an active user, in milliseconds.
    pub dwell_ms: Option<i64>,
    /// The outcome as JSON.
    pub outcome: Option<String>,
    pub title: Option<String>,
    /// `None` if the action stands alone.
    pub batch: Option<String>,
    /// The risk that the review sheet showed.
    pub risk: Option<String>,
    /// The id of the run that sent it.
    pub owner: Option<String>,
    /// The number of actions in the batches of the submission that stayed undecided.
    pub left_pending: Option<i64>,
    /// `screen`, `plain` or `shell`.
    pub via: Option<String>,
    /// `sha256:` and 64 hex digits.
    pub hash: String,
}

impl Receipt {
    pub const FORMAT: &str = "placet-receipt/v1";

    /// Returns the hashed fields in order, with their column names.
    pub fn fields(&self) -> [(&'static str, Field<'_>); 24] {
        use Field::{Number, Text};
        [
            ("seq", Number(Some(self.seq))),
            ("kind", Text(Some(self.kind.word()))),
            ("at", Number(Some(self.at))),
            ("submission", Text(Some(&self.submission))),
            ("source", Text(Some(&self.source))),
            ("action", Text(Some(&self.action))),
            ("client", Text(Some(&self.client))),
            ("reviewer", Text(self.reviewer.as_deref())),
            ("login", Text(self.login.as_deref())),
            ("tool", Text(self.tool.as_deref())),
            ("decision", Text(self.decision.as_deref())),
            ("said", Text(self.said.as_deref())),
            ("digest", Text(self.digest.as_deref())),
            ("effective", Text(self.effective.as_deref())),
            ("terms", Text(self.terms.as_deref())),
            ("seen", Text(self.seen.as_deref())),
            ("dwell_ms", Number(self.dwell_ms)),
            ("outcome", Text(self.outcome.as_deref())),
            ("title", Text(self.title.as_deref())),
            ("batch", Text(self.batch.as_deref())),
            ("risk", Text(self.risk.as_deref())),
            ("owner", Text(self.owner.as_deref())),
            ("left_pending", Number(self.left_pending)),
            ("via", Text(self.via.as_deref())),
        ]
    }

    pub fn hash_after(&self, before: Option<&str>) -> String {
        let fields = self.fields().map(|(_, field)| field.text());
        chain::link(Self::FORMAT, fields.iter().map(Option::as_deref), before).to_string()
    }

    fn about(kind: ReceiptKind, submission: &SubmissionId, source: &SourceName, action: &str) -> Self {
        Self {
            kind,
            at: clock::now().as_millis(),
            submission: submission.as_str().to_owned(),
            source: source.as_str().to_owned(),
            action: action.to_owned(),
            client: env!("CARGO_PKG_VERSION").to_owned(),
            ..Self::default()
        }
    }

    fn read(row: &SqliteRow) -> sqlx::Result<Self> {
        let cell = |column: &SqliteColumn| {
            let at = column.ordinal();
            let number = row.try_get::<Option<i64>, _>(at).map(Value::from);
            let value = number.or_else(|_| row.try_get::<Option<String>, _>(at).map(Value::from))?;
            Ok((column.name().to_owned(), value))
        };
        let cells = row.columns().iter().map(cell).collect::<sqlx::Result<Map<_, _>>>()?;
        serde_json::from_value(cells.into()).map_err(|error| sqlx::Error::Decode(error.into()))
    }
}

/// A field of a receipt; `None` if it is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    Number(Option<i64>),
    Text(Option<&'a str>),
}

impl<'a> Field<'a> {
    pub fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Number(number) => number.map(|number| Cow::Owned(number.to_string())),
            Self::Text(text) => text.map(Cow::Borrowed),
        }
    }
}

/// The values that all receipts of a submission share.
pub(super) struct Begun<'a> {
    pub(super) at: i64,
    pub(super) reviewer: Option<&'a str>,
    pub(super) left_pending: i64,
}

impl<'a> Begun<'a> {
    pub(super) fn now(left_pending: u64, reviewer: Option<&'a str>) -> Self {
        let left_pending = i64::try_from(left_pending).unwrap_or(i64::MAX);
        Self { at: clock::now().as_millis(), reviewer, left_pending }
    }
}

impl Journal {
    /// Sets the login and the way of deciding that receipts record.
    #[must_use]
    pub fn signed_by(self, login: Option<&str>, via: Via) -> Self {
        Self { login: login.map(Into::into), via, ..self }
    }

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
                        decision: Some(decision.kind().word().to_owned()),
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
                        via: Some(self.via.word().to_owned()),
                        ..Receipt::about(ReceiptKind::Sent, submission.id(), batch.source(), item.id.as_raw())
                    },
                )
                .await?;
            }
        }
        Ok(())
    }

    /// Appends a receipt of a new status of an action that was approved here; ignores other actions and known statuses.
    pub async fn followed(
        &self,
        key: &ActionKey,
        status: &str,
        error: Option<&str>,
    ) -> Result<(), JournalError> {
        let mut tx = self.begin_write().await?;
        let outcome = shape::write_followed(status, error);
        self.done(followed(&mut tx, key, outcome)).await?;
        self.commit(tx).await
    }

    pub async fn receipts_of(&self, id: &SubmissionId) -> Result<Vec<Receipt>, JournalError> {
        let query = sqlx::query("SELECT * FROM receipt WHERE submission = $1 ORDER BY seq").bind(id.as_str());
        self.done(read(query, self.read())).await
    }

    pub async fn newest_receipt(&self) -> Result<i64, JournalError> {
        let query = sqlx::query_scalar("SELECT COALESCE(MAX(seq), 0) FROM receipt");
        self.done(query.fetch_one(self.read())).await
    }

    pub async fn receipts(&self, seq: i64, limit: u32) -> Result<Vec<Receipt>, JournalError> {
        let query = sqlx::query("SELECT * FROM receipt WHERE seq > $1 ORDER BY seq LIMIT $2");
        self.done(read(query.bind(seq).bind(limit), self.read())).await
    }
}

async fn read(query: Asked<'_>, pool: &SqlitePool) -> sqlx::Result<Vec<Receipt>> {
    query.fetch_all(pool).await?.iter().map(Receipt::read).collect()
}

pub(super) async fn answered(
    tx: &mut Tx,
    submission: &SubmissionId,
    key: &ActionKey,
    outcome: &str,
) -> sqlx::Result<()> {
    let receipt = Receipt::about(ReceiptKind::Answered, submission, &key.source, key.id.as_raw());
    append(tx, Receipt { outcome: Some(outcome.to_owned()), ..receipt }).await
}

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
            if !(kind == ReceiptKind::Followed.word() && known.as_deref() == Some(outcome.as_str())) =>
        {
            let of = SubmissionId::new(submission);
            let receipt = Receipt::about(ReceiptKind::Followed, &of, &key.source, key.id.as_raw());
            append(tx, Receipt { outcome: Some(outcome), ..receipt }).await
        }
        Some(_) | None => Ok(()),
    }
}

/// Chains the receipt to the newest one. The write lock keeps concurrent runs from forking the chain.
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
    let hash = ("hash", Field::Text(Some(&receipt.hash)));
    let fields: Vec<_> = receipt.fields().into_iter().chain([hash]).collect();
    let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    let mut insert = QueryBuilder::new("INSERT INTO receipt (");
    insert.push(names.join(", ")).push(") VALUES (");
    let mut values = insert.separated(", ");
    for (_, field) in fields {
        match field {
            Field::Number(number) => values.push_bind(number),
            Field::Text(text) => values.push_bind(text),
        };
    }
    insert.push(")").build().execute(&mut **tx).await.map(drop)
}

/// Returns how much of exactly this content was shown, and for how many milliseconds.
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
