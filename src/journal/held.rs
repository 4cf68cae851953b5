//! Submissions that were confirmed but can still be recalled. Their decisions stay in the draft until they are sent, so
//! a run that ends before that loses nothing.

use sqlx::{Sqlite, Transaction};

use super::receipt::Begun;
use super::shape;
use super::state::{Journal, JournalError};
use crate::domain::{Submission, SubmissionId};

type Tx = Transaction<'static, Sqlite>;

impl Journal {
    /// Stores a submission before it is sent, or fails if the id exists. [`Self::begin`] or [`Self::recall`] follows;
    /// if the run ends before that, the submission was never sent.
    pub async fn hold(
        &self,
        submission: &Submission,
        left_pending: u64,
        reviewer: Option<&str>,
    ) -> Result<(), JournalError> {
        let mut tx = self.begin_write().await?;
        let begun = Begun::now(left_pending, reviewer);
        self.done(self.put(&mut tx, submission, &begun, "held")).await?;
        self.commit(tx).await
    }

    pub async fn recall(&self, id: &SubmissionId) -> Result<(), JournalError> {
        let mut tx = self.begin_write().await?;
        self.done(self.let_go(&mut tx, id)).await?;
        self.commit(tx).await
    }

    pub(super) async fn let_go(&self, tx: &mut Tx, id: &SubmissionId) -> sqlx::Result<()> {
        sqlx::query("DELETE FROM submission WHERE id = $1 AND owner = $2 AND state = 'held'")
            .bind(id.as_str())
            .bind(&self.owner.id)
            .execute(&mut **tx)
            .await
            .map(drop)
    }

    pub(super) async fn sweep_held(&self, tx: &mut Tx) -> sqlx::Result<()> {
        let held: Vec<(String, String)> =
            sqlx::query_as("SELECT id, owner FROM submission WHERE state = 'held'")
                .fetch_all(&mut **tx)
                .await?;
        for (id, _) in held.into_iter().filter(|(_, owner)| !self.owner.is_alive(owner)) {
            sqlx::query("DELETE FROM submission WHERE id = $1").bind(id).execute(&mut **tx).await?;
        }
        Ok(())
    }

    pub(super) async fn put(
        &self,
        tx: &mut Tx,
        submission: &Submission,
        begun: &Begun<'_>,
        state: &str,
    ) -> sqlx::Result<()> {
        sqlx::query(
            "INSERT INTO submission (id, owner, reviewer, state, left_pending, begun_at)
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(submission.id().as_str())
        .bind(&self.owner.id)
        .bind(begun.reviewer)
        .bind(state)
        .bind(begun.left_pending)
        .bind(begun.at)
        .execute(&mut **tx)
        .await?;
        for batch in submission.batches() {
            for item in batch.items() {
                sqlx::query(
                    "INSERT INTO item VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL, $11, $12, $13)",
                )
                .bind(submission.id().as_str())
                .bind(i64::try_from(item.nth).unwrap_or(i64::MAX))
                .bind(batch.source().as_str())
                .bind(batch.batch().map(|batch| batch.as_raw().to_owned()))
                .bind(item.id.as_raw())
                .bind(item.tool.as_raw())
                .bind(item.title.as_raw())
                .bind(shape::write_decision(&item.decision))
                .bind(item.digest.to_string())
                .bind(item.effective.to_string())
                .bind(item.terms.map(|terms| terms.to_string()))
                .bind(item.risk.as_raw())
                .bind((state == "sent").then(|| item.input.as_str()))
                .execute(&mut **tx)
                .await?;
            }
        }
        Ok(())
    }
}
