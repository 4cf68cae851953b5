//! Freezes a draft into a submission, the only thing that a source receives.

use std::collections::HashMap;
use std::fmt;

use super::{ActionId, ActionKey, BatchId, BatchKey, Decision, DecisionKind, Digest, Refusal};
use super::{
    PendingAction, RawJson, ReasonRule, Risk, SourceName, Staged, Timestamp, Together, Untrusted, merge,
};

/// A random id, used in the journal and for idempotency keys.
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

/// Complete decisions bound to content. Only [`freeze`] creates one, so sources receive only checked decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    id: SubmissionId,
    batches: Vec<SubmissionBatch>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionBatch {
    source: SourceName,
    batch: Option<BatchId>,
    /// The checkpoint of all its items.
    checkpoint: Option<Untrusted>,
    items: Vec<Item>,
}

/// A decision bound to the bytes it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: ActionId,
    pub tool: Untrusted,
    pub title: Untrusted,
    pub risk: Risk,
    /// As proposed.
    pub input: RawJson,
    pub decision: Decision,
    /// Digest of the proposed input, computed by placet.
    pub digest: Digest,
    /// Digest of the input with edits, which will run.
    pub effective: Digest,
    /// The source's digest of everything else on the review sheet.
    pub terms: Option<Digest>,
    /// Position in sending order over all batches.
    pub nth: usize,
    /// The action could not be read: the digests are of its original bytes and mean nothing to the source.
    pub unreadable: bool,
}

impl Submission {
    pub fn id(&self) -> &SubmissionId {
        &self.id
    }

    pub fn batches(&self) -> &[SubmissionBatch] {
        &self.batches
    }

    pub fn len(&self) -> usize {
        self.batches.iter().map(|batch| batch.items.len()).sum()
    }
}

impl SubmissionBatch {
    pub fn source(&self) -> &SourceName {
        &self.source
    }

    pub fn batch(&self) -> Option<&BatchId> {
        self.batch.as_ref()
    }

    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The checkpoint of its decisions, if they are of several batches.
    pub fn checkpoint(&self) -> Option<&Untrusted> {
        self.checkpoint.as_ref().filter(|_| self.batch.is_none() && self.items.len() > 1)
    }

    /// Takes in another batch of the same checkpoint. Returns whether it is one.
    pub fn join(&mut self, other: &Self) -> bool {
        let same = self.checkpoint.is_some() && self.checkpoint == other.checkpoint;
        if same {
            self.batch = None;
            self.items.extend_from_slice(&other.items);
        }
        same
    }

    #[must_use]
    pub fn part(&self, places: std::ops::Range<usize>) -> Self {
        Self { items: self.items.get(places).unwrap_or_default().to_vec(), ..self.clone() }
    }

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

/// Turns staged decisions into a submission. Undecided actions stay pending.
///
/// `loaded` are the full actions, read for this purpose. Each decision is bound to a digest computed from them. Refuses
/// actions that expired by `now`, or whose content or terms differ from those on screen when staged. Decisions keep the
/// order of `staged`, and batches that of their first decisions. `pending_in` counts all pending actions of a batch,
/// because some sources settle only whole batches.
pub fn freeze<'a>(
    id: SubmissionId,
    staged: impl IntoIterator<Item = (&'a ActionKey, &'a Staged)>,
    loaded: &HashMap<ActionKey, PendingAction>,
    pending_in: impl Fn(&BatchKey) -> usize,
    now: Timestamp,
) -> Result<Submission, Refusal> {
    let mut batches: Vec<(BatchKey, SubmissionBatch)> = Vec::new();
    let mut places: HashMap<BatchKey, usize> = HashMap::new();
    for (nth, (key, staged)) in staged.into_iter().enumerate() {
        let action = loaded.get(key).ok_or_else(|| Refusal::NotLoaded(key.clone()))?;
        let item = Item { nth, ..freeze_one(key, staged, action, now)? };
        // The current batch: a reload may have changed which actions belong together.
        let of = match &action.row.batch {
            Some(batch) => BatchKey::Batch(key.source.clone(), batch.clone()),
            None => BatchKey::Alone(key.clone()),
        };
        let place = *places.entry(of.clone()).or_insert(batches.len());
        if place == batches.len() {
            let (source, batch) = (key.source.clone(), action.row.batch.clone());
            let checkpoint = action.row.checkpoint.clone();
            batches.push((of, SubmissionBatch { source, batch, checkpoint, items: Vec::new() }));
        }
        if let Some((_, batch)) = batches.get_mut(place) {
            batch.checkpoint.take_if(|checkpoint| action.row.checkpoint.as_ref() != Some(checkpoint));
            batch.items.push(item);
        }
    }
    if batches.is_empty() {
        return Err(Refusal::Empty);
    }
    for (key, batch) in &batches {
        whole(batch, loaded, pending_in(key))?;
    }
    Ok(Submission { id, batches: batches.into_iter().map(|(_, batch)| batch).collect() })
}

/// Sorts decisions into sending order: oldest action first, otherwise unchanged.
pub fn in_sending_order(staged: &mut [(&ActionKey, &Staged)], loaded: &HashMap<ActionKey, PendingAction>) {
    let created = |key: &ActionKey| loaded.get(key).map(|action| action.row.created_at);
    staged.sort_by_key(|(key, _)| created(key));
}

/// Checks sources that settle whole batches: all actions must be decided, and in the same way if the source requires
/// it.
fn whole(
    batch: &SubmissionBatch,
    loaded: &HashMap<ActionKey, PendingAction>,
    pending: usize,
) -> Result<(), Refusal> {
    let key = |item: &Item| ActionKey { source: batch.source.clone(), id: item.id.clone() };
    let together = |item: &Item| loaded.get(&key(item)).map_or(Together::Free, |it| it.row.can.together);
    let Some(bound) = batch.items.iter().find(|item| together(item) != Together::Free) else { return Ok(()) };
    if pending > batch.items.len() {
        return Err(Refusal::PartOfTurn(key(bound), pending - batch.items.len()));
    }
    let same = together(bound) == Together::Same;
    let otherwise = batch.items.iter().find(|item| item.decision != bound.decision);
    match otherwise.filter(|_| same) {
        Some(other) => Err(Refusal::MixedTurn(key(other))),
        None => Ok(()),
    }
}

fn freeze_one(
    key: &ActionKey,
    staged: &Staged,
    action: &PendingAction,
    now: Timestamp,
) -> Result<Item, Refusal> {
    let (can, digest) = (action.row.can, action.digest());
    let refuse = |refusal: fn(ActionKey) -> Refusal| Err(refusal(key.clone()));
    match &staged.decision {
        _ if !action.row.status.is_pending() => return refuse(Refusal::NotPending),
        _ if !can.can_decide() => return refuse(Refusal::ReadOnly),
        _ if action.row.has_expired(now) => return refuse(Refusal::Expired),
        _ if differs(staged.digest, Some(digest)) || differs(staged.terms, action.terms) => {
            return refuse(Refusal::ChangedSinceSeen);
        }
        decision if action.row.unreadable.is_some() && !decision.kind().rejects() => {
            return refuse(Refusal::Unreadable);
        }
        Decision::Approve { edits: Some(_), .. } if !can.edit => return refuse(Refusal::EditsUnsupported),
        Decision::Approve { edits: None, .. } if can.answer => return refuse(Refusal::AnswerRequired),
        Decision::Reject { .. } if !can.reject => return refuse(Refusal::RejectUnsupported),
        Decision::Reject { reason: None } if can.reason == ReasonRule::Required => {
            return refuse(Refusal::ReasonRequired);
        }
        decision if !can.takes(decision.kind()) => {
            return Err(Refusal::Unsupported(key.clone(), decision.kind()));
        }
        _ => {}
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
        risk: action.row.risk.clone(),
        input: action.input.clone(),
        decision: staged.decision.clone(),
        digest,
        effective,
        terms: action.terms,
        nth: 0,
        unreadable: action.row.unreadable.is_some(),
    })
}

/// Compares digests; a missing one does not differ.
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
    use crate::domain::{Binding, Capabilities, Edits, Row};

    fn pending(expires_at: i64, can: Capabilities) -> PendingAction {
        let input = RawJson::parse("{}").unwrap();
        let row = Row {
            expires_at: Some(Timestamp::from_millis(expires_at)),
            can,
            ..Row::new(ActionId::new("1"), "t".into(), "T".into())
        };
        PendingAction::new(row, input.clone(), input)
    }

    #[test]
    fn an_expired_action_is_refused() {
        let can = Capabilities { binding: Binding::Source, ..Capabilities::READ_ONLY };
        let pending = pending(1_000, can);
        let key = ActionKey { source: SourceName::new("gate"), id: ActionId::new("1") };
        let (batch, at) = (BatchKey::Alone(key.clone()), Timestamp::default());
        let staged = Staged { decision: Decision::APPROVE, batch, digest: None, terms: None, at };
        let loaded = HashMap::from([(key.clone(), pending)]);
        let frozen = |now| {
            let now = Timestamp::from_millis(now);
            freeze(SubmissionId::new("s"), [(&key, &staged)], &loaded, |_| 1, now)
        };

        assert_eq!(frozen(999).map(|submission| submission.len()), Ok(1));
        assert_eq!(frozen(1_000), Err(Refusal::Expired(key.clone())));
    }

    /// A turn of three calls with decisions on the first ones.
    fn turn(together: Together, decided: &[Decision]) -> Result<usize, Refusal> {
        let source = SourceName::new("dendrux");
        let batch = BatchId::new("turn");
        let (mut staged, mut loaded) = (Vec::new(), HashMap::new());
        for (n, decision) in decided.iter().enumerate() {
            let key = ActionKey { source: source.clone(), id: ActionId::new(n.to_string()) };
            let mut action = pending(i64::MAX, Capabilities { together, ..Capabilities::PLAIN });
            action.row.batch = Some(batch.clone());
            let at = Timestamp::default();
            let of = BatchKey::Batch(source.clone(), batch.clone());
            staged.push((
                key.clone(),
                Staged { decision: decision.clone(), batch: of, digest: None, terms: None, at },
            ));
            loaded.insert(key, action);
        }
        let staged = staged.iter().map(|(key, staged)| (key, staged));
        let frozen = freeze(SubmissionId::new("s"), staged, &loaded, |_| 3, Timestamp::default());
        frozen.map(|submission| submission.len())
    }

    #[test]
    fn a_partial_turn_is_refused_by_turn_sources() {
        let (yes, no) = (Decision::APPROVE, Decision::REJECT);
        let two = [yes.clone(), no.clone()];
        let mixed = [yes.clone(), no, yes.clone()];
        let key = |id: &str| ActionKey { source: SourceName::new("dendrux"), id: ActionId::new(id) };

        assert_eq!(turn(Together::Free, &two), Ok(2));
        assert_eq!(turn(Together::All, &two), Err(Refusal::PartOfTurn(key("0"), 1)));
        assert_eq!(turn(Together::All, &mixed), Ok(3));
        assert_eq!(turn(Together::Same, &mixed), Err(Refusal::MixedTurn(key("1"))));
        assert_eq!(turn(Together::Same, &[yes.clone(), yes.clone(), yes]), Ok(3));
    }

    #[test]
    fn decisions_keep_their_given_order() {
        let source = SourceName::new("wp");
        let (mut staged, mut loaded) = (Vec::new(), HashMap::new());
        // A category, two posts in it, a tag as old as the second post.
        for (id, batch, created) in [("z", "post", 3), ("tag", "term", 3), ("c", "term", 1), ("a", "post", 2)]
        {
            let key = ActionKey { source: source.clone(), id: ActionId::new(id) };
            let mut action = pending(i64::MAX, Capabilities::PLAIN);
            (action.row.batch, action.row.created_at) =
                (Some(BatchId::new(batch)), Timestamp::from_millis(created));
            let of = BatchKey::Batch(source.clone(), BatchId::new(batch));
            let at = Timestamp::default();
            staged.push((
                key.clone(),
                Staged { decision: Decision::APPROVE, batch: of, digest: None, terms: None, at },
            ));
            loaded.insert(key, action);
        }
        let sent = |given: &[(&ActionKey, &Staged)]| {
            let given = given.iter().copied();
            let frozen = freeze(SubmissionId::new("s"), given, &loaded, |_| 1, Timestamp::default()).unwrap();
            let items = |batch: &SubmissionBatch| {
                batch
                    .items
                    .iter()
                    .map(|item| format!("{} {}", item.nth, item.id.as_raw()))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            frozen.batches().iter().map(items).collect::<Vec<_>>()
        };
        let mut given: Vec<_> = staged.iter().map(|(key, staged)| (key, staged)).collect();

        assert_eq!(sent(&given), ["0 z, 3 a", "1 tag, 2 c"], "order of the file");
        in_sending_order(&mut given, &loaded);
        assert_eq!(sent(&given), ["0 c, 3 tag", "1 a, 2 z"], "oldest first");
    }

    #[test]
    fn capabilities_limit_approval_and_rejection() {
        let key = ActionKey { source: SourceName::new("dendrux"), id: ActionId::new("1") };
        let batch = BatchKey::Alone(key.clone());
        let can = Capabilities { edit: true, answer: true, reject: false, ..Capabilities::PLAIN };
        let loaded = HashMap::from([(key.clone(), pending(i64::MAX, can))]);
        let frozen = |decision: Decision| {
            let at = Timestamp::default();
            let staged = Staged { decision, batch: batch.clone(), digest: None, terms: None, at };
            let frozen = freeze(SubmissionId::new("s"), [(&key, &staged)], &loaded, |_| 1, at);
            frozen.map(|submission| submission.len())
        };
        let edits = Edits::new(RawJson::parse(r#"{"answer":"yes"}"#).unwrap()).unwrap();

        assert_eq!(frozen(Decision::APPROVE), Err(Refusal::AnswerRequired(key.clone())));
        assert_eq!(frozen(Decision::REJECT), Err(Refusal::RejectUnsupported(key.clone())));
        assert_eq!(frozen(Decision::Approve { edits: Some(edits), comment: None }), Ok(1));
    }

    #[test]
    fn the_current_batch_replaces_the_staged_one() {
        let source = SourceName::new("sagas");
        let (mut staged, mut loaded) = (Vec::new(), HashMap::new());
        for (id, was) in [("1", "w@1/pay"), ("2", "refund@3/pay")] {
            let key = ActionKey { source: source.clone(), id: ActionId::new(id) };
            let mut action = pending(i64::MAX, Capabilities::PLAIN);
            action.row.batch = Some(BatchId::new("refund@3/pay"));
            let batch = BatchKey::Batch(source.clone(), BatchId::new(was));
            let at = Timestamp::default();
            staged.push((
                key.clone(),
                Staged { decision: Decision::APPROVE, batch, digest: None, terms: None, at },
            ));
            loaded.insert(key, action);
        }
        let staged = staged.iter().map(|(key, staged)| (key, staged));
        let frozen = freeze(SubmissionId::new("s"), staged, &loaded, |_| 2, Timestamp::default());

        assert_eq!(frozen.unwrap().batches().len(), 1);
    }
}
