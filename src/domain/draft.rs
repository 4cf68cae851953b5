//! Holds staged decisions until they are sent. They are local, saved with each step, and can be undone.

use std::collections::HashSet;
use std::sync::Arc;

use super::{ActionKey, BatchKey, Decision, DecisionKind, Digest, KeyMap, Timestamp};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    pub decision: Decision,
    pub batch: BatchKey,
    /// Digest of the content on screen; `None` if the action was never opened.
    pub digest: Option<Digest>,
    /// The source's digest of everything else on screen; `None` if it has none.
    pub terms: Option<Digest>,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub key: ActionKey,
    pub before: Option<Arc<Staged>>,
    pub after: Option<Arc<Staged>>,
}

/// The changes of one key press, undone and redone together.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Step {
    /// Shared by draft, journal and screen, because there may be 100,000 changes.
    pub changes: Arc<Vec<Change>>,
}

/// All staged decisions, and the steps that led to them. The first `position` steps apply; the others can be redone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    staged: KeyMap<Arc<Staged>>,
    steps: Vec<Step>,
    position: usize,
}

#[derive(Clone, Debug, Default)]
pub struct OpenStep {
    changes: Vec<Change>,
    last: Option<Arc<Staged>>,
}

impl OpenStep {
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StagedCounts([usize; DecisionKind::ALL.len()]);

impl Draft {
    pub fn restore(steps: Vec<Step>, position: usize) -> Self {
        let mut draft = Self { staged: KeyMap::default(), position: position.min(steps.len()), steps };
        let done: Vec<Step> = draft.steps.iter().take(draft.position).cloned().collect();
        for change in done.iter().flat_map(|step| step.changes.iter()) {
            draft.set(&change.key, change.after.as_ref());
        }
        draft
    }

    pub fn get(&self, key: &ActionKey) -> Option<&Staged> {
        self.staged.get(key).map(|staged| &**staged)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&ActionKey, &Staged)> {
        self.staged.iter().map(|(key, staged)| (key, &**staged))
    }

    pub fn len(&self) -> usize {
        self.staged.len()
    }

    pub fn is_empty(&self) -> bool {
        self.staged.is_empty()
    }

    /// Number of applied steps, saved with the draft.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Stages (`Some`) or clears (`None`) decisions as one step, returned for saving. Steps to redo are dropped. `None`
    /// if nothing changes.
    pub fn stage(&mut self, wanted: impl IntoIterator<Item = (ActionKey, Option<Staged>)>) -> Option<Step> {
        let mut open = OpenStep::default();
        for (key, after) in wanted {
            self.put(&mut open, key, after);
        }
        self.end(open)
    }

    pub fn reserve(&mut self, more: usize) {
        self.staged.reserve(more);
    }

    /// Stages or clears one decision of a step that [`Self::end`] completes.
    pub fn put(&mut self, open: &mut OpenStep, key: ActionKey, after: Option<Staged>) {
        // Decisions on one batch share their value.
        let after = after.map(|after| match &open.last {
            Some(known) if **known == after => Arc::clone(known),
            _ => Arc::clone(open.last.insert(Arc::new(after))),
        });
        let before = match &after {
            Some(after) => self.staged.insert(key.clone(), Arc::clone(after)),
            None => self.staged.remove(&key),
        };
        let same = match (&before, &after) {
            (Some(before), Some(after)) => before.decision == after.decision,
            (None, None) => true,
            _ => false,
        };
        if same {
            // Keeps the earlier decision, which may be bound to other content.
            self.set(&key, before.as_ref());
        } else {
            open.changes.push(Change { key, before, after });
        }
    }

    /// Completes a step and returns it for saving. Steps to redo are dropped. `None` if it changed nothing.
    pub fn end(&mut self, open: OpenStep) -> Option<Step> {
        if open.changes.is_empty() {
            return None;
        }
        let step = Step { changes: Arc::new(open.changes) };
        self.steps.truncate(self.position);
        self.steps.push(step.clone());
        self.position += 1;
        Some(step)
    }

    pub fn last(&self) -> Option<&Step> {
        self.steps.get(self.position.checked_sub(1)?)
    }

    pub fn next(&self) -> Option<&Step> {
        self.steps.get(self.position)
    }

    pub fn undo(&mut self) -> Option<Step> {
        let step = self.last()?.clone();
        self.put_before(&step.changes);
        self.step_back();
        Some(step)
    }

    pub fn redo(&mut self) -> Option<Step> {
        let step = self.next()?.clone();
        self.put_after(&step.changes);
        self.step_on();
        Some(step)
    }

    /// Undoes a part of the last step. After all parts, call [`Self::step_back`].
    pub fn put_before(&mut self, changes: &[Change]) {
        for change in changes.iter().rev() {
            self.set(&change.key, change.before.as_ref());
        }
    }

    /// Redoes a part of the next step. After all parts, call [`Self::step_on`].
    pub fn put_after(&mut self, changes: &[Change]) {
        for change in changes {
            self.set(&change.key, change.after.as_ref());
        }
    }

    pub const fn step_back(&mut self) {
        self.position = self.position.saturating_sub(1);
    }

    pub fn step_on(&mut self) {
        self.position = (self.position + 1).min(self.steps.len());
    }

    /// Removes settled actions from decisions and steps, so that undo cannot restore them. Returns their decisions.
    pub fn settle(&mut self, keys: &[ActionKey]) -> Vec<(ActionKey, Arc<Staged>)> {
        let gone: HashSet<&ActionKey> = keys.iter().collect();
        for step in &mut self.steps {
            if step.changes.iter().any(|change| gone.contains(&change.key)) {
                Arc::make_mut(&mut step.changes).retain(|change| !gone.contains(&change.key));
            }
        }
        let standing = self.steps.iter().take(self.position).filter(|step| !step.changes.is_empty()).count();
        self.steps.retain(|step| !step.changes.is_empty());
        self.position = standing;
        keys.iter().filter_map(|key| Some((key.clone(), self.staged.remove(key)?))).collect()
    }

    pub fn counts(&self) -> StagedCounts {
        StagedCounts::of(self.staged.values().map(|staged| staged.decision.kind()))
    }

    fn set(&mut self, key: &ActionKey, staged: Option<&Arc<Staged>>) {
        match staged {
            Some(staged) => drop(self.staged.insert(key.clone(), Arc::clone(staged))),
            None => drop(self.staged.remove(key)),
        }
    }
}

impl StagedCounts {
    pub fn of(kinds: impl IntoIterator<Item = DecisionKind>) -> Self {
        let mut counts = Self::default();
        kinds.into_iter().for_each(|kind| counts.add(kind));
        counts
    }

    pub fn add(&mut self, kind: DecisionKind) {
        self.0.iter_mut().zip(DecisionKind::ALL).filter(|(_, of)| *of == kind).for_each(|(n, _)| *n += 1);
    }

    pub fn remove(&mut self, kind: DecisionKind) {
        let counts = self.0.iter_mut().zip(DecisionKind::ALL).filter(|(_, of)| *of == kind);
        counts.for_each(|(n, _)| *n = n.saturating_sub(1));
    }

    pub fn each(self) -> impl Iterator<Item = (DecisionKind, usize)> {
        DecisionKind::ALL.into_iter().zip(self.0)
    }

    pub fn get(self, kind: DecisionKind) -> usize {
        self.each().filter(|(of, _)| *of == kind).map(|(_, n)| n).sum()
    }

    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ActionId, SourceName};

    fn key(id: &str) -> ActionKey {
        ActionKey { source: SourceName::new("s"), id: ActionId::new(id) }
    }

    fn staged(id: &str, decision: Decision) -> Staged {
        let batch = BatchKey::Alone(key(id));
        Staged { decision, batch, digest: None, terms: None, at: Timestamp::default() }
    }

    fn draft() -> Draft {
        let mut draft = Draft::default();
        draft.stage([
            (key("1"), Some(staged("1", Decision::APPROVE))),
            (key("2"), Some(staged("2", Decision::APPROVE))),
        ]);
        draft.stage([(key("2"), Some(staged("2", Decision::REJECT)))]);
        draft
    }

    #[test]
    fn steps_are_undone_and_redone_as_wholes() {
        let mut draft = draft();
        let before = draft.clone();

        draft.undo();
        assert_eq!(draft.counts(), StagedCounts::of([DecisionKind::Approve; 2]));
        draft.undo();
        assert!(draft.is_empty());
        assert_eq!(draft.undo(), None);
        draft.redo();
        draft.redo();

        assert_eq!(draft, before);
    }

    #[test]
    fn a_new_step_drops_steps_to_redo() {
        let mut draft = draft();
        draft.undo();

        draft.stage([(key("1"), None)]);

        assert_eq!(draft.redo(), None);
        assert_eq!(draft.counts().total(), 1);
    }

    #[test]
    fn staging_the_same_decision_is_not_a_step() {
        let mut draft = draft();

        assert_eq!(draft.stage([(key("2"), Some(staged("2", Decision::REJECT)))]), None);
        assert_eq!(draft.position(), 2);
    }

    #[test]
    fn a_restored_draft_is_the_same_draft() {
        let mut draft = draft();
        draft.undo();

        assert_eq!(Draft::restore(draft.steps.clone(), draft.position), draft);
    }

    #[test]
    fn undo_cannot_bring_back_a_settled_action() {
        let mut draft = draft();

        let gone = draft.settle(&[key("2")]);

        assert_eq!(gone[0].1.decision, Decision::REJECT);
        assert_eq!((draft.len(), draft.position()), (1, 1));
        draft.undo();
        assert!(draft.is_empty());
    }
}
