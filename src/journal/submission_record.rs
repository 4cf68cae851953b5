//! Records submissions before they are sent, and their outcomes.

use super::receipt::{Receipt, ReceiptKind};
use super::shape::LastSeen;
use super::state::{Journal, JournalError};
use super::{receipt, shape};
use crate::clock;
use crate::domain::{
    ActionId, ActionKey, BatchKey, Decision, Digest, Outcome, PendingAction, RawJson, Report, ReportLine,
    Risk, SourceName, Status, Submission, SubmissionId, Timestamp, Untrusted,
};

/// Limits prefix searches: enough ids to show that a prefix is ambiguous.
const BEGINNING: i64 = 20;

/// The reason of an outcome that is unknown because the run ended first.
const NO_ANSWER: &str = "placet ended before there was an answer";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionRecord {
    pub id: SubmissionId,
    pub reviewer: Option<String>,
    pub begun_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    pub left_pending: u64,
    /// In the order they were sent.
    pub items: Vec<Sent>,
}

/// A decision that was sent, or was about to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub key: ActionKey,
    pub batch: BatchKey,
    pub tool: Untrusted,
    pub title: Untrusted,
    pub decision: Decision,
    pub digest: Digest,
    pub effective: Digest,
    pub terms: Option<Digest>,
    pub risk: Risk,
    /// The proposed input, while the outcome is unknown.
    pub input: Option<RawJson>,
    /// `None` if it is unknown whether it was sent.
    pub outcome: Option<Outcome>,
    /// The status in the newest receipt; `None` if none followed.
    pub followed: Option<LastSeen>,
}

impl Sent {
    pub fn receipt<'a>(&self, receipts: &'a [Receipt]) -> Option<&'a Receipt> {
        let (source, action) = (self.key.source.as_str(), self.key.id.as_raw());
        let is_sent = |it: &&Receipt| it.kind == ReceiptKind::Sent;
        receipts.iter().filter(is_sent).rfind(|it| it.source == source && it.action == action)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Some outcomes are unknown or not final; reading the actions again may tell more.
    Open,
    Done,
}

type OpenRow = (String, String, String);
const OPEN: &str =
    "SELECT id, owner, state FROM submission WHERE state IN ('sent', 'open') ORDER BY begun_at, id";

type PastRow = (String, Option<String>, i64, Option<i64>, i64);
type ItemRow = (
    String,
    Option<String>,
    String,
    String,
    String,
    String,
    String,
    String,
    Option<String>,
    Option<String>,
    String,
    Option<String>,
    Option<String>,
);

const ITEMS: &str =
    "SELECT source, batch, action, tool, title, decision, digest, effective, outcome, terms, risk, input,
        (SELECT r.outcome FROM receipt r WHERE r.source = item.source AND r.action = item.action
            AND r.submission = item.submission AND r.kind = 'followed' ORDER BY r.seq DESC LIMIT 1)
    FROM item WHERE submission = $1 AND ($2 IS NULL OR (source = $2 AND action = $3)) ORDER BY nth";

impl Sent {
    /// Returns whether an approved action may have a final status that the journal lacks.
    pub fn may_have_ended(&self) -> bool {
        let ended = |seen: &LastSeen| seen.status.is_final() && seen.status != Status::Unknown;
        self.outcome == Some(Outcome::Approved) && !self.followed.as_ref().is_some_and(ended)
    }

    /// Returns the outcome; without an answer it is unknown.
    pub fn answer(&self) -> Outcome {
        self.outcome.clone().unwrap_or_else(|| Outcome::Unknown { why: NO_ANSWER.into() })
    }

    pub fn outcome_word(&self) -> &'static str {
        self.outcome.as_ref().map_or("unknown", Outcome::word)
    }

    /// Returns whether it is unknown if the decision was recorded.
    pub const fn is_lost(&self) -> bool {
        matches!(self.outcome, None | Some(Outcome::Unknown { .. }))
    }

    pub fn is_open(&self) -> bool {
        self.outcome.as_ref().is_none_or(Outcome::is_open)
    }
}

impl SubmissionRecord {
    /// Returns the report, in which decisions without an outcome are unknown.
    pub fn report(&self) -> Report {
        let line = |sent: &Sent| ReportLine {
            key: sent.key.clone(),
            batch: sent.batch.clone(),
            tool: sent.tool.clone(),
            title: sent.title.clone(),
            decision: sent.decision.kind(),
            outcome: sent.answer(),
        };
        Report {
            id: self.id.clone(),
            lines: self.items.iter().map(line).collect(),
            left_pending: self.left_pending,
        }
    }
}

impl Journal {
    /// Records a submission with its receipts and replaces the held one, or fails if it was begun before. Nothing may
    /// be sent before this returns.
    pub async fn begin(
        &self,
        submission: &Submission,
        left_pending: u64,
        reviewer: Option<&str>,
    ) -> Result<(), JournalError> {
        let mut tx = self.begin_write().await?;
        let begun = receipt::Begun::now(left_pending, reviewer);
        let written = async {
            self.let_go(&mut tx, submission.id()).await?;
            self.put(&mut tx, submission, &begun, "sent").await?;
            self.sign(&mut tx, submission, &begun).await
        };
        self.done(written).await?;
        self.commit(tx).await
    }

    /// Records outcomes, with receipts of those that changed.
    pub async fn note(
        &self,
        id: &SubmissionId,
        outcomes: &[(ActionKey, Outcome)],
    ) -> Result<(), JournalError> {
        self.note_ended(id, outcomes, &[]).await
    }

    /// Like [`Self::note`], but in the same transaction also records how actions stand that ran before the answer came.
    pub async fn note_ended(
        &self,
        id: &SubmissionId,
        outcomes: &[(ActionKey, Outcome)],
        ended: &[(ActionKey, PendingAction)],
    ) -> Result<(), JournalError> {
        let mut tx = self.begin_write().await?;
        let written = async {
            for (key, outcome) in outcomes {
                note(&mut tx, id, key, outcome).await?;
            }
            for (key, action) in ended {
                let error = action.error.as_ref().map(Untrusted::as_raw);
                let outcome = shape::write_followed(action.row.status.as_raw(), error);
                receipt::followed(&mut tx, key, outcome).await?;
            }
            sqlx::Result::Ok(())
        };
        self.done(written).await?;
        self.commit(tx).await
    }

    /// Ends a submission when all outcomes that can be known for now are recorded.
    pub async fn finish(&self, id: &SubmissionId, state: State) -> Result<(), JournalError> {
        let word = match state {
            State::Open => "open",
            State::Done => "done",
        };
        let query = sqlx::query("UPDATE submission SET state = $1, finished_at = $2 WHERE id = $3");
        let query = query.bind(word).bind(clock::now().as_millis()).bind(id.as_str());
        self.done(query.execute(&self.database.write)).await.map(drop)
    }

    /// Takes over and returns, oldest first, the unsettled submissions of ended runs, and this run's own open ones.
    /// Deletes those that ended runs held: they were never sent, and their decisions are still in the draft.
    pub async fn unsettled(&self) -> Result<Vec<SubmissionRecord>, JournalError> {
        let mut tx = self.begin_write().await?;
        self.done(self.sweep_held(&mut tx)).await?;
        let all = self.done(sqlx::query_as::<_, OpenRow>(OPEN).fetch_all(&mut *tx)).await?;
        let mut ours = Vec::new();
        for (id, owner, state) in all {
            let left_open = owner == self.owner.id && state == "open";
            if left_open || !self.owner.is_alive(&owner) {
                let query = sqlx::query("UPDATE submission SET owner = $1, state = 'open' WHERE id = $2");
                self.done(query.bind(&self.owner.id).bind(&id).execute(&mut *tx)).await?;
                ours.push(SubmissionId::new(id));
            }
        }
        self.commit(tx).await?;
        let mut unsettled = Vec::new();
        for id in ours {
            unsettled.extend(self.past(&id).await?);
        }
        Ok(unsettled)
    }

    /// Gives back the submissions from [`Self::unsettled`], so that other runs can take them over.
    pub async fn release(&self) -> Result<(), JournalError> {
        let query = sqlx::query("UPDATE submission SET owner = 'nobody' WHERE owner = $1 AND state = 'open'");
        self.done(query.bind(&self.owner.id).execute(&self.database.write)).await.map(drop)
    }

    /// Returns the submissions with open outcomes, oldest first, whichever run owns them, except those being sent.
    pub async fn open_ones(&self) -> Result<Vec<SubmissionRecord>, JournalError> {
        let all = self.done(sqlx::query_as::<_, OpenRow>(OPEN).fetch_all(self.read())).await?;
        let mut open = Vec::new();
        for (id, owner, state) in all {
            if state == "open" || !self.owner.is_alive(&owner) {
                open.extend(self.past(&SubmissionId::new(id)).await?);
            }
        }
        Ok(open)
    }

    /// Returns a submission, or `None` if it is unknown or only held.
    pub async fn past(&self, id: &SubmissionId) -> Result<Option<SubmissionRecord>, JournalError> {
        let sql = "SELECT id, reviewer, begun_at, finished_at, left_pending FROM submission
                   WHERE id = $1 AND state <> 'held'";
        let row = self
            .done(sqlx::query_as::<_, PastRow>(sql).bind(id.as_str()).fetch_optional(self.read()))
            .await?;
        match row {
            Some(row) => self.with_items(row).await.map(Some),
            None => Ok(None),
        }
    }

    pub async fn log(&self, limit: u32) -> Result<Vec<SubmissionRecord>, JournalError> {
        self.log_page(0, limit).await
    }

    pub async fn log_page(&self, skip: u32, limit: u32) -> Result<Vec<SubmissionRecord>, JournalError> {
        let sql = "SELECT id, reviewer, begun_at, finished_at, left_pending FROM submission
                   WHERE state <> 'held' ORDER BY begun_at DESC, id DESC LIMIT $1 OFFSET $2";
        let rows = sqlx::query_as::<_, PastRow>(sql).bind(limit).bind(skip).fetch_all(self.read());
        let rows = self.done(rows).await?;
        let mut log = Vec::new();
        for row in rows {
            log.push(self.with_items(row).await?);
        }
        Ok(log)
    }

    /// Returns the newest submission with a decision on this action, sent or about to be.
    pub async fn newest_about(&self, key: &ActionKey) -> Result<Option<SubmissionId>, JournalError> {
        let sql = "SELECT s.id FROM item i JOIN submission s ON s.id = i.submission WHERE i.source = $1 AND i.action = $2
                   AND s.state <> 'held' ORDER BY s.begun_at DESC, s.id DESC LIMIT 1";
        let query = sqlx::query_scalar::<_, String>(sql).bind(key.source.as_str()).bind(key.id.as_raw());
        let id = self.done(query.fetch_optional(self.read())).await?;
        Ok(id.map(SubmissionId::new))
    }

    /// Returns actions with this id prefix that have a decision, up to `BEGINNING`.
    pub async fn ids_beginning(
        &self,
        source: &SourceName,
        prefix: &str,
    ) -> Result<Vec<ActionId>, JournalError> {
        let sql = "SELECT DISTINCT i.action FROM item i JOIN submission s ON s.id = i.submission WHERE i.source = $1
                   AND substr(i.action, 1, length($2)) = $2 AND s.state <> 'held' ORDER BY 1 LIMIT $3";
        let query = sqlx::query_scalar::<_, String>(sql).bind(source.as_str()).bind(prefix).bind(BEGINNING);
        let ids = self.done(query.fetch_all(self.read())).await?;
        Ok(ids.into_iter().map(ActionId::new).collect())
    }

    pub async fn submissions_beginning(&self, prefix: &str) -> Result<Vec<SubmissionId>, JournalError> {
        let sql = "SELECT id FROM submission WHERE substr(id, 1, length($1)) = $1 AND state <> 'held' ORDER BY 1 LIMIT $2";
        let query = sqlx::query_scalar::<_, String>(sql).bind(prefix).bind(BEGINNING);
        let ids = self.done(query.fetch_all(self.read())).await?;
        Ok(ids.into_iter().map(SubmissionId::new).collect())
    }

    /// Returns all decisions on an action, oldest first, with time and reviewer.
    pub async fn about(
        &self,
        key: &ActionKey,
    ) -> Result<Vec<(Timestamp, Option<String>, Sent)>, JournalError> {
        let sql = "SELECT s.begun_at, s.reviewer, s.id FROM item i JOIN submission s ON s.id = i.submission
                   WHERE i.source = $1 AND i.action = $2 AND s.state <> 'held' ORDER BY s.begun_at, s.id";
        let query = sqlx::query_as::<_, (i64, Option<String>, String)>(sql);
        let query = query.bind(key.source.as_str()).bind(key.id.as_raw());
        let mut all = Vec::new();
        for (at, reviewer, id) in self.done(query.fetch_all(self.read())).await? {
            let sent = self.items(&id, Some(key)).await?;
            all.extend(sent.into_iter().map(|sent| (Timestamp::from_millis(at), reviewer.clone(), sent)));
        }
        Ok(all)
    }

    async fn items(&self, id: &str, only: Option<&ActionKey>) -> Result<Vec<Sent>, JournalError> {
        let query = sqlx::query_as::<_, ItemRow>(ITEMS).bind(id);
        let query = query.bind(only.map(|key| key.source.as_str())).bind(only.map(|key| key.id.as_raw()));
        let rows = self.done(query.fetch_all(self.read())).await?;
        rows.into_iter().map(|row| self.sent(row)).collect()
    }

    async fn with_items(&self, row: PastRow) -> Result<SubmissionRecord, JournalError> {
        let (id, reviewer, begun_at, finished_at, left_pending) = row;
        let items = self.items(&id, None).await?;
        Ok(SubmissionRecord {
            id: SubmissionId::new(id),
            reviewer,
            begun_at: Timestamp::from_millis(begun_at),
            finished_at: finished_at.map(Timestamp::from_millis),
            left_pending: u64::try_from(left_pending).unwrap_or_default(),
            items,
        })
    }

    fn sent(&self, row: ItemRow) -> Result<Sent, JournalError> {
        let (
            source,
            batch,
            action,
            tool,
            title,
            decision,
            digest,
            effective,
            outcome,
            terms,
            risk,
            input,
            followed,
        ) = row;
        let key = shape::key(source, action);
        let read_outcome =
            |text: String| shape::read_outcome(&text).ok_or_else(|| self.damaged("an outcome is unreadable"));
        Ok(Sent {
            batch: shape::batch_key(&key, batch.as_deref()),
            key,
            tool: Untrusted::from(tool),
            title: Untrusted::from(title),
            decision: shape::read_decision(&decision)
                .ok_or_else(|| self.damaged("a sent decision is unreadable"))?,
            digest: self.digest(&digest)?,
            effective: self.digest(&effective)?,
            terms: terms.map(|terms| self.digest(&terms)).transpose()?,
            risk: Risk::parse(&risk),
            input: input.and_then(|input| RawJson::parse(input).ok()),
            outcome: outcome.map(read_outcome).transpose()?,
            followed: followed.and_then(|text| shape::read_followed(&text)),
        })
    }
}

async fn note(
    tx: &mut receipt::Tx,
    id: &SubmissionId,
    key: &ActionKey,
    outcome: &Outcome,
) -> sqlx::Result<()> {
    let sql = "UPDATE item SET outcome = $1, input = CASE WHEN $5 THEN input END
        WHERE submission = $2 AND source = $3 AND action = $4 AND outcome IS NOT $1";
    let lost = matches!(outcome, Outcome::Unknown { .. });
    let outcome = shape::write_outcome(outcome);
    let query = sqlx::query(sql).bind(&outcome).bind(id.as_str());
    let query = query.bind(key.source.as_str()).bind(key.id.as_raw()).bind(lost);
    if query.execute(&mut **tx).await?.rows_affected() > 0 {
        receipt::answered(tx, id, key, &outcome).await?;
    }
    Ok(())
}
