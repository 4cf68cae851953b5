//! The frozen form of a draft: the only thing a source ever gets.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::{
    ActionId, ActionKey, BatchId, BatchKey, Capabilities, Decision, DecisionKind, Digest, EditError,
};
use super::{PendingAction, ReasonRule, SourceName, Staged, Timestamp, Untrusted, merge};

/// Ours, and random: it names a submission in the journal and makes idempotency keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubmissionId(String);

impl SubmissionId {
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SubmissionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Decisions that are complete and bound to content. Only [`freeze`] makes one, so a source cannot be handed anything
/// that was not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    id: SubmissionId,
    batches: Vec<SubmissionBatch>,
}

/// What one request to a source carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionBatch {
    source: SourceName,
    batch: Option<BatchId>,
    items: Vec<Item>,
}

/// One decision, bound to the bytes it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: ActionId,
    pub tool: Untrusted,
    pub title: Untrusted,
    pub decision: Decision,
    /// Of the proposed input, computed here.
    pub digest: Digest,
    /// Of what will run: the input with the edits merged.
    pub effective: Digest,
    /// The source's label for everything else, as it was on the review sheet.
    pub terms: Option<Digest>,
    /// It could not be read: the digests are of the bytes as they came, and mean nothing to the source.
    pub unreadable: bool,
}

/// Why a draft cannot be sent. Nothing was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("nothing is decided yet")]
    Empty,
    #[error(
        "an action was not loaded, so its content cannot be bound to the decision; open the review again"
    )]
    NotLoaded(ActionKey),
    #[error(
        "an action changed since you looked at it: its input, or its expiry, risk, effect, preview or executor; look \
         again and decide again"
    )]
    ChangedSinceSeen(ActionKey),
    #[error("an action is no longer pending")]
    NotPending(ActionKey),
    #[error("an action expired: the time to decide it is over")]
    Expired(ActionKey),
    #[error("this source does not let you decide; its token has no `decide` scope")]
    ReadOnly(ActionKey),
    #[error("this action cannot be read, so nobody can know what approving it would do; it can be rejected")]
    Unreadable(ActionKey),
    #[error("this source cannot apply edits")]
    EditsUnsupported(ActionKey),
    #[error("this source asks for a reason with every rejection")]
    ReasonRequired(ActionKey),
    #[error("this source cannot ask the agent to try again")]
    RetryUnsupported(ActionKey),
    #[error("the edits do not fit the proposed input: {1}")]
    BadEdits(ActionKey, EditError),
}

impl Refusal {
    /// The action it is about.
    pub fn key(&self) -> Option<&ActionKey> {
        match self {
            Self::Empty => None,
            Self::NotLoaded(key)
            | Self::ChangedSinceSeen(key)
            | Self::NotPending(key)
            | Self::Expired(key)
            | Self::ReadOnly(key)
            | Self::Unreadable(key)
            | Self::EditsUnsupported(key)
            | Self::ReasonRequired(key)
            | Self::RetryUnsupported(key)
            | Self::BadEdits(key, _) => Some(key),
        }
    }
}

impl Submission {
    pub fn id(&self) -> &SubmissionId {
        &self.id
    }

    pub fn batches(&self) -> &[SubmissionBatch] {
        &self.batches
    }

    /// Decisions in all batches.
    pub fn len(&self) -> usize {
        self.batches.iter().map(|batch| batch.items.len()).sum()
    }

    /// Never true: an empty draft does not freeze.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }
}

impl SubmissionBatch {
    pub fn source(&self) -> &SourceName {
        &self.source
    }

    /// `None` for an action that stands alone.
    pub fn batch(&self) -> Option<&BatchId> {
        self.batch.as_ref()
    }

    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The batch as the inbox knows it.
    pub fn key(&self) -> Option<BatchKey> {
        match (&self.batch, self.items.first()) {
            (Some(batch), _) => Some(BatchKey::Batch(self.source.clone(), batch.clone())),
            (None, Some(item)) => {
                Some(BatchKey::Alone(ActionKey { source: self.source.clone(), id: item.id.clone() }))
            }
            (None, None) => None,
        }
    }
}

/// Turns staged decisions into a submission, or says why not. Only what is staged is in it: undecided stays pending.
///
/// `loaded` are the actions in full, read for this very purpose; every decision is bound to a digest computed from them.
/// An action whose content or terms differ from what was on screen when it was staged is refused, and so is one that has
/// expired by `now`.
pub fn freeze<'a>(
    id: SubmissionId,
    staged: impl IntoIterator<Item = (&'a ActionKey, &'a Staged)>,
    loaded: &HashMap<ActionKey, PendingAction>,
    capabilities: impl Fn(&ActionKey) -> Capabilities,
    now: Timestamp,
) -> Result<Submission, Refusal> {
    let mut batches: BTreeMap<BatchKey, SubmissionBatch> = BTreeMap::new();
    for (key, staged) in staged {
        let action = loaded.get(key).ok_or_else(|| Refusal::NotLoaded(key.clone()))?;
        let item = freeze_one(key, staged, action, capabilities(key), now)?;
        let batch = batches.entry(staged.batch.clone()).or_insert_with(|| SubmissionBatch {
            source: key.source.clone(),
            batch: action.row.batch.clone(),
            items: Vec::new(),
        });
        batch.items.push(item);
    }
    if batches.is_empty() {
        return Err(Refusal::Empty);
    }
    let mut batches: Vec<_> = batches.into_values().collect();
    for batch in &mut batches {
        batch.items.sort_by(|a, b| a.id.cmp(&b.id));
    }
    Ok(Submission { id, batches })
}

fn freeze_one(
    key: &ActionKey,
    staged: &Staged,
    action: &PendingAction,
    can: Capabilities,
    now: Timestamp,
) -> Result<Item, Refusal> {
    let digest = action.digest();
    let refuse = |refusal: fn(ActionKey) -> Refusal| Err(refusal(key.clone()));
    match &staged.decision {
        _ if !can.can_decide() => return refuse(Refusal::ReadOnly),
        _ if !action.row.status.is_pending() => return refuse(Refusal::NotPending),
        _ if action.row.has_expired(now) => return refuse(Refusal::Expired),
        _ if differs(staged.digest, Some(digest)) || differs(staged.terms, action.terms) => {
            return refuse(Refusal::ChangedSinceSeen);
        }
        Decision::Approve { .. } | Decision::Retry { .. } if action.row.unreadable.is_some() => {
            return refuse(Refusal::Unreadable);
        }
        Decision::Approve { edits: Some(_), .. } if !can.edit => return refuse(Refusal::EditsUnsupported),
        Decision::Reject { reason: None } if can.reason == ReasonRule::Required => {
            return refuse(Refusal::ReasonRequired);
        }
        Decision::Retry { .. } if !can.retry => return refuse(Refusal::RetryUnsupported),
        Decision::Approve { .. } | Decision::Reject { .. } | Decision::Retry { .. } => {}
    }
    let effective = match staged.decision.edits() {
        None => digest,
        Some(edits) => {
            let merged =
                merge(&action.input, edits).map_err(|error| Refusal::BadEdits(key.clone(), error))?;
            action.digest_of(merged.as_str())
        }
    };
    Ok(Item {
        id: key.id.clone(),
        tool: action.row.tool.clone(),
        title: action.row.title.clone(),
        decision: staged.decision.clone(),
        digest,
        effective,
        terms: action.terms,
        unreadable: action.row.unreadable.is_some(),
    })
}

/// A label that was not on screen, or that the source does not give, says nothing.
fn differs(seen: Option<Digest>, now: Option<Digest>) -> bool {
    seen.zip(now).is_some_and(|(seen, now)| seen != now)
}

impl Item {
    pub fn kind(&self) -> DecisionKind {
        self.decision.kind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Binding, RawJson, Revision, Risk, Row, Status};

    fn pending(expires_at: i64) -> PendingAction {
        let input = RawJson::parse("{}").unwrap();
        let row = Row {
            id: ActionId::new("1"),
            batch: None,
            checkpoint: None,
            workspace: None,
            mission: None,
            session: None,
            run: None,
            agent: None,
            tool: "t".into(),
            title: "T".into(),
            risk: Risk::Low,
            effect: None,
            status: Status::Pending,
            created_at: Timestamp::default(),
            expires_at: Some(Timestamp::from_millis(expires_at)),
            resolved_at: None,
            resolved_by: None,
            size: 2,
            digest: None,
            revision: Revision(1),
            unreadable: None,
        };
        PendingAction {
            row,
            raw: input.clone(),
            input,
            preview: None,
            summary: None,
            requested_by: None,
            tool_call: None,
            user_edits: None,
            effective_input: None,
            reason: None,
            result: None,
            error: None,
            executed_at: None,
            terms: None,
        }
    }

    #[test]
    fn what_expired_is_refused_from_that_moment_on() {
        let pending = pending(1_000);
        let key = ActionKey { source: SourceName::new("gate"), id: ActionId::new("1") };
        let (batch, at) = (BatchKey::Alone(key.clone()), Timestamp::default());
        let staged = Staged { decision: Decision::APPROVE, batch, digest: None, terms: None, at };
        let loaded = HashMap::from([(key.clone(), pending)]);
        let can = Capabilities { binding: Binding::Source, ..Capabilities::READ_ONLY };
        let frozen = |now| {
            freeze(SubmissionId::new("s"), [(&key, &staged)], &loaded, |_| can, Timestamp::from_millis(now))
        };

        assert_eq!(frozen(999).map(|submission| submission.len()), Ok(1));
        assert_eq!(frozen(1_000), Err(Refusal::Expired(key.clone())));
    }
}
