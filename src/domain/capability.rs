//! What a source lets a reviewer do with one action.

/// Read by three places: [`super::freeze`] refuses, the screen hides, the command line explains. One value an action,
/// because sources differ by kind of action (a saga's reason step can be edited, its commit step cannot).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Edits travel with an approval.
    pub edit: bool,
    /// Whether a rejection carries a reason.
    pub reason: ReasonRule,
    /// The source keeps a comment on an approval.
    pub comment: bool,
    /// The source can ask the agent to try again with guidance.
    pub retry: bool,
    /// Nobody knows what became of it, and a human may say.
    pub settle: bool,
    /// Actions of one batch are settled only all together.
    pub whole_batch: bool,
    /// Who checks that what lands is what was seen.
    pub binding: Binding,
}

impl Capabilities {
    /// Everything can be looked at, nothing decided. What a token without the `decide` scope gets.
    pub const READ_ONLY: Self = Self {
        edit: false,
        reason: ReasonRule::NotKept,
        comment: false,
        retry: false,
        settle: false,
        whole_batch: false,
        binding: Binding::ReadOnly,
    };

    pub fn can_decide(&self) -> bool {
        self.binding != Binding::ReadOnly
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
            Self::Source => "bound by the source: what is not what you saw is refused there",
            Self::FreshRead => {
                "checked here just before sending: it compares nothing itself, and a change in that instant goes unseen"
            }
            Self::ReadOnly => "read-only",
        }
    }
}
