//! Counts the approvals of an action that several people must approve. Pure.
//!
//! An approval counts for one content under one set of terms. Each person counts once, the proposer never. An approval
//! of another content replaces all earlier ones.

use super::columns::Columns;
use super::{Actor, KeptApproval, StoreError, Stored};
use crate::domain::subject::is_same_subject;
use crate::domain::{self, Digest, Edits, PendingAction, RawJson, Row, Timestamp, Untrusted};
use crate::gate::audit;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Approval {
    /// The edits and the input after them; `None` without edits.
    pub(crate) edited: Option<(RawJson, RawJson)>,
    pub(crate) digest: Digest,
    pub(crate) terms: Digest,
    /// Digest of the tool's policy at this risk, a part of the terms.
    pub(crate) policy: Digest,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Enough(Vec<KeptApproval>),
    More(Vec<KeptApproval>),
    /// This person has approved this content already.
    Again,
}

impl KeptApproval {
    /// Returns an approval without revision and time, which the step sets.
    fn new(approval: &Approval, by: &Actor) -> Self {
        Self {
            revision: 0,
            subject: by.subject.clone(),
            at: Timestamp::default(),
            effective: approval.digest,
            terms: approval.terms,
            policy: approval.policy,
            edits: approval.edited.as_ref().map(|(edits, _)| edits.clone()),
        }
    }

    pub(crate) fn fingerprint(&self) -> String {
        let edits = self.edits.as_ref().map(audit::fingerprint).unwrap_or_default();
        let Self { revision, subject, effective, terms, policy, .. } = self;
        format!("{revision} {subject:?} {} {effective} {terms} {policy} {edits}", self.at.as_millis())
    }
}

/// Counts a permitted approval of an action that needs `needed` of them.
pub(crate) fn count(stored: &Stored, approval: &Approval, by: &Actor, needed: u64) -> Counted {
    let own = |kept: &&KeptApproval| is_same_subject(&kept.subject, &by.subject);
    let mut standing = that_count(stored, approval.digest, approval.terms);
    let gave_it = standing.iter().any(own);
    standing.retain(|kept| !own(kept));
    if gave_it && (standing.len() as u64) + 1 < needed {
        return Counted::Again;
    }
    let mut counted: Vec<KeptApproval> = standing.into_iter().cloned().collect();
    counted.push(KeptApproval::new(approval, by));
    if counted.len() as u64 >= needed { Counted::Enough(counted) } else { Counted::More(counted) }
}

pub(crate) fn are_enough(stored: &Stored, effective: Digest, terms: Digest, needed: u64) -> bool {
    needed <= 1 || that_count(stored, effective, terms).len() as u64 >= needed
}

/// Returns the approvals that count: one per person, none by the proposer.
fn that_count(stored: &Stored, effective: Digest, terms: Digest) -> Vec<&KeptApproval> {
    let mut counted: Vec<&KeptApproval> = Vec::new();
    for kept in &stored.approvals {
        let is_of_this = kept.effective == effective && kept.terms == terms;
        let counts = |other: &str| is_same_subject(other, &kept.subject);
        if is_of_this && !counts(&stored.proposer) && !counted.iter().any(|it| counts(&it.subject)) {
            counted.push(kept);
        }
    }
    counted
}

/// Separators between approvals, and between the fields of one. Neither JSON nor a subject contains these characters.
const APART: [char; 2] = ['\u{1e}', '\u{1f}'];

/// Approvals of the action `a` for lists, unordered: the fields that do not need the payload.
pub(super) const LIGHT_APPROVALS: &str = "(SELECT string_agg(v.revision || '\u{1f}' || v.policy || '\u{1f}' || v.subject, '\u{1e}') \
     FROM approvals v WHERE v.seq = a.seq)";

pub(super) const WHOLE_APPROVALS: &str = "(SELECT string_agg(v.revision || '\u{1f}' || v.policy || '\u{1f}' || v.subject || '\u{1f}' || v.at || '\u{1f}' || \
     v.effective_digest || '\u{1f}' || v.terms || '\u{1f}' || COALESCE('=' || v.edits, ''), '\u{1e}') \
     FROM approvals v WHERE v.seq = a.seq)";

/// Splits a column of [`LIGHT_APPROVALS`] or [`WHOLE_APPROVALS`] into approvals, oldest first.
fn split(text: &str) -> Result<Vec<(u64, Vec<&str>)>, StoreError> {
    let [between, within] = APART;
    let one = |text: &'_ str| -> Option<u64> { text.split(within).next()?.parse().ok() };
    let each = text.split(between).map(|text| Some((one(text)?, text.split(within).skip(1).collect())));
    let mut each: Vec<(u64, Vec<&str>)> = each.collect::<Option<_>>().ok_or(DAMAGED)?;
    each.sort_by_key(|(revision, _)| *revision);
    Ok(each)
}

const DAMAGED: StoreError = StoreError::Corrupt("an approval that is none");

/// Returns the approvers for a list. Approvals under another policy are left out while the action is pending.
pub(super) fn names(
    row: &dyn Columns,
    is_pending: bool,
    policy: impl Fn() -> Digest,
) -> Result<Vec<Untrusted>, StoreError> {
    let Some(text) = row.maybe_text("approvals")? else { return Ok(Vec::new()) };
    let policy = policy().to_string();
    let name = |(_, fields): (u64, Vec<&str>)| match fields.as_slice() {
        [of, subject, ..] => (!is_pending || *of == policy).then(|| Untrusted::from(*subject)),
        _ => None,
    };
    Ok(split(&text)?.into_iter().filter_map(name).collect())
}

pub(super) fn kept(row: &dyn Columns) -> Result<Vec<KeptApproval>, StoreError> {
    let Some(text) = row.maybe_text("approvals")? else { return Ok(Vec::new()) };
    split(&text)?.into_iter().map(|(revision, it)| one(revision, &it).ok_or(DAMAGED)).collect()
}

fn one(revision: u64, fields: &[&str]) -> Option<KeptApproval> {
    let [policy, subject, at, effective, terms, edits] = fields else { return None };
    // A missing value differs from an empty one.
    let edits = match edits.strip_prefix('=') {
        Some(edits) => Some(RawJson::parse(edits).ok()?),
        None if edits.is_empty() => None,
        None => return None,
    };
    Some(KeptApproval {
        revision,
        subject: (*subject).to_owned(),
        at: Timestamp::from_millis(at.parse().ok()?),
        effective: Digest::parse(effective)?,
        terms: Digest::parse(terms)?,
        policy: Digest::parse(policy)?,
        edits,
    })
}

/// Returns the approvals of a detail view: those that count while the action is pending, all once it is settled.
pub(super) fn standing(kept: Vec<KeptApproval>, action: &PendingAction) -> Vec<domain::Approval> {
    let stands = |kept: &KeptApproval| !action.row.status.is_pending() || Some(kept.terms) == action.terms;
    let approval = |kept: KeptApproval| domain::Approval {
        by: Untrusted::from(kept.subject),
        at: kept.at,
        effective: kept.effective,
        edits: kept.edits.and_then(|edits| Edits::new(edits).ok()),
    };
    kept.into_iter().filter(stands).map(approval).collect()
}

/// Returns the approvals of a list row. `None` if one person is enough, or if it was settled without approvals.
pub(super) fn told(row: &Row, by: Vec<Untrusted>, needed: u64) -> Option<domain::Approvals> {
    let is_told = if row.status.is_pending() { needed > 1 } else { !by.is_empty() };
    is_told.then(|| domain::Approvals { needed: needed.max(by.len() as u64), by })
}
