//! Claims: "I'm on it", shown to other reviewers. They are never enforced: the first decision counts.

pub(crate) mod state;
pub(crate) mod update;
pub(crate) mod words;
