//! Capabilities: what a source allows for one action.

use std::borrow::Cow;

use super::{Decision, DecisionKind};

/// Allowed decisions. [`super::freeze`] enforces them, screen and command line show them. Per action, because sources
/// differ by kind of action: a saga's reason step can be edited, its commit step cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub edit: bool,
    /// It asks a question: an approval needs edits with the answer.
    pub answer: bool,
    pub reject: bool,
    pub reason: ReasonRule,
    /// Whether the source keeps a comment on an approval.
    pub comment: bool,
    /// Whether the source can ask the agent to try again with guidance.
    pub retry: bool,
    /// Whether a person may settle its unknown outcome.
    pub settle: bool,
    pub together: Together,
    /// Ungated calls of the same turn that are rejected with it.
    pub also_rejects: u16,
    /// Whether placet made its title from identifying fields, so that equal titles suggest duplicates.
    pub titled: bool,
    pub binding: Binding,
    /// Other things to know before deciding.
    pub notes: Notes,
}

/// Dependency between decisions on one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// Independent: undecided actions stay pending.
    Free,
    /// Decided in one request, each in its own way.
    All,
    /// One decision for all.
    Same,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    pub on: On,
    /// A sentence without capital and full stop.
    pub words: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Any,
    Approve,
    Edit,
    Reject,
    Retry,
}

impl On {
    pub const fn of(kind: DecisionKind) -> Self {
        match kind {
            DecisionKind::Approve => Self::Approve,
            DecisionKind::ApproveWithEdits => Self::Edit,
            DecisionKind::Reject => Self::Reject,
            DecisionKind::Retry => Self::Retry,
        }
    }
}

impl Note {
    /// For a backend that records any name it is given.
    pub const UNVERIFIED: Self =
        Self { on: On::Any, words: "identity not verified by this backend: it keeps the name it is told" };
    /// For a token without the scope `decide`.
    pub const NO_SCOPE: Self =
        Self { on: On::Any, words: "read-only: the token of this source has no `decide` scope" };
    /// For a backend that does not record people.
    pub const NOBODY: Self =
        Self { on: On::Any, words: "this backend records nobody: who decided is kept here only" };
}

/// A source's notes and a bit mask of those that apply, small enough for each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notes {
    list: &'static [Note],
    holds: u16,
}

impl Notes {
    pub const fn of(list: &'static [Note]) -> Self {
        Self { list, holds: u16::MAX }
    }

    /// Selects the notes whose element in `holds` is true.
    pub fn that_hold<const N: usize>(list: &'static [Note; N], holds: [bool; N]) -> Self {
        let bits = holds.iter().rev().fold(0, |bits, &holds| bits << 1 | u16::from(holds));
        Self { list, holds: bits }
    }

    pub fn iter(self) -> impl Iterator<Item = &'static Note> {
        self.list
            .iter()
            .enumerate()
            .filter(move |(place, _)| self.holds >> place & 1 == 1)
            .map(|(_, note)| note)
    }
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::READ_ONLY
    }
}

impl Capabilities {
    /// No decisions, as with a token without the scope `decide`.
    pub const READ_ONLY: Self = Self {
        edit: false,
        answer: false,
        reject: false,
        reason: ReasonRule::NotKept,
        comment: false,
        retry: false,
        settle: false,
        together: Together::Free,
        also_rejects: 0,
        titled: false,
        binding: Binding::ReadOnly,
        notes: Notes::of(&[]),
    };

    /// Plain approvals and rejections, without edits or texts.
    pub const PLAIN: Self = Self { reject: true, binding: Binding::FreshRead, ..Self::READ_ONLY };

    pub fn takes(&self, kind: DecisionKind) -> bool {
        match kind {
            DecisionKind::Approve => true,
            DecisionKind::ApproveWithEdits => self.edit,
            DecisionKind::Reject => self.reject,
            DecisionKind::Retry => self.retry,
        }
    }

    pub fn can_decide(&self) -> bool {
        self.binding != Binding::ReadOnly
    }

    /// Returns everything unusual about deciding the action, in display order, as sentences without capital and full
    /// stop.
    pub fn told(&self) -> Vec<(On, Cow<'static, str>)> {
        if !self.can_decide() {
            return self.notes.iter().map(|note| (note.on, Cow::Borrowed(note.words))).collect();
        }
        let mut told: Vec<(On, Cow<'static, str>)> = Vec::new();
        match self.together {
            Together::Free => {}
            Together::All => told.push((
                On::Any,
                "all of its turn goes together: every call must be decided, none can be left out".into(),
            )),
            Together::Same => told.push((
                On::Any,
                "one decision for its whole turn: no call can be left out or decided otherwise".into(),
            )),
        }
        if self.answer {
            told.push((
                On::Approve,
                "it asks for an answer: write it with the edit key, then approve".into(),
            ));
        }
        if !self.reject {
            told.push((On::Reject, "it cannot be rejected".into()));
        }
        match self.also_rejects {
            0 => {}
            1 => told.push((On::Reject, "reject also rejects 1 ungated call".into())),
            n => told.push((On::Reject, format!("reject also rejects {n} ungated calls").into())),
        }
        told.extend(self.notes.iter().map(|note| (note.on, Cow::Borrowed(note.words))));
        if self.reject && self.reason == ReasonRule::NotKept {
            told.push((On::Reject, "a reason is kept here only".into()));
        }
        if !self.edit && !self.notes.iter().any(|note| note.on == On::Edit) {
            told.push((On::Edit, "no edits".into()));
        }
        told
    }
}

impl Capabilities {
    /// Returns the warnings about this decision, shown again before it is sent.
    pub fn told_of(&self, decision: &Decision) -> Vec<Cow<'static, str>> {
        let on = On::of(decision.kind().without_edits());
        let kept = match decision.kind() {
            _ if decision.said().is_none() => true,
            kind if kind.approves() => self.comment,
            kind if kind.rejects() => self.reason != ReasonRule::NotKept,
            // Guidance is the whole decision, so it is always kept.
            _ => true,
        };
        let edits = decision.edits().is_some();
        let about =
            |note: &&'static Note| note.on == On::Any || note.on == on || (edits && note.on == On::Edit);
        let mut told: Vec<Cow<'static, str>> = Vec::new();
        match self.also_rejects {
            n if n == 0 || on != On::Reject => {}
            1 => told.push("1 ungated call is rejected with it".into()),
            n => told.push(format!("{n} ungated calls are rejected with it").into()),
        }
        told.extend(self.notes.iter().filter(about).map(|note| Cow::Borrowed(note.words)));
        if !kept {
            told.push("what you wrote beside it is kept here only".into());
        }
        told
    }

    /// Why the action does not allow this, as a sentence without capital and full stop.
    pub fn why_not(&self, on: On) -> &'static str {
        let noted = |on: On| self.notes.iter().find(|note| note.on == on).map(|note| note.words);
        if !self.can_decide() {
            return noted(On::Any)
                .or_else(|| self.notes.iter().next().map(|note| note.words))
                .unwrap_or("read-only: its source takes no decision on it from here");
        }
        noted(on).unwrap_or(match on {
            On::Any | On::Approve => "it cannot be decided",
            On::Edit => "its source cannot apply edits",
            On::Reject => "it cannot be rejected",
            On::Retry => "its source cannot ask the agent to try again",
        })
    }
}

/// Handling of a rejection's reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasonRule {
    /// Kept only in the journal of placet.
    NotKept,
    Optional,
    Required,
}

/// How strictly a decision is bound to the content on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// The source compares digests in the transaction that settles the action.
    Source,
    /// placet reads again just before sending. A change in the milliseconds between is missed.
    FreshRead,
    ReadOnly,
}

impl Binding {
    /// Continues the name of the source.
    pub const fn promise(self) -> &'static str {
        match self {
            Self::Source => "refuses any action that changed after you saw it",
            Self::FreshRead => {
                "compares nothing itself: placet reads each action again just before it sends, and misses a change in that instant"
            }
            Self::ReadOnly => "is read-only",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_about_a_decision_are_repeated_before_sending() {
        const NOTES: &[Note] = &[
            Note { on: On::Reject, words: "completed steps will be compensated" },
            Note { on: On::Edit, words: "the whole envelope is sent" },
        ];
        let can = Capabilities { notes: Notes::of(NOTES), also_rejects: 2, ..Capabilities::PLAIN };
        let because = Decision::Reject { reason: Some("no".to_owned()) };

        assert!(can.told_of(&Decision::APPROVE).is_empty());
        let told = ["2 ungated calls are rejected with it", "completed steps will be compensated"];
        assert_eq!(can.told_of(&Decision::REJECT), told);
        assert_eq!(can.told_of(&because)[2], "what you wrote beside it is kept here only");
        assert_eq!(can.why_not(On::Edit), "the whole envelope is sent");
        assert_eq!(can.why_not(On::Retry), "its source cannot ask the agent to try again");
    }

    #[test]
    fn unusual_properties_are_reported_once() {
        const EDITS: Note = Note { on: On::Edit, words: "no edits on commit steps" };
        let words = |can: Capabilities| can.told().into_iter().map(|(_, words)| words).collect::<Vec<_>>();

        let ordinary = Capabilities { edit: true, reason: ReasonRule::Optional, ..Capabilities::PLAIN };
        assert!(words(ordinary).is_empty());
        assert_eq!(words(Capabilities::PLAIN), ["a reason is kept here only", "no edits"]);
        assert_eq!(
            words(Capabilities {
                reason: ReasonRule::Optional,
                also_rejects: 1,
                notes: Notes::of(&[EDITS]),
                ..Capabilities::PLAIN
            }),
            ["reject also rejects 1 ungated call", EDITS.words]
        );
    }
}
