//! Verifies the receipts and compares them with the recorded submissions, to find later changes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;

use super::receipt::{Receipt, ReceiptKind};
use super::shape;
use super::state::{Journal, JournalError};
use super::submission_record::{Sent, SubmissionRecord};
use crate::domain::chain::{Chain, Misfit};
use crate::domain::{BatchKey, SubmissionId};

const PAGE: u32 = 1_000;

/// The newest receipt. A saved copy proves that earlier receipts are unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Head {
    pub seq: i64,
    pub hash: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedHead {
    Head(Head),
    Hash(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub receipts: u64,
    pub decisions: u64,
    /// `None` if there are no receipts.
    pub head: Option<Head>,
    pub wrong: Option<Wrong>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// `None` if it is not about one receipt.
    pub seq: Option<i64>,
    pub what: String,
}

struct ReceiptContents {
    sent: Receipt,
    answered: Option<Receipt>,
}

type Rows = HashMap<(String, String, String), ReceiptContents>;

impl Journal {
    #[cfg(test)]
    pub async fn verify(&self, kept: &[SavedHead]) -> Result<Checked, JournalError> {
        self.verify_counting(kept, &AtomicU64::new(0)).await
    }

    /// Verifies everything and counts each receipt in `read`, for progress. Other runs may write meanwhile.
    pub async fn verify_counting(
        &self,
        kept: &[SavedHead],
        read: &AtomicU64,
    ) -> Result<Checked, JournalError> {
        let mut checked = Checked::default();
        let mut told = Rows::new();
        let mut unmet: Vec<&SavedHead> = kept.iter().collect();
        let mut chain = Chain::default();
        // Submissions begun from now on are not compared, because their receipts may come after the last page read.
        let sent = self.sent_ids().await?;
        loop {
            let after = checked.head.as_ref().map_or(0, |head| head.seq);
            let page = self.receipts(after, PAGE).await?;
            if page.is_empty() {
                break;
            }
            for receipt in page {
                let wrong = misfit(&mut chain, &receipt);
                checked.wrong = checked.wrong.or(wrong);
                unmet.retain(|kept| !is(kept, &receipt));
                checked.receipts += 1;
                read.fetch_add(1, Ordering::Relaxed);
                checked.head = Some(Head { seq: receipt.seq, hash: receipt.hash.clone() });
                keep(&mut told, receipt);
            }
        }
        if let Some(kept) = unmet.first().filter(|_| checked.wrong.is_none()) {
            checked.wrong = Some(cut(kept));
        }
        for id in &sent {
            self.compare(id, &mut told, &mut checked).await?;
        }
        let mut left: Vec<Receipt> = told.into_values().map(|told| told.sent).collect();
        left.sort_by_key(|receipt| receipt.seq);
        for receipt in left {
            if checked.wrong.is_some() {
                break;
            }
            // A submission begun during the verification has receipts that were read, but was not compared.
            let id = SubmissionId::new(receipt.submission);
            if sent.contains(&id) || self.past(&id).await?.is_none() {
                let what = "the decision that it is about is gone from the journal".to_owned();
                checked.wrong = Some(Wrong { seq: Some(receipt.seq), what });
            }
        }
        Ok(checked)
    }

    async fn sent_ids(&self) -> Result<Vec<SubmissionId>, JournalError> {
        let sql = "SELECT id FROM submission WHERE state <> 'held' ORDER BY begun_at, id";
        let ids = self.done(sqlx::query_scalar::<_, String>(sql).fetch_all(self.read())).await?;
        Ok(ids.into_iter().map(SubmissionId::new).collect())
    }

    async fn compare(
        &self,
        id: &SubmissionId,
        told: &mut Rows,
        checked: &mut Checked,
    ) -> Result<(), JournalError> {
        let Some(past) = self.past(id).await? else { return Ok(()) };
        for sent in &past.items {
            let of = (
                id.as_str().to_owned(),
                sent.key.source.as_str().to_owned(),
                sent.key.id.as_raw().to_owned(),
            );
            let Some(ReceiptContents { sent: receipt, answered }) = told.remove(&of) else {
                let what = format!("a decision of the submission {} has no receipt", id.as_str());
                checked.wrong.get_or_insert(Wrong { seq: None, what });
                continue;
            };
            checked.decisions += 1;
            let same = receipt.decision.as_deref() == Some(sent.decision.kind().word())
                && receipt.said.as_deref() == sent.decision.said()
                && receipt.tool.as_deref() == Some(sent.tool.as_raw())
                && receipt.digest == Some(sent.digest.to_string())
                && receipt.effective == Some(sent.effective.to_string())
                && receipt.terms == sent.terms.map(|terms| terms.to_string())
                && receipt.reviewer == past.reviewer
                && is_of(&receipt, &past, sent);
            let outcome = sent.outcome.as_ref().map(shape::write_outcome);
            let answer = answered.as_ref().and_then(|answered| answered.outcome.clone());
            // An outcome recorded during the verification may be newer than the receipts that were read.
            let known = answer == outcome || self.is_newer(&of, answered.as_ref()).await?;
            let seq = match (same, known) {
                (true, true) => continue,
                (false, _) => receipt.seq,
                (true, false) => answered.map_or(receipt.seq, |answered| answered.seq),
            };
            let what = "the journal says otherwise of the decision that it is about".to_owned();
            checked.wrong.get_or_insert(Wrong { seq: Some(seq), what });
        }
        Ok(())
    }

    async fn is_newer(
        &self,
        (submission, source, action): &(String, String, String),
        read: Option<&Receipt>,
    ) -> Result<bool, JournalError> {
        let sql =
            "SELECT EXISTS (SELECT 1 FROM receipt WHERE kind = 'answered' AND submission = $1 AND source = $2
                   AND action = $3 AND seq > $4)";
        let query = sqlx::query_scalar(sql).bind(submission).bind(source).bind(action);
        self.done(query.bind(read.map_or(0, |read| read.seq)).fetch_one(self.read())).await
    }
}

fn misfit(chain: &mut Chain, receipt: &Receipt) -> Option<Wrong> {
    let number = u64::try_from(receipt.seq).unwrap_or_default();
    let Misfit { missing, changed } = chain.take(number, &receipt.hash, |before| receipt.hash_after(before));
    if let Some(expected) = missing {
        let what = format!("it is missing; the next one there is {}", receipt.seq);
        return Some(Wrong { seq: i64::try_from(expected).ok(), what });
    }
    let what = "it is not what it was when it was written, or the one before it is not".to_owned();
    changed.then_some(Wrong { seq: Some(receipt.seq), what })
}

fn is_of(receipt: &Receipt, past: &SubmissionRecord, sent: &Sent) -> bool {
    let batch = match &sent.batch {
        BatchKey::Batch(_, batch) => Some(batch.as_raw()),
        BatchKey::Alone(_) => None,
    };
    receipt.title.as_deref() == Some(sent.title.as_raw())
        && receipt.batch.as_deref() == batch
        && receipt.risk.as_deref() == Some(sent.risk.as_raw())
        && receipt.at == past.begun_at.as_millis()
        && receipt.left_pending == i64::try_from(past.left_pending).ok()
}

fn is(kept: &SavedHead, receipt: &Receipt) -> bool {
    match kept {
        SavedHead::Head(head) => head.seq == receipt.seq && head.hash == receipt.hash,
        SavedHead::Hash(hash) => *hash == receipt.hash,
    }
}

fn cut(kept: &SavedHead) -> Wrong {
    match kept {
        SavedHead::Head(head) => Wrong {
            seq: Some(head.seq),
            what: "the head that was kept of it is another: receipts were cut off or written anew".to_owned(),
        },
        SavedHead::Hash(_) => Wrong {
            seq: None,
            what: "no receipt is the head that was kept: receipts were cut off or written anew".to_owned(),
        },
    }
}

fn keep(told: &mut Rows, receipt: Receipt) {
    let of = (receipt.submission.clone(), receipt.source.clone(), receipt.action.clone());
    match receipt.kind {
        ReceiptKind::Sent => drop(told.insert(of, ReceiptContents { sent: receipt, answered: None })),
        ReceiptKind::Answered => {
            if let Some(told) = told.get_mut(&of) {
                told.answered = Some(receipt);
            }
        }
        ReceiptKind::Followed => {}
    }
}
