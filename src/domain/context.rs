//! What a source knows around an action, and what it is like to work with.

use super::{RawJson, Timestamp, Untrusted};

/// One passage of the Context tab: what a system knows of a run, its earlier steps, its events, its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextEntry {
    /// Ours.
    pub title: &'static str,
    pub facts: Vec<Fact>,
}

/// One line of it, or more for a long value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub name: Untrusted,
    pub value: FactValue,
    pub at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactValue {
    Text(Untrusted),
    /// Shown as an identifier: look-alikes and hidden characters stand out.
    Id(Untrusted),
    /// Byte for byte.
    Json(RawJson),
}

impl Fact {
    pub fn text(name: impl Into<Untrusted>, value: Untrusted) -> Self {
        Self { name: name.into(), value: FactValue::Text(value), at: None }
    }

    pub fn id(name: impl Into<Untrusted>, value: Untrusted) -> Self {
        Self { name: name.into(), value: FactValue::Id(value), at: None }
    }

    pub fn json(name: impl Into<Untrusted>, value: RawJson) -> Self {
        Self { name: name.into(), value: FactValue::Json(value), at: None }
    }

    #[must_use]
    pub fn at(self, at: Option<Timestamp>) -> Self {
        Self { at, ..self }
    }
}

/// One step of looking a source over, from its address to the right to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was looked at, in a word or two.
    pub what: &'static str,
    pub verdict: Verdict,
    /// What was found, in our words.
    pub found: String,
    /// What the other side said, where it said something.
    pub said: Option<Untrusted>,
    /// What to do about it; empty when nothing is to be done.
    pub advice: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Good,
    /// It works, with something to know.
    Warn,
    /// It does not work.
    Bad,
}

impl Check {
    pub fn good(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, verdict: Verdict::Good, found: found.into(), said: None, advice: String::new() }
    }

    pub fn warn(what: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warn, advice: advice.into(), ..Self::good(what, found) }
    }

    pub fn bad(what: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { verdict: Verdict::Bad, advice: advice.into(), ..Self::good(what, found) }
    }

    #[must_use]
    pub fn said(self, said: Option<Untrusted>) -> Self {
        Self { said, ..self }
    }
}
