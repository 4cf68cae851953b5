//! What a source lets a reviewer do with one action.

use std::borrow::Cow;

use super::{Decision, DecisionKind};

/// Read by three places: [`super::freeze`] refuses, the screen hides and tells, the command line explains. One value an action,
/// because sources differ by kind of action (a saga's reason step can be edited, its commit step cannot).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Edits travel with an approval.
    pub edit: bool,
    /// It asks for an answer: without edits that fill it in there is nothing to approve.
    pub answer: bool,
    /// It can be rejected.
    pub reject: bool,
    /// Whether a rejection carries a reason.
    pub reason: ReasonRule,
    /// The source keeps a comment on an approval.
    pub comment: bool,
    /// The source can ask the agent to try again with guidance.
    pub retry: bool,
    /// Nobody knows what became of it, and a human may say.
    pub settle: bool,
    /// How actions of one batch depend on each other.
    pub together: Together,
    /// Calls beside it that need no approval, and are rejected with it.
    pub also_rejects: u16,
    /// placet made its title of what tells the input from others: two equal titles are worth a warning.
    pub titled: bool,
    /// Who checks that what lands is what was seen.
    pub binding: Binding,
    /// What else to know before deciding it.
    pub notes: Notes,
}

/// How actions of one batch depend on each other when they are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// Not at all: what is left out stays pending.
    Free,
    /// All of them are decided in one request, each in its own way.
    All,
    /// One decision stands for all of them.
    Same,
}

/// Something about deciding an action that its reviewer should know before a key is pressed, in our own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    pub on: On,
    /// A sentence without a capital and without its full stop.
    pub words: &'static str,
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The action, however it is decided.
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
    /// For a backend that writes down whatever name it is told.
    pub const UNVERIFIED: Self =
        Self { on: On::Any, words: "identity not verified by this backend: it keeps the name it is told" };
    /// For a token that may look and no more.
    pub const NO_SCOPE: Self =
        Self { on: On::Any, words: "read-only: the token of this source has no `decide` scope" };
    /// For a backend that knows nobody.
    pub const NOBODY: Self =
        Self { on: On::Any, words: "this backend records nobody: who decided is kept here only" };
}

/// A source's list of notes, and which of them hold for an action. As small as a row can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notes {
    list: &'static [Note],
    /// One bit for each.
    holds: u16,
}

impl Notes {
    /// All of them.
    pub const fn of(list: &'static [Note]) -> Self {
        Self { list, holds: u16::MAX }
    }

    /// Those whose place is true.
    pub fn that_hold<const N: usize>(list: &'static [Note; N], holds: [bool; N]) -> Self {
        let bits = holds.iter().rev().fold(0, |bits, &holds| bits << 1 | u16::from(holds));
        Self { list, holds: bits }
    }

    /// What holds, in the list's order.
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
    /// Everything can be looked at, nothing decided. What a token without the `decide` scope gets.
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

    /// Each is approved or rejected by itself; nothing travels along.
    pub const PLAIN: Self = Self { reject: true, binding: Binding::FreshRead, ..Self::READ_ONLY };

    /// Whether its source takes decisions of this kind on it.
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

    /// Everything that is out of the ordinary about deciding it, in the order in which it should be told. Each is a sentence
    /// without a capital and without its full stop.
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
    /// What of that goes with this very decision, told once more before it is sent.
    pub fn told_of(&self, decision: &Decision) -> Vec<Cow<'static, str>> {
        let on = On::of(decision.kind().without_edits());
        let kept = match decision.kind() {
            _ if decision.said().is_none() => true,
            kind if kind.approves() => self.comment,
            kind if kind.rejects() => self.reason != ReasonRule::NotKept,
            // What is said is all of it.
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

    /// Why it cannot be done with this action, in a sentence without a capital and without its full stop.
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

/// What a source does with the reason for a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasonRule {
    /// It has no place for one: the reason stays in our journal.
    NotKept,
    Optional,
    Required,
}

/// How strongly a decision is tied to the content that was on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// The source compares the digest in the transaction that settles the action.
    Source,
    /// We read again just before sending; a window of milliseconds stays.
    FreshRead,
    /// Nothing can be decided with this token.
    ReadOnly,
}

impl Binding {
    /// How strong that is, in words that go on after the name of a source.
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
    fn before_sending_is_told_what_goes_with_that_decision() {
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
    fn what_is_out_of_the_ordinary_is_told_once() {
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
