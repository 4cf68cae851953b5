//! Context of an action, and checks of a source.

use super::{RawJson, Timestamp, Untrusted};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextEntry {
    pub title: &'static str,
    pub facts: Vec<Fact>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub name: Untrusted,
    pub value: FactValue,
    pub at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactValue {
    Text(Untrusted),
    /// Shown as an identifier, with look-alikes and hidden characters marked.
    Id(Untrusted),
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

/// A step in checking a source, from its address to the right to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Subject of the check, in one or two words.
    pub what: &'static str,
    pub verdict: Verdict,
    pub found: String,
    /// Answer of the other side, if any.
    pub said: Option<Untrusted>,
    /// May be empty.
    pub advice: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Good,
    Warn,
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
