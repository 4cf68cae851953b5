//! What must survive a crash of the inbox: staged decisions, what was seen, what was sent and what became of it.

use std::collections::HashMap;

use crate::domain::{ActionKey, Digest, Draft, Seen, SeenLog, Step};

/// One thing to remember at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// A new staging step; `position` is the draft's position after it. Steps from there on are gone.
    Step {
        position: usize,
        step: Step,
    },
    /// Undo and redo: so many steps stand now.
    Position(usize),
    /// These actions are settled: decisions, steps, edit texts about them go.
    Settle(Vec<ActionKey>),
    Seen {
        key: ActionKey,
        digest: Digest,
        seen: Seen,
    },
    /// The text in an edit form; `None` when it is as proposed.
    EditText {
        key: ActionKey,
        text: Option<EditText>,
    },
}

/// What somebody typed into an edit form and did not stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditText {
    pub text: String,
    /// Of the input it was typed over.
    pub of: Digest,
}

/// What a journal knows when the inbox starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    pub draft: Draft,
    pub seen: SeenLog,
    pub edit_texts: HashMap<ActionKey, EditText>,
}
